// SPDX-License-Identifier: Apache-2.0
//
// One dump of the FIB to one client. Its thread walks the table and fills a batch while the batch
// before is on its way; when the client does not keep up, the thread waits, but not for ever.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "coua/v1/fib.pb.h"
#include "ctl/api/convert.h"
#include "ctl/api/core.h"
#include "ctl/api/stream_slots.h"

namespace coua::ctl {

class fib_dump final : public grpc::ServerWriteReactor<v1::FibBatch> {
 public:
  /// Answers the call, on a thread of its own where a slot is free. gRPC owns the reactor.
  static grpc::ServerWriteReactor<v1::FibBatch>* start(api_core& core, stream_slots& slots,
                                                       grpc::CallbackServerContext* context,
                                                       const v1::ShowFibRequest& request);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  fib_dump(api_core& core, grpc::CallbackServerContext* context, const v1::ShowFibRequest& request)
      : core_(core), context_(context), request_(request) {}

  void run();
  result<void> walk();
  bool add(std::span<const dp::fib_entry> entries);
  std::uint32_t index_of(port_id port);
  bool send();
  bool wait_until_sent();

  api_core& core_;
  grpc::CallbackServerContext* const context_;
  const v1::ShowFibRequest request_;
  std::uint64_t sent_ = 0;  // entries in batches so far
  // By port number: the port that last had it, and the index of its name.
  std::vector<std::pair<port_id, std::uint32_t>> index_by_port_;
  std::uint32_t names_ = 0;
  std::vector<dp::port_status> ports_;
  v1::FibBatch filling_, flying_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool writing_ = false;
  bool broken_ = false;   // the client is gone
  bool stalled_ = false;  // it did not read for too long
};

}  // namespace coua::ctl
