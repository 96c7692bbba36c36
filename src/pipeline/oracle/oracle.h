// SPDX-License-Identifier: Apache-2.0
//
// What the model means for a packet, step by step as the specification tells it. It is slow and
// plain on purpose: every datapath is tested against it. docs/pipeline.md says what was chosen
// where the specification leaves room.
//
//   for each table from 0:  parse, look up, count; meter, apply, clear, write, metadata, goto
//   then the action set
//   every action parses the packet again: what was written is what is seen
//
// It leaves to the datapath whether a port is up and a frame not too long for it. It does not
// change the model: the counters are in the verdict (counts::add_to). It keeps the token buckets of
// meters, so packets must come in the order of their times.
#pragma once

#include <map>
#include <span>

#include "pipeline/oracle/packet.h"
#include "pipeline/oracle/verdict.h"
#include "pipeline/semantics/meter_buckets.h"
#include "pipeline/semantics/select_key.h"
#include "pipeline/semantics/select_map.h"

namespace coua::pipeline {

/// What the port NORMAL does: an L2 switch with its own addresses and VLANs.
class normal_switch {
 public:
  struct copy {
    port_no port;
    std::vector<std::uint8_t> bytes;
  };
  virtual ~normal_switch() = default;
  /// Where the frame goes, perhaps with other tags. The oracle leaves out the port that it came
  /// from, and ports that forbid forwarding.
  virtual std::vector<copy> forward(const packet& frame, time_ns now) = 0;
};

enum class trace_mode { off, on };
/// Whether meters drop and remark, or let everything pass: one packet has no rate.
enum class meter_mode { measured, passed };

/// How a trace writes what has ports in it: by their numbers, unless who knows names says it.
class trace_words {
 public:
  virtual ~trace_words() = default;
  virtual std::string port(port_no number) const;
  virtual std::string actions(const action_list& list) const;
  virtual std::string rule(const pipeline::rule& one) const;
};
inline const trace_words words_of_numbers;

class oracle {
 public:
  /// Without `normal`, packets sent to NORMAL are dropped. All must outlive the oracle.
  explicit oracle(const bridge& model, normal_switch* normal = nullptr,
                  meter_mode meter = meter_mode::measured,
                  const trace_words& words = words_of_numbers)
      : model_(model), normal_(normal), meter_mode_(meter), words_(words) {}

  /// A packet that came in by a port.
  verdict receive(const packet& one, time_ns now, trace_mode trace = trace_mode::off);

  /// A packet that the controller sends; `one.in_port` may be port_controller. Errors: those of
  /// checked actions.
  of_result<verdict> packet_out(const packet& one, const action_list& actions, time_ns now,
                                trace_mode trace = trace_mode::off);

 private:
  friend class walk;
  struct meter_run {
    std::uint64_t generation;
    meter_buckets buckets;
  };

  /// Making a map takes a while: it is kept until the group or a weight changes.
  struct select_run {
    group_ptr of;
    std::vector<std::uint16_t> weights;
    select_map map;
    keyed_hash hash;
  };

  const bridge& model_;
  normal_switch* normal_;
  const meter_mode meter_mode_;
  const trace_words& words_;
  std::map<meter_id, meter_run> meters_;
  std::map<group_id, select_run> selects_;
};

}  // namespace coua::pipeline
