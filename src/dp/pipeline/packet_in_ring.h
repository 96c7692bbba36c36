// SPDX-License-Identifier: Apache-2.0
//
// Packets on their way from a worker to the thread that owns the pipeline: the packet itself, which
// that thread gives back to its pool, and what the rule said. A full ring refuses, and the worker
// counts it.
#pragma once

#include "base/spsc_ring.h"
#include "dp/pipeline/packet_in.h"
#include "pipeline/datapath/delivery.h"

struct rte_mbuf;

namespace coua::dp {

struct punted_packet {
  rte_mbuf* frame = nullptr;
  pipeline::packet_in_reason reason = pipeline::packet_in_reason::action;
  pipeline::table_id table = 0;
  pipeline::port_no in_port = 0;
  std::uint64_t cookie = 0, metadata = 0, tunnel_id = 0;
  std::array<std::uint32_t, pipeline::n_registers> reg{};
};
punted_packet punt(const pipeline::delivery& one, rte_mbuf* frame) noexcept;
packet_in to_packet_in(const punted_packet& from);

using packet_in_ring = spsc_ring<punted_packet>;

/// A burst of a worker, and some milliseconds of the greatest rate that can be set.
inline constexpr std::size_t packet_in_ring_size = 1024;

/// Takes all out of the ring, and hands them to the sink if there is one. Returns how many. The
/// consumer's thread.
std::size_t drain_packets(packet_in_ring& from, const packet_in_sink& sink);

}  // namespace coua::dp
