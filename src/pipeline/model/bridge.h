// SPDX-License-Identifier: Apache-2.0
//
// The model of a switch as a controller sees it: tables of rules, groups, meters, ports, and what
// they count. It forwards nothing; it says what forwarding means, to the oracle that interprets it
// and to the compiler that makes a datapath of it.
//
//   operations (operation.h) --> apply --> changes (change.h), version + 1
//                                     \--> or an error, and nothing is changed
//
// A clock is passed in; it must not go back. One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "pipeline/model/operation.h"
#include "pipeline/model/store.h"

namespace coua::pipeline {

class bridge {
 public:
  /// Errors: invalid.
  static result<bridge> create(const bridge_params& params = {});

  /// One operation. Errors: those of the specification (of_error.h).
  of_result<change_list> apply(const operation& asked, time_ns now);
  /// A bundle, one after the other: all of it, or nothing. The error names the operation, counted
  /// from 1.
  of_result<change_list> apply(std::span<const operation> bundle, time_ns now);
  /// The same, if `follow` can do it, too: it is told of the changes while the model shows what
  /// comes of them, and when it refuses nothing is changed.
  using follower = std::function<of_result<void>(const change_list&)>;
  of_result<change_list> apply(std::span<const operation> bundle, time_ns now,
                               const follower& follow);
  /// Removes the rules whose time has come. When `follow` refuses, they stay for the next call.
  change_list expire(time_ns now, const follower& follow = {});
  /// When expire() may next have something to do; 0: never, as things are.
  time_ns next_expiry();

  /// Changes with every apply or expire that changed something.
  std::uint64_t version() const { return version_; }

  const std::vector<rule_table>& tables() const { return store_.tables(); }
  const std::map<group_id, group_entry>& groups() const { return store_.groups(); }
  const std::map<meter_id, meter_entry>& meters() const { return store_.meters(); }
  const std::map<port_no, port>& ports() const { return store_.ports(); }
  std::size_t n_rules() const { return store_.n_rules(); }
  const bridge_params& params() const { return store_.params(); }
  const std::map<store::learned_place, std::size_t>& takers() const { return store_.takers(); }

  // Null: there is none.
  const rule_table::entry* find_rule(rule_id id) const;
  const group_entry* find_group(group_id id) const;
  const meter_entry* find_meter(meter_id id) const;
  const port* find_port(port_no number) const;

  /// Whether a packet-out may have these actions. Errors: those of actions.
  of_result<void> check_packet_out(const action_list& actions) const;

  // What packets did, as the datapath reports it. Things that are gone are passed over: their last
  // counters went with them.
  /// `used` is when the last of these packets came.
  void count_rule(rule_id id, const traffic& more, time_ns used);
  void count_table(table_id id, std::uint64_t lookups, std::uint64_t matches);
  void count_group(group_id id, const traffic& more);
  void count_bucket(group_id id, std::size_t bucket, const traffic& more);
  void count_meter(meter_id id, const traffic& more);
  void count_band(meter_id id, std::size_t band, const traffic& more);

 private:
  explicit bridge(const bridge_params& params) : store_(params) {}
  change_list commit();

  store store_;
  std::uint64_t version_ = 0;
};

}  // namespace coua::pipeline
