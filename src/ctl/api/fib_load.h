// SPDX-License-Identifier: Apache-2.0
//
// One load of entries from one client. Each batch is checked as a whole, then stored by one of the
// threads that may wait; the next is read only after that, so a fast client waits and no memory
// piles up. A port is resolved once, by number and serial: when it is removed while the load runs,
// the batch that names it next fails, also where another port has its number by then.
#pragma once

#include <string>
#include <vector>

#include "coua/v1/fib.pb.h"
#include "ctl/api/convert.h"
#include "ctl/api/core.h"

namespace coua::ctl {

class fib_load final : public grpc::ServerReadReactor<v1::FibBatch> {
 public:
  fib_load(api_core& core, grpc::CallbackServerContext* context, v1::LoadFibResponse* response);

  void OnReadDone(bool ok) override;
  void OnDone() override { delete this; }

 private:
  result<void> store();
  result<void> take_names();
  result<void> decode();
  result<void> check_vlans() const;
  error name_gone_port(error refusal) const;

  api_core& core_;
  grpc::CallbackServerContext* const context_;
  v1::LoadFibResponse* const response_;
  v1::FibBatch batch_;
  std::uint64_t batches_ = 0, stored_ = 0;
  // By the ports' index in the stream.
  std::vector<port_id> ports_;
  std::vector<std::string> names_;
  std::vector<dp::fib_entry> entries_;
};

}  // namespace coua::ctl
