// SPDX-License-Identifier: Apache-2.0
//
// One dump of the FIB to one client: walks the table and fills batches.
#pragma once

#include <utility>
#include <vector>

#include "coua/v1/fib.pb.h"
#include "ctl/api/batch_stream.h"
#include "ctl/api/convert.h"

namespace coua::ctl {

class fib_dump {
 public:
  using stream = batch_stream<v1::FibBatch>;

  /// Answers the call; see batch_stream.h.
  static stream* start(api_core& core, stream_slots& slots, grpc::CallbackServerContext* context,
                       const v1::ShowFibRequest& request);

 private:
  fib_dump(api_core& core, const v1::ShowFibRequest& request, stream& out)
      : core_(core), request_(request), out_(out) {}

  result<void> walk();
  bool add(std::span<const dp::fib_entry> entries);
  std::uint32_t index_of(port_id port);

  api_core& core_;
  const v1::ShowFibRequest& request_;
  stream& out_;
  std::uint64_t sent_ = 0;  // entries in batches so far
  // By port number: the port that last had it, and the index of its name.
  std::vector<std::pair<port_id, std::uint32_t>> index_by_port_;
  std::uint32_t names_ = 0;
  std::vector<dp::port_status> ports_;
};

}  // namespace coua::ctl
