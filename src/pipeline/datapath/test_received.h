// SPDX-License-Identifier: Apache-2.0
//
// The oracle's packets for the datapath.
#pragma once

#include <algorithm>
#include <memory>

#include "pipeline/datapath/packet_state.h"
#include "pipeline/oracle/packet.h"

namespace coua::pipeline::test {

/// The packet in a buffer of exactly its size: what reads beyond it is caught by sanitizers.
struct received {
  explicit received(const packet& from)
      : memory(new std::uint8_t[std::max<std::size_t>(from.bytes.size(), 1)]) {
    std::copy(from.bytes.begin(), from.bytes.end(), memory.get());
    const auto length = static_cast<std::uint32_t>(from.bytes.size());
    state.buffer = {memory.get(), length, length, 0};
    state.in_port = from.in_port;
    state.in_phy_port = from.in_phy_port != 0 ? from.in_phy_port : from.in_port;
    state.metadata = from.metadata;
    state.tunnel_id = from.tunnel_id;
    std::copy(from.reg.begin(), from.reg.end(), state.reg);
    state.layers = net::parse(state.buffer, net::parse_depth::transport);
  }

  std::unique_ptr<std::uint8_t[]> memory;
  packet_state state;
};

}  // namespace coua::pipeline::test
