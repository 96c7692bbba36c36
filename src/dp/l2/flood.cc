// SPDX-License-Identifier: Apache-2.0
//
// Flooding: to every other port of the domain that is up (egress.h). Copies share the bytes: a
// reference is counted per port. Only where the domain has ports of both kinds (tagged and
// untagged) one real copy is made, for the kind that needs another tag than the frame came with.
//
//   ports that want the frame as it is   ---> the frame, one reference each
//   ports that want the other form       ---> one copy, retagged, one reference each
#include <rte_mbuf.h>

#include "dp/l2/retag.h"
#include "dp/worker.h"

namespace coua::dp {
[[gnu::noinline]] void worker::flood(burst& b, unsigned i, port_set targets) noexcept {
  rte_mbuf* frame = b.mbufs[i];
  const tag_state tag = b.tag_of(i);
  const plan_domain& domain = plan_->domains[b.domain_of(i)];
  const std::uint16_t vlan = plan_->vlan_of[b.domain_of(i)];

  const counters::row count = port_counters_.of(b.port);
  count.add(port_counter::flooded);
  vlan_counters_.of(b.domain_of(i)).add(vlan_counter::flooded);
  const bool is_tagged = tag == tag_state::tagged;
  port_set as_is = targets & (is_tagged ? domain.tagged : domain.untagged);
  if (tag == tag_state::priority) as_is = 0;
  const port_set changed = targets & ~as_is;

  const auto send = [&](rte_mbuf* m, port_set ports) {
    const int n = std::popcount(ports);
    // The frame's own reference serves the first port.
    if (n > 1) rte_pktmbuf_refcnt_update(m, static_cast<std::int16_t>(n - 1));
    count.add(port_counter::flood_copies, static_cast<unsigned>(n));
    for_each_port(ports, [&](unsigned out) { enqueue(out, m, m->pkt_len); });
  };
  for (const bool tagged : {false, true}) {
    const port_set ports = changed & (tagged ? domain.tagged : domain.untagged);
    if (ports == 0) continue;
    // Retagging writes into the bytes: into a copy, unless nobody else gets this frame.
    const bool sole = ports == targets && !is_shared(frame);
    rte_mbuf* m = sole ? frame : rte_pktmbuf_copy(frame, frame->pool, 0, UINT32_MAX);
    if (m != nullptr && retag(m, tag, tagged, vlan)) {
      send(m, ports);
      if (m == frame) return;
      continue;
    }
    count.add(port_counter::drop_no_mbuf, static_cast<unsigned>(std::popcount(ports)));
    if (plan_->drops_tapped) [[unlikely]]
      tap_drop(b.port, frame, port_counter::drop_no_mbuf);
    if (m != frame) rte_pktmbuf_free(m);
  }
  if (as_is != 0)
    send(frame, as_is);
  else
    rte_pktmbuf_free(frame);
}

}  // namespace coua::dp
