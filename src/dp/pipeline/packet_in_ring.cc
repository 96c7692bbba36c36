// SPDX-License-Identifier: Apache-2.0
#include "dp/pipeline/packet_in_ring.h"

#include <rte_mbuf.h>

#include <array>

namespace coua::dp {

punted_packet punt(const pipeline::delivery& one, rte_mbuf* frame) noexcept {
  return {frame,      one.reason,   one.table,     one.in_port,
          one.cookie, one.metadata, one.tunnel_id, one.reg};
}

packet_in to_packet_in(const punted_packet& from) {
  packet_in made;
  made.reason = from.reason;
  made.table = from.table;
  made.in_port = from.in_port;
  made.cookie = from.cookie;
  made.metadata = from.metadata;
  made.tunnel_id = from.tunnel_id;
  made.reg = from.reg;
  made.bytes.resize(from.frame->pkt_len);
  // Into the buffer only where the bytes are not in one piece.
  const auto size = static_cast<std::uint32_t>(made.bytes.size());
  const void* bytes = rte_pktmbuf_read(from.frame, 0, size, made.bytes.data());
  if (bytes != made.bytes.data() && size != 0) std::memcpy(made.bytes.data(), bytes, size);
  return made;
}

std::size_t drain_packets(packet_in_ring& from, const packet_in_sink& sink) {
  std::array<punted_packet, 64> part;
  std::size_t sum = 0;
  // As many as there can be now: a worker that goes on filling it does not keep this thread here.
  while (sum < from.capacity()) {
    const std::size_t n = from.pop(part);
    for (std::size_t i = 0; i < n; ++i) {
      if (sink) sink(to_packet_in(part[i]));
      rte_pktmbuf_free(part[i].frame);
    }
    sum += n;
    if (n < part.size()) break;
  }
  return sum;
}

}  // namespace coua::dp
