// SPDX-License-Identifier: Apache-2.0
//
// From a received burst to transmit buffers. The common case, an untagged unicast frame from one
// access port to another, runs through three short loops (classify, compare sources, send); all
// that is rarer leaves them by one branch into a function of its own.
#include <rte_mbuf.h>

#include "dp/l2/egress.h"
#include "dp/l2/retag.h"
#include "dp/worker.h"

namespace coua::dp {
namespace {

const std::uint8_t* bytes_of(const rte_mbuf* frame) noexcept {
  return rte_pktmbuf_mtod(frame, const std::uint8_t*);
}

}  // namespace

bool worker::classify_untagged(burst& b) noexcept {
  const plan_port& port = plan_->ports[b.port];
  const std::uint64_t domain = std::uint64_t{port.native_domain} << domain_shift;
  std::uint64_t bytes = 0;
  std::uint64_t odd = 0;  // not zero: some frame is tagged, for or from a group, or too short
  const unsigned n = b.n;
  for (unsigned i = 0; i < n; ++i) {
    const rte_mbuf* frame = b.mbufs[i];
    const std::uint8_t* header = bytes_of(frame);
    const std::uint64_t high = load_be64(header);
    const std::uint64_t low = load_be64(header + 6);
    b.keys[i] = domain | high >> 16;
    b.keys[n + i] = domain | low >> 16;
    odd |= ((high | low) >> 16) & group_bit;
    odd |= (low & 0xFFFF) == vlan_ethertype;
    odd |= frame->data_len < ethernet_header_bytes;
    bytes += frame->pkt_len;
  }
  if (odd != 0) [[unlikely]]
    return false;
  b.uniform = true;
  b.domain[0] = port.native_domain;
  b.bytes = bytes;
  const counters::row of_vlan = vlan_counters_.of(port.native_domain);
  of_vlan.add(vlan_counter::rx_packets, n);
  of_vlan.add(vlan_counter::rx_bytes, bytes);
  return true;
}

void worker::classify_any(burst& b) noexcept {
  std::array<std::uint64_t, max_burst> sources;
  std::uint64_t bytes = 0;
  unsigned kept = 0;
  for (unsigned i = 0; i < b.n; ++i) {
    rte_mbuf* frame = b.mbufs[i];
    bytes += frame->pkt_len;
    if (plan_->ports[b.port].strips_tags && !restore_tag(frame)) {
      count_drop(b.port, frame, port_counter::drop_no_headroom);
      rte_pktmbuf_free(frame);
      continue;
    }
    const ingress in = classify(*plan_, b.port, bytes_of(frame), frame->data_len);
    if (in.verdict != port_counter::forwarded) {
      count_drop(b.port, frame, in.verdict);
      rte_pktmbuf_free(frame);
      continue;
    }
    const counters::row of_vlan = vlan_counters_.of(in.domain);
    of_vlan.add(vlan_counter::rx_packets);
    of_vlan.add(vlan_counter::rx_bytes, frame->pkt_len);
    b.mbufs[kept] = frame;
    b.keys[kept] = in.destination;
    sources[kept] = in.source;
    b.domain[kept] = in.domain;
    b.tag[kept] = in.tag;
    ++kept;
  }
  b.bytes = bytes;
  b.n = kept;
  b.uniform = false;
  for (unsigned i = 0; i < kept; ++i) b.keys[kept + i] = sources[i];
}

void worker::forward(burst& b, const burst* next) noexcept {
  if (next != nullptr)
    coua_fib_lookup_ahead(reader_, b.keys.data(), 2 * b.n, b.entries.data(), next->keys.data(),
                          2 * next->n);
  else
    coua_fib_lookup_batch(reader_, b.keys.data(), 2 * b.n, b.entries.data());
  if (plan_->ports[b.port].learning) learn(b);
  b.uniform ? send_all<true>(b) : send_all<false>(b);
}

/// `Uniform`: the domain's port set is the same for all frames and no frame has a tag.
template <bool Uniform>
void worker::send_all(burst& b) noexcept {
  const port_set others = plan_->up & ~bridge_of(b.port).executor->no_fwd() & ~port_bit(b.port);
  port_set allowed = Uniform ? plan_->domains[b.domain[0]].untagged & others : 0;
  unsigned sent = 0;
  for (unsigned i = 0; i < b.n; ++i) {
    rte_mbuf* frame = b.mbufs[i];
    if constexpr (!Uniform) {
      // Ports where this frame can leave as it is.
      const plan_domain& domain = plan_->domains[b.domain[i]];
      allowed = b.tag[i] == tag_state::tagged ? domain.tagged
                : b.tag[i] == tag_state::none ? domain.untagged
                                              : port_set{0};
      allowed &= others;
    }
    const std::uint32_t out = b.entries[i] >> COUA_FIB_ENTRY_VALUE_SHIFT;  // a miss is above 63
    if (out < max_ports && (allowed >> out & 1) != 0) [[likely]] {
      if constexpr (!Uniform) vlan_counters_.of(b.domain[i]).add(vlan_counter::forwarded);
      enqueue(out, frame, frame->pkt_len);
      ++sent;
    } else {
      send_other(b, i);
    }
  }
  if (sent == 0) return;
  port_counters_.of(b.port).add(port_counter::forwarded, sent);
  if constexpr (Uniform) vlan_counters_.of(b.domain[0]).add(vlan_counter::forwarded, sent);
}
template void worker::send_all<true>(burst&) noexcept;
template void worker::send_all<false>(burst&) noexcept;

/// A frame that floods, is dropped, or needs its tag changed.
[[gnu::noinline, gnu::cold]] void worker::send_other(burst& b, unsigned i) noexcept {
  const port_set no_fwd = bridge_of(b.port).executor->no_fwd();
  const egress to = decide_egress(*plan_, no_fwd, b.port, b.domain_of(i), b.entries[i]);
  if (to.verdict == port_counter::flooded) {
    const auto bytes = [&] { return b.mbufs[i]->pkt_len; };
    const port_counter::id fate = pass_storm(*plan_, b.port, b.destination(i), bytes, now_);
    return fate == port_counter::flooded ? flood(b, i, to.ports) : drop(b, i, fate);
  }
  if (to.verdict != port_counter::forwarded) return drop(b, i, to.verdict);
  const bool tagged = (plan_->domains[b.domain_of(i)].tagged & to.ports) != 0;
  send_retagged(b, i, static_cast<unsigned>(std::countr_zero(to.ports)), tagged);
}

void worker::send_retagged(burst& b, unsigned i, unsigned out, bool tagged) noexcept {
  rte_mbuf* frame = make_sole(b.mbufs[i]);
  if (frame == nullptr) return drop(b, i, port_counter::drop_no_headroom);
  b.mbufs[i] = frame;
  if (!retag(frame, b.tag_of(i), tagged, plan_->vlan_of[b.domain_of(i)]))
    return drop(b, i, port_counter::drop_no_headroom);
  port_counters_.of(b.port).add(port_counter::forwarded);
  vlan_counters_.of(b.domain_of(i)).add(vlan_counter::forwarded);
  enqueue(out, frame, frame->pkt_len);
}

void worker::drop(burst& b, unsigned i, port_counter::id why) noexcept {
  count_drop(b.port, b.mbufs[i], why);
  rte_pktmbuf_free(b.mbufs[i]);
}

}  // namespace coua::dp
