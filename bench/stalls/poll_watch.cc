// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/poll_watch.h"

#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"

namespace coua::bench {

result<std::unique_ptr<poll_watch>> poll_watch::create(const std::string& device) {
  std::uint16_t port = 0;
  if (rte_eth_dev_get_port_by_name(device.c_str(), &port) != 0)
    return fail(errc::io, device, "DPDK knows no such device");
  std::unique_ptr<poll_watch> made(new poll_watch);
  const rte_rx_callback_fn on_poll = [](std::uint16_t, std::uint16_t, rte_mbuf**,
                                        std::uint16_t packets, std::uint16_t, void* user) {
    auto& seen = *static_cast<watched*>(user);
    const std::uint64_t now = cycles(), last = seen.last.load(std::memory_order_relaxed);
    if (last != 0 && now - last > seen.longest.load(std::memory_order_relaxed))
      seen.longest.store(now - last, std::memory_order_relaxed);
    seen.last.store(now, std::memory_order_release);
    return packets;
  };
  if (rte_eth_add_rx_callback(port, 0, on_poll, &made->watched_) == nullptr)
    return fail(errc::io, device, std::string("no hook: ") + rte_strerror(rte_errno));
  return made;
}

void poll_watch::begin() {
  const std::uint64_t before = watched_.last.load(std::memory_order_acquire);
  while (watched_.last.load(std::memory_order_acquire) == before)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  watched_.longest.store(0, std::memory_order_relaxed);
}

double poll_watch::longest() const {
  const std::uint64_t last = watched_.last.load(std::memory_order_acquire);
  const std::uint64_t ended = watched_.longest.load(std::memory_order_relaxed);
  const std::uint64_t now = cycles();
  return static_cast<double>(std::max(ended, now > last ? now - last : 0)) / cycles_hz();
}

}  // namespace coua::bench
