// SPDX-License-Identifier: Apache-2.0
//
// A frame as DPDK holds it, and as the pipeline does. The pipeline moves the beginning of a frame
// (tags, labels), so its view is the valid one while it has the frame.
#pragma once

#include <rte_mbuf.h>

#include "pipeline/datapath/delivery.h"

namespace coua::dp {

inline pipeline::owned_packet to_packet(rte_mbuf* frame) noexcept {
  return {{rte_pktmbuf_mtod(frame, std::uint8_t*), frame->data_len, frame->pkt_len,
           rte_pktmbuf_headroom(frame)},
          frame};
}

inline rte_mbuf* to_mbuf(const pipeline::owned_packet& one) noexcept {
  rte_mbuf* frame = static_cast<rte_mbuf*>(one.owner);
  frame->data_off =
      static_cast<std::uint16_t>(one.buffer.bytes - static_cast<std::uint8_t*>(frame->buf_addr));
  frame->data_len = static_cast<std::uint16_t>(one.buffer.contiguous);
  frame->pkt_len = one.buffer.length;
  return frame;
}

/// Makes copies in packets of the same pool.
class mbuf_copier final : public pipeline::packet_copier {
 public:
  bool copy(const pipeline::owned_packet& from, pipeline::owned_packet& to) noexcept override {
    rte_mbuf* frame = to_mbuf(from);
    rte_mbuf* made = rte_pktmbuf_copy(frame, frame->pool, 0, UINT32_MAX);
    if (made == nullptr) return false;
    to = to_packet(made);
    return true;
  }
  void give_back(const pipeline::owned_packet& copy) noexcept override {
    rte_pktmbuf_free(to_mbuf(copy));
  }
};

}  // namespace coua::dp
