// SPDX-License-Identifier: Apache-2.0
//
// What a worker shows to captures. None of it runs where no capture is on: then each burst that is
// received, each burst that is sent and each frame that is dropped cost one branch on a word beside
// those that are read anyway (plan.h).
#include <rte_mbuf.h>

#include <chrono>
#include <cstring>

#include "dp/capture/tap.h"
#include "dp/l2/retag.h"
#include "dp/worker.h"

namespace coua::dp {
namespace {

std::uint64_t wall_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

/// A frame in one piece, with the tag that a driver took out of it: where it is, or in a copy.
class whole_frame {
 public:
  explicit whole_frame(const rte_mbuf* frame) noexcept {
    const bool stripped =
        (frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 && frame->data_len >= addresses_bytes;
    const unsigned tag = stripped ? vlan_tag_bytes : 0;
    view_.length = frame->pkt_len + tag;
    if (!stripped && frame->nb_segs == 1) {
      view_.bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
      view_.stored = frame->data_len;
      return;
    }
    const std::uint32_t n = std::min<std::uint32_t>(frame->pkt_len, room - vlan_tag_bytes);
    const std::uint32_t head = stripped ? addresses_bytes : 0;
    read(frame, 0, head, copy_);
    if (stripped) {
      const std::uint8_t bytes[vlan_tag_bytes] = {vlan_ethertype >> 8, vlan_ethertype & 0xFF,
                                                  static_cast<std::uint8_t>(frame->vlan_tci >> 8),
                                                  static_cast<std::uint8_t>(frame->vlan_tci)};
      std::memcpy(copy_ + head, bytes, sizeof bytes);
    }
    read(frame, head, n - head, copy_ + head + tag);
    view_.bytes = copy_;
    view_.stored = n + tag;
  }
  const frame_view& view() const noexcept { return view_; }

 private:
  static constexpr std::uint32_t room = 16'384;  // more than the longest frame of a port
  static constexpr std::uint32_t addresses_bytes = 12;
  static void read(const rte_mbuf* frame, std::uint32_t from, std::uint32_t n,
                   std::uint8_t* to) noexcept {
    if (n == 0) return;
    const void* bytes = rte_pktmbuf_read(frame, from, n, to);
    if (bytes != to && bytes != nullptr) std::memcpy(to, bytes, n);
  }
  frame_view view_;
  std::uint8_t copy_[room];
};

capture_event event_of(const plan& view, unsigned port, capture_direction direction,
                       const rte_mbuf* frame, std::uint64_t time_ns) noexcept {
  return {time_ns, view.taps->interfaces[port], tagged_vlan(frame, view.ports[port].native_vlan),
          direction};
}

}  // namespace

[[gnu::noinline, gnu::cold]] void worker::tap_received(const burst& b) noexcept {
  if (plan_->mirror) mirror_received(b);
  if (!plan_->taps) return;
  const std::uint64_t now = wall_ns();
  for (unsigned i = 0; i < b.n; ++i) {
    const whole_frame frame(b.mbufs[i]);
    const capture_event event = event_of(*plan_, b.port, capture_direction::in, b.mbufs[i], now);
    for (const placed_tap& each : plan_->taps->all)
      if (each.has(b.port) && each.what->wants(capture_direction::in))
        each.what->offer(params_.number, event, frame.view(), not_dropped);
  }
}

[[gnu::noinline, gnu::cold]] void worker::tap_drop(unsigned port, const rte_mbuf* mbuf,
                                                   port_counter::id why) noexcept {
  const whole_frame frame(mbuf);
  const capture_event event = event_of(*plan_, port, capture_direction::in, mbuf, wall_ns());
  for (const placed_tap& each : plan_->taps->all)
    if (each.has(port) && each.what->wants(capture_direction::in))
      each.what->offer(params_.number, event, frame.view(), why);
}

/// Sends like flush(), and shows what the driver took, and what it did not.
[[gnu::noinline, gnu::cold]] unsigned worker::transmit_tapped(unsigned port, const tx_queue& queue,
                                                              rte_mbuf** mbufs, unsigned n,
                                                              std::uint64_t& bytes) noexcept {
  std::array<tap::staged, captures_max * max_burst> staged;
  const std::uint64_t now = wall_ns();
  const auto stages = [&](const placed_tap& each) {
    return each.has(port) && each.what->wants(capture_direction::out) && !each.what->is_complete();
  };
  std::array<bool, captures_max> asked{};
  static const std::vector<placed_tap> none;
  const auto& taps = plan_->taps ? plan_->taps->all : none;
  const port_set mirrors = plan_->mirror ? plan_->mirror->sent[port] : port_set{0};
  std::array<rte_mbuf*, max_burst> mirrored;
  if (mirrors != 0) stage_mirrored(mirrors, mbufs, n, mirrored.data());
  for (std::size_t t = 0; t < taps.size(); ++t) asked[t] = stages(taps[t]);
  for (unsigned i = 0; i < n && !taps.empty(); ++i) {
    const whole_frame frame(mbufs[i]);
    const capture_event event = event_of(*plan_, port, capture_direction::out, mbufs[i], now);
    for (std::size_t t = 0; t < taps.size(); ++t)
      if (asked[t])
        staged[t * max_burst + i] = taps[t].what->stage(params_.number, event, frame.view());
  }
  fates fate;
  fate.fill(not_dropped);
  unsigned sent = transmit(queue, mbufs, static_cast<std::uint16_t>(n));
  if (sent < n) sent += send_rest(port, queue, mbufs + sent, n - sent, bytes, fate.data() + sent);
  for (std::size_t t = 0; t < taps.size(); ++t) {
    if (!asked[t]) continue;
    bool any = false;
    for (unsigned i = 0; i < n; ++i)
      any |= taps[t].what->settle(params_.number, staged[t * max_burst + i], fate[i]);
    // A capture of drops wants none of what was sent: its buffer stays free for what is not.
    if (any)
      taps[t].what->publish(params_.number);
    else
      taps[t].what->forget(params_.number);
  }
  for (unsigned i = 0; i < n && mirrors != 0; ++i) {
    if (mirrored[i] == nullptr) continue;
    if (fate[i] == not_dropped)
      send_mirrored(mirrors, mirrored[i]);
    else
      rte_pktmbuf_free(mirrored[i]);
  }
  return sent;
}

}  // namespace coua::dp
