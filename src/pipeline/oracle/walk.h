// SPDX-License-Identifier: Apache-2.0
//
// The way of one packet through the oracle: the tables in walk.cc, the actions in walk_actions.cc.
#pragma once

#include "pipeline/oracle/find_rule.h"
#include "pipeline/oracle/oracle.h"
#include "pipeline/oracle/parse.h"

namespace coua::pipeline {

/// Whether there is still a packet to go on with.
enum class [[nodiscard]] fate { goes_on, ends };

class walk {
 public:
  walk(oracle& in, const packet& one, time_ns now, trace_mode trace)
      : oracle_(in), model_(in.model_), now_(now), trace_(trace), n_bytes_(one.bytes.size()) {}

  void receive(const packet& one);
  void packet_out(const packet& one, const action_list& actions);
  verdict take() { return std::move(out_); }

 private:
  /// For whom actions run: what a packet-in says of it.
  struct origin {
    table_id table;
    std::uint64_t cookie;
    packet_in_reason reason;
  };

  // The pipeline.
  /// From table 0 to the end, with an action set of its own.
  void run_tables(packet one);
  /// As far as goto leads from `first` on, which sees the packet as if it came from `in_port`. Sets
  /// `last` to the last table.
  enum class way_end { done, missed, dropped };
  way_end run_way(packet& one, table_id first, port_no in_port, class action_set& set,
                  table_id& last);
  found_rule look_up(packet one, table_id in, port_no in_port);
  fate execute(packet& one, const rule& hit, class action_set& set);
  fate run_set(packet& one, const class action_set& set, table_id last);
  fate pass_meter(packet& one, meter_id id);

  // Actions.
  /// What resubmit leads to writes to `set`.
  fate run_list(packet& one, const action_list& list, const origin& from, class action_set& set);
  fate run_action(packet& one, const action& what, const origin& from, class action_set& set);
  fate run_resubmit(packet& one, const act::resubmit& what, const origin& from,
                    class action_set& set);
  void learn(const packet& one, const act::learn& how);
  void run_group(const packet& one, group_id id, const origin& from);
  void run_bucket(const packet& one, const group& in, std::size_t index, const origin& from);
  std::optional<std::size_t> choose_bucket(const packet& one, const group_ptr& in);

  // Outputs.
  void output(const packet& one, const act::output& to, const origin& from);
  void output_bits(const packet& one, const act::output_bits& to, const origin& from);
  void output_normal(const packet& one);
  /// To every port but the one where it came from; `flood` leaves out those that forbid it.
  void output_all(const packet& one, bool flood);
  void send(const packet& one, port_no to);
  void send_to_controller(const packet& one, packet_in_reason reason, const origin& from,
                          std::uint16_t max_len);

  /// The packet, or copy, ends here.
  fate end_at_bound(const char* why);
  traffic one_packet() const { return {1, n_bytes_}; }
  void note(const std::string& text, rule_ptr hit = nullptr);
  /// What is noted while it lives stands one deeper.
  class deeper {
   public:
    explicit deeper(walk& in) : in_(in) { ++in_.depth_; }
    ~deeper() { --in_.depth_; }
    deeper(const deeper&) = delete;
    deeper& operator=(const deeper&) = delete;

   private:
    walk& in_;
  };

  oracle& oracle_;
  const bridge& model_;
  const time_ns now_;
  const trace_mode trace_;
  const std::uint64_t n_bytes_;
  unsigned depth_ = 0;  // of notes
  // Of model/resubmit.h.
  unsigned resubmit_depth_ = 0;
  unsigned resubmit_nesting_ = 0;
  unsigned bucket_nesting_ = 0;
  verdict out_;
};

}  // namespace coua::pipeline
