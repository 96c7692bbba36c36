// SPDX-License-Identifier: Apache-2.0
//
// The OpenFlow pipeline as the management API sees it. Whoever owns the model of a bridge
// (pipeline/model/bridge.h) implements it; calls come from several threads and may wait for that
// owner.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/reply.h"
#include "dp/pipeline/packet_in.h"
#include "pipeline/compiler/choose_template.h"
#include "pipeline/datapath/burst_times.h"
#include "pipeline/estimate/calibration.h"
#include "pipeline/model/bridge.h"
#include "pipeline/oracle/oracle.h"

namespace coua::ctl {

struct rule_record {
  pipeline::rule_ptr rule;
  pipeline::rule_state state;
};
struct group_record {
  pipeline::group_ptr group;
  pipeline::group_state state;
};
struct meter_record {
  pipeline::meter_ptr meter;
  pipeline::meter_state state;
};

struct pipeline_status {
  struct table {
    pipeline::table_id id = 0;
    std::uint64_t rules = 0, lookups = 0, matches = 0;
  };
  std::uint64_t rules = 0, groups = 0, meters = 0;
  std::uint64_t version = 0;
  std::vector<table> tables;  // that have rules or were looked up
  struct drop {
    std::string why;
    std::uint64_t packets = 0;
  };
  std::vector<drop> drops;
};

/// How a table is served, and why so.
struct table_explanation {
  pipeline::table_id id = 0;
  std::uint64_t rules = 0, lookups = 0, matches = 0;
  std::optional<pipeline::template_choice> served{};  // none: all its rules are clauses
  std::vector<pipeline::refused_template> refused{};  // that cost less
  std::uint64_t clauses = 0;       // rules of conjunctions, in a classifier of their own
  std::uint64_t bytes = 0;         // of both; of a store that tables share, its part
  std::string by{};                // how it was split; empty: it was not
  double visits = 0;               // of a packet, as the performance model has it
  pipeline::cycle_range cycles{};  // of a packet that comes there, likewise
  unsigned rows_apart = 0;         // of exact and lpm: of rules apart
  std::uint64_t joined = 0;        // entries that it shares with the first table, or that has all
};

struct bridge_explanation {
  std::vector<table_explanation> tables;  // that have rules
  /// Of a packet. None: `not_predicted` says why.
  std::optional<pipeline::cycle_range> predicted{};
  std::string not_predicted{};
  bool standalone = false;  // set_standalone() is on: packets meet no table
  /// Bursts that were timed since the last explanation, or since the start if there was none.
  pipeline::burst_times::sum measured{};
  std::uint64_t interrupted = 0;  // bursts that are not in it (burst_times.h)
  std::uint64_t measured_ns = 0;  // how long that is ago
  bool measured_since_start = true;
  double cycles_hz = 1;
};

/// What became of a packet, line by line.
struct trace_answer {
  struct line {
    unsigned depth = 0;
    std::string text;
    pipeline::rule_ptr hit{};  // of the line that tells about a look-up
    std::optional<pipeline::table_template> found_by{};
  };
  struct copy {
    pipeline::sent what;
    std::string trouble{};  // what keeps it from leaving: "no link: dropped"; empty: nothing
  };
  std::vector<line> lines;
  std::vector<copy> copies;  // for ports of the switch
  std::vector<pipeline::packet_in> packet_ins;
};

/// What happens in a bridge. Called by who owns it or has the owner's turn, one after the other;
/// they must not wait.
struct bridge_events {
  dp::packet_in_sink packet_in;
  std::function<void(const pipeline::change_list&)> changed;
};

class pipeline_control {
 public:
  virtual ~pipeline_control() = default;

  /// All of them, or none. The failure says which operation it was.
  virtual pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) = 0;
  /// One after the other, each a version of its own that may fail by itself.
  virtual std::vector<pipeline::of_result<pipeline::change_list>> apply_each(
      std::span<const pipeline::operation> operations) = 0;
  /// Whether apply_each() would be done with them within a millisecond.
  virtual bool is_quick(std::span<const pipeline::operation> operations) = 0;
  /// Waits until every worker runs what was applied before.
  virtual void settle() = 0;
  /// The same for so long at most. False: they do not yet.
  virtual bool settle_within(std::chrono::microseconds most) = 0;
  /// For who has time: a worker takes new rules with its next burst. One that has not by then
  /// stands still.
  static constexpr std::chrono::seconds settle_most{10};
  /// Takes the turn of the owner if that has nothing to do: until end_turn(), which must come
  /// within a millisecond, nothing that this thread calls waits for it. Does not wait itself.
  virtual bool try_turn() = 0;
  virtual void end_turn() = 0;

  /// Sends a packet by these actions, as a controller's packet-out. It comes in by `one.in_port`,
  /// which may be port_controller.
  virtual pipeline::of_result<void> packet_out(const pipeline::packet& one,
                                               const pipeline::action_list& actions) = 0;

  /// Calls `take` with the rules that match, in pieces, table by table and the highest priority
  /// first, until it returns false. A rule that is there from beginning to end comes once.
  virtual void dump_rules(const ofp::rule_filter& filter,
                          const std::function<bool(std::span<const rule_record>)>& take) = 0;
  /// All, as they are at one moment: for that long their owner does nothing else.
  virtual std::vector<group_record> groups() = 0;
  virtual std::vector<meter_record> meters() = 0;
  /// Those from this number on by number, in pieces, until `take` returns false.
  virtual void dump_groups(pipeline::group_id first,
                           const std::function<bool(std::span<const group_record>)>& take) = 0;
  virtual void dump_meters(pipeline::meter_id first,
                           const std::function<bool(std::span<const meter_record>)>& take) = 0;
  virtual pipeline_status status() = 0;
  virtual bridge_explanation explain() = 0;
  /// The way of a packet, as the rules are now; nothing is sent or counted. Goes over the rules one
  /// by one. Meters let everything pass.
  virtual trace_answer trace(const pipeline::packet& one) = 0;

  /// The clock of the times in rules, groups and meters.
  virtual pipeline::time_ns now() = 0;
  virtual ofp::port_names port_names() = 0;
  /// The ports with their counters, by number.
  virtual std::vector<ofp::port_facts> ports() = 0;
  /// Sets the bits of `mask` (ofp::port_down, ...) to those of `config`. Errors: port_mod_bad_port.
  virtual pipeline::of_result<void> set_port_config(pipeline::port_no number, std::uint32_t config,
                                                    std::uint32_t mask) = 0;
  /// Who is told from now on; empty functions: nobody. What was there before is not called any more
  /// when this has returned.
  virtual void listen(bridge_events to) = 0;
  /// While it is on, packets are forwarded as by one rule with actions=NORMAL, whatever the rules
  /// say, and no rule counts them. Does not wait.
  virtual void set_standalone(bool on) = 0;
  virtual unsigned n_tables() = 0;
  virtual std::uint64_t rules_max() = 0;
};

/// Rules, groups and meters that came, went, or are other than before: a rule that replaces one
/// like it is no change to a user, though its times are new.
std::size_t count_changes(const pipeline::change_list& done);

/// Those bits of ofp_port_config that the pipeline knows.
void set_port_flags(pipeline::port& of, std::uint32_t config, std::uint32_t mask);
std::uint32_t port_flags(const pipeline::port& of);

/// What a bridge answers to pipeline_control, for those who hold its lock or own it. Of groups and
/// meters so many at most from this number on.
std::vector<group_record> list_groups(const pipeline::bridge& in, pipeline::group_id first = 0,
                                      std::size_t most = SIZE_MAX);
std::vector<meter_record> list_meters(const pipeline::bridge& in, pipeline::meter_id first = 0,
                                      std::size_t most = SIZE_MAX);
pipeline_status status_of(const pipeline::bridge& in);
/// As texts of rules say it: LOCAL is called so, whatever its own name is.
std::string name_of(pipeline::port_no number, const ofp::port_names& names);

/// Of a bridge where set_standalone() is on.
inline constexpr const char* standalone_text =
    "no controller is connected: forwarded as an L2 switch (fail-standalone)";
/// There a packet meets no rule, and `then` happens to it.
trace_answer trace_standalone(std::string then);
trace_answer trace_through(
    const pipeline::bridge& in, pipeline::normal_switch* normal, const pipeline::packet& one,
    pipeline::time_ns now, const ofp::port_names& names,
    const std::function<pipeline::table_template(pipeline::table_id)>& template_of);

}  // namespace coua::ctl
