// SPDX-License-Identifier: Apache-2.0
//
// Says how regularly a port's queue is polled: it hooks into the driver's receive call, so the
// worker runs as ever, and sees what a packet in that queue would see.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

struct rte_eth_rxtx_callback;

namespace coua::bench {

class poll_watch {
 public:
  /// `device`: the name of a port that runs, whose queue the thread `worker` polls. It must be
  /// closed before this goes. Errors: io.
  static result<std::unique_ptr<poll_watch>> create(const std::string& device, pid_t worker);
  ~poll_watch();
  poll_watch(const poll_watch&) = delete;
  poll_watch& operator=(const poll_watch&) = delete;

  /// The longest time without a poll, in seconds. `own`: without the time that the worker stood in
  /// the queue for its CPU while others were on it; what a hypervisor takes is not known, and is in
  /// it.
  struct gaps {
    double longest = 0, own = 0;
  };
  /// From here on. Waits for a poll, so that a gap that has begun before does not count.
  void begin();
  /// Since then. Waits for a poll, too, so that one that goes on counts.
  gaps end();

 private:
  poll_watch() = default;
  void wait_for_poll();
  static void note(void* watch, std::uint64_t now) noexcept;

  struct alignas(64) watched {
    std::atomic<std::uint64_t> longest{0};
    std::atomic<std::uint64_t> last{0};  // stored by the worker
    std::atomic<std::uint64_t> longest_own{0};
    std::uint64_t waited = 0;  // of the worker alone: for its CPU, when it last looked
    unsigned polls = 0;
  };
  std::uint64_t waited() const noexcept;

  int waits_ = -1;  // the system's account of the worker
  watched watched_;
};

}  // namespace coua::bench
