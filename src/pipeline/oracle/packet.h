// SPDX-License-Identifier: Apache-2.0
//
// A packet on its way through the oracle: its bytes, and what the pipeline keeps of it besides.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipeline/model/field.h"
#include "pipeline/model/port.h"

namespace coua::pipeline {

struct packet {
  std::vector<std::uint8_t> bytes;  // from the Ethernet header, without the check sequence
  port_no in_port = 0;
  port_no in_phy_port = 0;  // 0: the same
  std::uint64_t metadata = 0;
  std::uint64_t tunnel_id = 0;
  std::array<std::uint32_t, n_registers> reg{};
  std::uint32_t queue = 0;  // of the ports that it is sent to

  bool operator==(const packet&) const = default;
};

}  // namespace coua::pipeline
