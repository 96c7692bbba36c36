// SPDX-License-Identifier: Apache-2.0
#include "dp/pipeline/packet_out.h"

#include <rte_mbuf.h>

#include <cstring>

#include "dp/l2/classify.h"
#include "dp/pipeline/mbuf_packet.h"
#include "dp/pipeline/packet_in_ring.h"

namespace coua::dp {
namespace {

namespace of = pipeline;

// All that the ring holds, and as much again on its way through ports' queues.
constexpr unsigned n_buffers = 2 * packet_out_ring_size - 1;

void count_one(std::atomic<std::uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

packet_out_sender::packet_out_sender(packet_pool pool, packet_out_ring& to)
    : pool_(std::move(pool)), to_(to), copier_(std::make_unique<mbuf_copier>()) {}

result<std::unique_ptr<packet_out_sender>> packet_out_sender::create(of::published_plan& follows,
                                                                     unsigned worker,
                                                                     of::worker_counts& counts,
                                                                     packet_out_ring& to) {
  auto pool =
      packet_pool::create("packet-out", n_buffers, RTE_PKTMBUF_HEADROOM + packet_out_bytes_max, -1);
  if (!pool) return tl::unexpected(std::move(pool.error()));
  std::unique_ptr<packet_out_sender> made(new packet_out_sender(std::move(*pool), to));
  auto executor = of::executor::create(follows, worker, counts, *made->copier_);
  if (!executor) return tl::unexpected(std::move(executor.error()));
  made->executor_ = std::move(*executor);
  made->executor_->go_offline();
  return made;
}

of::of_result<void> packet_out_sender::send(const packet_out& one, const of::op_list& actions,
                                            of::time_ns now, const packet_in_sink& sink) {
  learned_ = {};
  if (one.bytes.size() < ethernet_header_bytes || one.bytes.size() > packet_out_bytes_max) {
    return of::refuse(of::of_error::bad_request_bad_len, "packet-out",
                      "a frame has " + std::to_string(ethernet_header_bytes) + " to " +
                          std::to_string(packet_out_bytes_max) + " bytes, not " +
                          std::to_string(one.bytes.size()));
  }
  rte_mbuf* frame = rte_pktmbuf_alloc(pool_.get());
  if (frame == nullptr) {
    count_one(n_no_mbuf_);
    return {};
  }
  const auto size = static_cast<std::uint16_t>(one.bytes.size());
  std::memcpy(rte_pktmbuf_append(frame, size), one.bytes.data(), size);
  executor_->go_online();
  executor_->run_actions({to_packet(frame), one.in_port}, actions, now);
  learned_ = executor_->learned();
  executor_->each_delivery([&](const of::delivery& each, const of::owned_packet& what) {
    rte_mbuf* copy = to_mbuf(what);
    if (each.to == of::delivery::kind::controller) {
      if (sink) sink(to_packet_in(punt(each, copy)));
      return rte_pktmbuf_free(copy);
    }
    const of::port_no to = each.to == of::delivery::kind::normal ? of::port_normal : each.port;
    if (to_.push({copy, each.in_port, to})) return;
    count_one(n_full_);
    rte_pktmbuf_free(copy);
  });
  for (const of::owned_packet& each : executor_->left_over()) rte_pktmbuf_free(to_mbuf(each));
  executor_->go_offline();
  return {};
}

std::vector<counter> packet_out_sender::drops() const {
  return {{"packet_out_full", n_full_.load(std::memory_order_relaxed)},
          {"packet_out_no_mbuf", n_no_mbuf_.load(std::memory_order_relaxed)}};
}

void drop_packets(packet_out_ring& from) {
  for (sent_packet each; from.pop(each);) rte_pktmbuf_free(each.frame);
}

}  // namespace coua::dp
