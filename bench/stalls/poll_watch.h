// SPDX-License-Identifier: Apache-2.0
//
// Says how regularly a port's queue is polled: it hooks into the driver's receive call, so the
// worker runs as ever, and sees what a packet in that queue would see.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

struct rte_eth_rxtx_callback;

namespace coua::bench {

class poll_watch {
 public:
  /// `device`: the name of a port that runs. It must be closed before this goes. Errors: io.
  static result<std::unique_ptr<poll_watch>> create(const std::string& device);

  /// From here on. Waits for a poll, so that a gap that has begun before does not count.
  void begin();
  /// The longest time without a poll since then, in seconds; also one that has not ended.
  double longest() const;

 private:
  poll_watch() = default;

  struct alignas(64) watched {
    std::atomic<std::uint64_t> longest{0};
    std::atomic<std::uint64_t> last{0};  // stored by the worker
  };
  watched watched_;
};

}  // namespace coua::bench
