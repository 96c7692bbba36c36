// SPDX-License-Identifier: Apache-2.0
//
// A burst through the OpenFlow pipeline, and what comes of it to ports, to the L2 switch (NORMAL)
// and to the controller. A bridge whose only rule is NORMAL does not come here: round() takes such
// packets the short way.
#include <rte_mbuf.h>

#include "dp/l2/retag.h"
#include "dp/pipeline/mbuf_packet.h"
#include "dp/pipeline/pipeline_owner.h"
#include "dp/worker.h"

namespace coua::dp {
namespace {

namespace of = pipeline;

/// A packet of a run.
rte_mbuf* frame_of(const of::owned_packet& one, bool is_resized) noexcept {
  return is_resized ? to_mbuf(one) : static_cast<rte_mbuf*>(one.owner);
}

}  // namespace

void worker::run_pipeline(worker_bridge& bridge, burst& b) noexcept {
  of::executor& executor = *bridge.executor;
  static_assert(max_burst <= of::executor::burst_max);
  const plan_port& from = plan_->ports[b.port];
  const of::port_no in_port = bridge_port(b.port, from.local);
  const unsigned n_received = b.n;
  std::uint64_t bytes = 0;
  bool some_shared = false;
  for (unsigned i = 0; i < n_received; ++i) {
    rte_mbuf* const frame = b.mbufs[i];
    bytes += frame->pkt_len;
    some_shared |= is_shared(frame);
    executor.put(i, {to_packet(frame), in_port});
  }
  unsigned n = n_received;
  // Seldom, so they were put as they came.
  if (from.strips_tags || some_shared) [[unlikely]]
    n = put_frames(executor, b, in_port);
  executor.run(n, of::executor::when_asked);
  if (const auto learned = executor.learned(); !learned.empty()) [[unlikely]]
    bridge.learned.tell(learned, now_);
  deliver_all(bridge, b.port, n);
  count_received(b.port, n_received, bytes);
}

/// Puts those of a burst anew, each as rules may change it. Returns how many there are: others were
/// dropped.
unsigned worker::put_frames(of::executor& executor, const burst& b, of::port_no in_port) noexcept {
  const bool strips = plan_->ports[b.port].strips_tags;
  unsigned n = 0;
  for (unsigned i = 0; i < b.n; ++i) {
    rte_mbuf* frame = b.mbufs[i];
    if (strips || is_shared(frame)) {
      frame = take_frame(frame, b.port);
      if (frame == nullptr) continue;
    }
    executor.put(n++, {to_packet(frame), in_port});
  }
  return n;
}

/// The frame as it was on the wire, to which nobody else refers. Null: there is no room; it was
/// dropped.
rte_mbuf* worker::take_frame(rte_mbuf* frame, unsigned port) noexcept {
  const bool strips = plan_->ports[port].strips_tags;
  rte_mbuf* sole = make_sole(frame);
  if (sole != nullptr && (!strips || restore_tag(sole))) [[likely]]
    return sole;
  count_drop(port, sole != nullptr ? sole : frame, port_counter::drop_no_headroom);
  rte_pktmbuf_free(sole != nullptr ? sole : frame);
  return nullptr;
}

/// The short way of deliver_all, for a burst that leaves as a whole. False: it does not, and
/// nothing was done.
bool worker::deliver_to_one(const worker_bridge& bridge, unsigned port, unsigned n) noexcept {
  const of::executor& ran = *bridge.executor;
  const unsigned out = switch_port(ran.only_port());
  if ((up_in(bridge) & port_bit(out)) == 0) return false;
  tx_buffer& buffer = tx_[out];
  if (buffer.n + n > params_.burst) return false;
  note_filling(out);
  rte_mbuf** next = buffer.mbufs.data() + buffer.n;
  std::uint64_t bytes = 0;
  const bool is_resized = ran.is_some_resized();
  ran.each_packet([&](const of::owned_packet& what) {
    *next++ = frame_of(what, is_resized);
    bytes += what.buffer.length;
  });
  buffer.bytes += bytes;
  buffer.n += n;
  if (buffer.n == params_.burst) flush(out);
  port_counters_.of(port).add(port_counter::forwarded, n);
  return true;
}

/// Of a run with `n` frames that came in by `port`.
void worker::deliver_all(worker_bridge& bridge, unsigned port, unsigned n) noexcept {
  if (deliver_to_one(bridge, port, n)) return;
  const of::executor& ran = *bridge.executor;
  unsigned n_delivered = 0, n_forwarded = 0;
  normal_.n = 0;
  normal_.port = port;
  const port_set up = up_in(bridge);
  const bool is_resized = ran.is_some_resized();
  const auto send = [&](of::port_no to, const of::owned_packet& what) {
    ++n_delivered;
    rte_mbuf* frame = frame_of(what, is_resized);
    const unsigned out = switch_port(to);  // no port, where it is LOCAL: send_to_port() asks
    if ((up & port_bit(out)) == 0) [[unlikely]]
      return send_to_port(bridge, port, to, frame);
    ++n_forwarded;
    enqueue(out, frame, what.buffer.length);
  };
  ran.each_delivery(send, [&](const of::delivery& one, const of::owned_packet& what) {
    if (one.to == of::delivery::kind::port) return send(one.port, what);
    ++n_delivered;
    rte_mbuf* frame = to_mbuf(what);
    if (one.to == of::delivery::kind::controller) return punt(bridge, port, one, frame);
    normal_.mbufs[normal_.n++] = frame;
    if (normal_.n == max_burst) forward_normal();
  });
  if (normal_.n != 0) forward_normal();
  if (plan_->drops_tapped) [[unlikely]] {
    ran.each_dropped([&](const of::owned_packet& one) {
      tap_drop(port, to_mbuf(one), port_counter::drop_pipeline);
    });
  }
  for (const of::owned_packet& each : ran.left_over()) rte_pktmbuf_free(to_mbuf(each));
  const unsigned n_dropped = ran.n_dropped();
  const counters::row count = port_counters_.of(port);
  if (n_forwarded != 0) count.add(port_counter::forwarded, n_forwarded);
  if (n_dropped != 0) count.add(port_counter::drop_pipeline, n_dropped);
  const unsigned n_copies = n_delivered - (n - n_dropped);
  if (n_copies != 0) count.add(port_counter::pipeline_copies, n_copies);
}

void worker::send_to_port(const worker_bridge& bridge, unsigned from, of::port_no to,
                          rte_mbuf* frame) noexcept {
  const unsigned out = port_of(bridge, to);
  if ((up_in(bridge) & port_bit(out)) != 0) [[likely]] {
    port_counters_.of(from).add(port_counter::forwarded);
    return enqueue(out, frame, frame->pkt_len);
  }
  count_drop(from, frame, port_counter::drop_port_down);
  rte_pktmbuf_free(frame);
}

/// What the controller sends comes in by the port that it names, or by the one that stands for it.
void worker::send_packet_outs(worker_bridge& bridge) noexcept {
  const port_set ports = plan_->bridges[bridge.number].ports;
  sent_packet each;
  for (unsigned n = 0; n < params_.burst && bridge.packet_outs->pop(each); ++n) {
    const unsigned in_port = port_of(bridge, each.in_port);
    const bool is_port = in_port < max_ports || each.in_port == of::port_local;
    const bool is_here = (ports & port_bit(in_port)) != 0;
    const unsigned from = is_here ? in_port : controller_port(bridge.number);
    port_counters_.of(from).add(port_counter::from_controller);
    if (each.to != of::port_normal) {
      send_to_port(bridge, from, each.to, each.frame);
      continue;
    }
    if (is_port && !is_here) {  // it has gone meanwhile, and with it the VLAN of the packet
      count_drop(from, each.frame, port_counter::drop_ingress_vlan);
      rte_pktmbuf_free(each.frame);
      continue;
    }
    normal_.n = 1;
    normal_.port = from;
    normal_.mbufs[0] = each.frame;
    forward_normal();
  }
}

/// By the FIB, with all of its rules: VLANs, learning, flooding.
void worker::forward_normal() noexcept {
  classify_any(normal_);
  if (normal_.n != 0) forward(normal_, nullptr);
  normal_.n = 0;
}

[[gnu::noinline]] void worker::punt(worker_bridge& bridge, unsigned from, const of::delivery& one,
                                    rte_mbuf* frame) noexcept {
  const counters::row count = port_counters_.of(from);
  if (!bridge.packet_in_limit.take(now_)) {
    count_drop(from, frame, port_counter::drop_packet_in_rate);
  } else if (!bridge.packet_ins.push(dp::punt(one, frame))) {
    count_drop(from, frame, port_counter::drop_packet_in_full);
  } else {
    return count.add(port_counter::to_controller);
  }
  rte_pktmbuf_free(frame);
}

}  // namespace coua::dp
