// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/poll_watch.h"

#include <rte_errno.h>
#include <rte_ethdev.h>

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
    const std::uint64_t now = cycles();
    if (seen.last != 0 && now - seen.last > seen.longest.load(std::memory_order_relaxed))
      seen.longest.store(now - seen.last, std::memory_order_relaxed);
    seen.last = now;
    return packets;
  };
  if (rte_eth_add_rx_callback(port, 0, on_poll, &made->watched_) == nullptr)
    return fail(errc::io, device, std::string("no hook: ") + rte_strerror(rte_errno));
  return made;
}

/// A gap that is stored in between is lost or comes with the next call: one of thousands.
double poll_watch::take_longest() {
  return static_cast<double>(watched_.longest.exchange(0, std::memory_order_relaxed)) / cycles_hz();
}

}  // namespace coua::bench
