// SPDX-License-Identifier: Apache-2.0
//
// Flooding: to every other port of the domain that is up (egress.h). Copies share the bytes: a
// reference is counted per port. Only where the domain has ports of both kinds (tagged and
// untagged) one real copy is made, for the kind that needs another tag than the frame came with;
// or where others have the frame's bytes, which must not be written to.
//
//   ports that want the frame as it is   ---> the frame, one reference each
//   ports that want the other form       ---> one copy, retagged, one reference each
//   all ports want the other form        ---> the frame, retagged, one reference each
#include <rte_mbuf.h>

#include "dp/l2/retag.h"
#include "dp/worker.h"

namespace coua::dp {
[[gnu::noinline]] void worker::flood(burst& b, unsigned i, port_set targets) noexcept {
  rte_mbuf* frame = b.mbufs[i];
  const tag_state tag = b.tag_of(i);
  const plan_domain& domain = plan_->domains[b.domain_of(i)];
  const std::uint16_t vlan = plan_->vlan_of[b.domain_of(i)];

  const bool is_tagged = tag == tag_state::tagged;
  port_set as_is = targets & (is_tagged ? domain.tagged : domain.untagged);
  if (tag == tag_state::priority) as_is = 0;
  const port_set to_tag = targets & ~as_is & domain.tagged;
  const port_set to_strip = targets & ~as_is & domain.untagged;
  const bool is_changed = (to_tag == targets || to_strip == targets) && !is_shared(frame);
  if (is_changed && !retag(frame, tag, to_tag != 0, vlan))
    return drop(b, i, port_counter::drop_no_headroom);

  const counters::row count = port_counters_.of(b.port);
  count.add(port_counter::flooded);
  vlan_counters_.of(b.domain_of(i)).add(vlan_counter::flooded);
  const auto send = [&](rte_mbuf* m, port_set ports) {
    const int n = std::popcount(ports);
    // The frame's own reference serves the first port.
    if (n > 1) rte_pktmbuf_refcnt_update(m, static_cast<std::int16_t>(n - 1));
    count.add(port_counter::flood_copies, static_cast<unsigned>(n));
    for_each_port(ports, [&](unsigned out) { enqueue(out, m, m->pkt_len); });
  };
  if (is_changed) return send(frame, targets);
  for (const bool tagged : {false, true}) {
    const port_set ports = tagged ? to_tag : to_strip;
    if (ports == 0) continue;
    rte_mbuf* copy = rte_pktmbuf_copy(frame, frame->pool, 0, UINT32_MAX);
    if (copy != nullptr) {
      (void)retag(copy, tag, tagged, vlan);  // a copy has headroom of its own
      send(copy, ports);
      continue;
    }
    count.add(port_counter::drop_no_mbuf, static_cast<unsigned>(std::popcount(ports)));
    if (plan_->drops_tapped) [[unlikely]]
      tap_drop(b.port, frame, port_counter::drop_no_mbuf);
  }
  if (as_is != 0)
    send(frame, as_is);
  else
    rte_pktmbuf_free(frame);
}

}  // namespace coua::dp
