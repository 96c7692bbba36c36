// SPDX-License-Identifier: Apache-2.0
//
// A packet that a rule sent to the controller, as it leaves the datapath.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/model/field.h"
#include "pipeline/model/packet_in_reason.h"
#include "pipeline/model/port.h"
#include "pipeline/model/rule.h"

namespace coua::dp {

struct packet_in {
  pipeline::packet_in_reason reason = pipeline::packet_in_reason::action;
  pipeline::table_id table = 0;
  pipeline::port_no in_port = 0;
  std::uint64_t cookie = 0, metadata = 0, tunnel_id = 0;
  std::array<std::uint32_t, pipeline::n_registers> reg{};
  std::vector<std::uint8_t> bytes;  // the whole frame
};

/// Called in the thread that owns the pipeline, for one packet after the other. It must not wait.
using packet_in_sink = std::function<void(const packet_in&)>;

}  // namespace coua::dp
