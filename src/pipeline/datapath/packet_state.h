// SPDX-License-Identifier: Apache-2.0
//
// A packet on its way through the datapath: its buffer, what the parser found, and what the
// pipeline keeps of it besides. (The oracle has a packet of its own, oracle/packet.h.)
#pragma once

#include <cstdint>

#include "net/layers.h"
#include "net/packet.h"
#include "pipeline/model/field.h"
#include "pipeline/model/port.h"

namespace coua::pipeline {

struct packet_state {
  net::packet buffer;
  net::layers layers;
  port_no in_port = 0;        // right behind the Ethernet type and the tag: one word has all three
  port_no in_phy_port = 0;    // as in_port where it is not another one
  std::uint32_t queue = 0;    // of the ports that it is sent to
  std::uint32_t conj_id = 0;  // 0 but in executor_conjunction.cc
  std::uint64_t metadata = 0;
  std::uint64_t tunnel_id = 0;
  std::uint32_t reg[n_registers] = {};
};

}  // namespace coua::pipeline
