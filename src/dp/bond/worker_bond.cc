// SPDX-License-Identifier: Apache-2.0
//
// Bonds, as workers see them. Frames of all members come in as those of one port; what the port
// sends is parted by flows (spread.h), and each part goes like that of a port of its own. Workers
// come here by the byte of a queue that captures have (plan.h), so ports that are no bonds pay
// nothing.
//
// Who collects and who sends stands in the plan, which never changes: a burst goes by the members
// of one moment, and when a plan has gone out nobody uses a member that is not in it.
#include <rte_mbuf.h>

#include <cstring>

#include "dp/worker.h"

namespace coua::dp {
namespace {

bool is_slow(const rte_mbuf* frame) noexcept {
  if (frame->data_len < ethernet_header_bytes + 1) return false;
  const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
  return load_be64(bytes) >> 16 == slow_address && (bytes[12] << 8 | bytes[13]) == slow_ethertype;
}

}  // namespace

[[gnu::noinline]] void worker::take_detours(const rx_queue& queue, burst& b) noexcept {
  if ((queue.detours & detour_tap) != 0) tap_received(b);
  if ((queue.detours & detour_bond) != 0) receive_by_member(queue, b);
}

/// Takes the frames of LACP out, and drops what a member brings that is not in use: the other end
/// may send all floods by all links.
void worker::receive_by_member(const rx_queue& queue, burst& b) noexcept {
  const plan_bond& bond = *plan_->bonds[queue.port];
  const bool collects = (bond.collecting & member_bit(queue.member)) != 0;
  if (collects && !bond.lacp) [[likely]]
    return;
  std::uint64_t bytes = 0;
  unsigned kept = 0;
  for (unsigned i = 0; i < b.n; ++i) {
    rte_mbuf* frame = b.mbufs[i];
    const bool slow = bond.lacp && is_slow(frame);
    if (collects && !slow) {
      b.mbufs[kept++] = frame;
      continue;
    }
    bytes += frame->pkt_len;
    const port_counter::id fate = slow ? take_slow(queue, frame) : port_counter::drop_bond_standby;
    if (fate == port_counter::to_lacp)
      port_counters_.of(b.port).add(fate);
    else
      count_drop(b.port, frame, fate);
    rte_pktmbuf_free(frame);
  }
  if (kept < b.n) count_received(b.port, b.n - kept, bytes);
  b.n = kept;
}

/// For the thread `tables`.
port_counter::id worker::take_slow(const rx_queue& queue, const rte_mbuf* frame) noexcept {
  slow_in taken;
  taken.device = queue.device;
  taken.n = static_cast<std::uint8_t>(std::min<std::size_t>(frame->data_len, taken.bytes.size()));
  std::memcpy(taken.bytes.data(), rte_pktmbuf_mtod(frame, const void*), taken.n);
  return slow_ins_.push(taken) ? port_counter::to_lacp : port_counter::drop_lacp_full;
}

/// What the thread `tables` has for the other ends. A member may be gone since.
[[gnu::noinline, gnu::cold]] void worker::send_slow() noexcept {
  for (slow_out one; slow_outs_.pop(one);) {
    const plan_bond* bond = plan_->bonds[one.port].get();
    const tx_queue* queue = bond != nullptr ? &bond->tx[params_.number][one.member] : nullptr;
    const bool is_there = queue != nullptr && queue->device == one.device;
    if (is_there && transmit(*queue, &one.frame, 1) == 1) continue;
    rte_pktmbuf_free(one.frame);
    port_counters_.of(one.port).add(port_counter::drop_lacp_tx);
  }
}

[[gnu::noinline]] unsigned worker::send_detoured(unsigned port, const tx_queue& queue,
                                                 rte_mbuf** mbufs, unsigned n,
                                                 std::uint64_t& bytes) noexcept {
  const bool tapped = (queue.detours & detour_tap) != 0;
  if ((queue.detours & detour_bond) != 0)
    return send_by_members(port, *plan_->bonds[port], tapped, mbufs, n, bytes);
  return transmit_tapped(port, queue, mbufs, n, bytes);
}

/// Frames of one flow stay in their order.
unsigned worker::send_by_members(unsigned port, const plan_bond& bond, bool tapped,
                                 rte_mbuf** mbufs, unsigned n, std::uint64_t& bytes) noexcept {
  std::array<std::array<rte_mbuf*, max_burst>, bond_members_max> parts;
  std::array<unsigned, bond_members_max> sizes{};
  for (unsigned i = 0; i < n; ++i) {
    const unsigned bucket = bucket_of(rte_pktmbuf_mtod(mbufs[i], const std::uint8_t*),
                                      mbufs[i]->data_len, bond.hash, bond.seed);
    const unsigned member = bond.buckets[bucket];
    parts[member][sizes[member]++] = mbufs[i];
  }
  unsigned sent = 0;
  for (unsigned member = 0; member < bond_members_max; ++member) {
    const unsigned size = sizes[member];
    if (size == 0) continue;
    const tx_queue& queue = bond.tx[params_.number][member];
    rte_mbuf** part = parts[member].data();
    if (tapped) {
      sent += transmit_tapped(port, queue, part, size, bytes);
      continue;
    }
    const unsigned taken = transmit(queue, part, static_cast<std::uint16_t>(size));
    sent += taken;
    if (taken < size) sent += send_rest(port, queue, part + taken, size - taken, bytes);
  }
  return sent;
}

}  // namespace coua::dp
