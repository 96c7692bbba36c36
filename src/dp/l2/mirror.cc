// SPDX-License-Identifier: Apache-2.0
//
// Mirroring: copies of what ports receive and send, for mirror ports. Where nothing is mirrored
// none of this runs: workers come here by the byte of a queue that captures have (plan.h).
//
// What is received is copied before anything else looks at it, so what is dropped afterwards is
// seen, too. What is sent is copied before the driver has it, and the copy goes on when the driver
// has taken the frame. A copy has bytes of its own: the frame may be retagged where it is.
#include <rte_mbuf.h>

#include "dp/l2/retag.h"
#include "dp/worker.h"

namespace coua::dp {
namespace {

rte_mbuf* copy_of(const rte_mbuf* frame) noexcept {
  return rte_pktmbuf_copy(frame, frame->pool, 0, UINT32_MAX);
}

}  // namespace

[[gnu::noinline, gnu::cold]] void worker::mirror_received(const burst& b) noexcept {
  const plan_mirror& mirror = *plan_->mirror;
  const port_set here = plan_->bridges[plan_->ports[b.port].bridge].ports;
  for (unsigned i = 0; i < b.n; ++i) {
    const std::uint16_t vlan = tagged_vlan(b.mbufs[i], plan_->ports[b.port].native_vlan);
    const port_set to = mirror.received[b.port] | (mirror.vlans[vlan] & here);
    if (to == 0) continue;
    rte_mbuf* copy = nullptr;
    stage_mirrored(to, &b.mbufs[i], 1, &copy);
    if (copy != nullptr) send_mirrored(to, copy);
  }
}

/// Copies of `n` frames, or null and counted where there is no packet for one.
void worker::stage_mirrored(port_set to, rte_mbuf* const* mbufs, unsigned n,
                            rte_mbuf** copies) noexcept {
  for (unsigned i = 0; i < n; ++i) {
    copies[i] = copy_of(mbufs[i]);
    if (copies[i] != nullptr && !restore_tag(copies[i])) {
      rte_pktmbuf_free(copies[i]);
      copies[i] = nullptr;
    }
    if (copies[i] == nullptr)
      for_each_port(
          to, [&](unsigned out) { port_counters_.of(out).add(port_counter::drop_mirror_no_mbuf); });
  }
}

/// Mirror ports are no sources, so what is flushed by this is not mirrored again.
void worker::send_mirrored(port_set to, rte_mbuf* copy) noexcept {
  const int n = std::popcount(to);
  if (n > 1) rte_pktmbuf_refcnt_update(copy, static_cast<std::int16_t>(n - 1));
  for_each_port(to, [&](unsigned out) {
    port_counters_.of(out).add(port_counter::mirrored);
    enqueue(out, copy, copy->pkt_len);
  });
}

}  // namespace coua::dp
