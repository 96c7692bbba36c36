// SPDX-License-Identifier: Apache-2.0
//
// What became of a packet: where copies of it went, what was counted, and why.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/model/bridge.h"
#include "pipeline/model/packet_in_reason.h"

namespace coua::pipeline {

/// A copy that leaves by a port of the switch.
struct sent {
  port_no port = 0;
  std::uint32_t queue = 0;
  std::vector<std::uint8_t> bytes;

  bool operator==(const sent&) const = default;
};

/// A copy for the controller, all of it. `max_len` is what the rule says: a switch that kept the
/// packet would send as much of it.
struct packet_in {
  packet_in_reason reason = packet_in_reason::action;
  table_id table = 0;
  std::uint64_t cookie = no_cookie;
  std::uint16_t max_len = controller_max_len_all;
  port_no in_port = 0;
  std::uint64_t metadata = 0;
  std::uint64_t tunnel_id = 0;
  std::array<std::uint32_t, n_registers> reg{};
  std::vector<std::uint8_t> bytes;

  bool operator==(const packet_in&) const = default;
};

/// What one packet adds to the counters of the model. Bytes are those of the packet as it came,
/// whatever was pushed or popped since.
struct counts {
  struct table_counts {
    std::uint64_t lookups = 0;
    std::uint64_t matches = 0;
    bool operator==(const table_counts&) const = default;
  };
  std::map<table_id, table_counts> tables;
  std::map<rule_id, traffic> rules;  // with nothing to add, where a rule's flags say so
  std::map<group_id, traffic> groups;
  std::map<std::pair<group_id, std::size_t>, traffic> buckets;
  std::map<meter_id, traffic> meters;
  std::map<std::pair<meter_id, std::size_t>, traffic> bands;

  void add_to(bridge& model, time_ns now) const;
  bool operator==(const counts&) const = default;
};

/// A line of the trace; those of a bucket or of what a rule does stand one deeper than it.
struct trace_line {
  unsigned depth = 0;
  std::string text;
  rule_ptr hit;  // of the line that tells about a look-up
};

struct verdict {
  std::vector<sent> outputs;  // in the order in which they were sent
  std::vector<packet_in> packet_ins;
  std::vector<rule_mod> learned;  // rules that it leaves behind
  struct counts counts;
  unsigned n_resubmits = 0;
  unsigned n_conjunctions = 0;  // that led to a rule
  unsigned n_remarked = 0;      // other code points after a meter than before it
  unsigned n_over_bounds = 0;   // packets and copies that came to a bound of model/resubmit.h
  std::vector<trace_line> trace;

  /// One line each, two blanks for every depth.
  std::string trace_text() const;
};

}  // namespace coua::pipeline
