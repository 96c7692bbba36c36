// SPDX-License-Identifier: Apache-2.0
//
// Where the model keeps its rules, groups, meters and ports, and the few steps by which they
// change. Each step is noted in a journal, from which everything since the last commit can be
// undone: so an operation, or a bundle of them, is done as a whole or not at all, without copying
// tables.
//
//   operation (rule_ops, group_ops...)  -->  steps (put, swap, drop)  -->  journal
//                                                                           |        |
//                                                              commit: a change_list  undo:
//                                                              backwards
//
// Steps do not fail and check nothing but their own order; operations check.
#pragma once

#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "pipeline/model/change.h"
#include "pipeline/model/rule_table.h"

namespace coua::pipeline {

struct bridge_params {
  unsigned n_tables = 255;  // 1 to 255: tables 0 to n_tables - 1
  std::size_t rules_max = std::size_t{1} << 24;
  std::size_t groups_max = std::size_t{1} << 20;
  std::size_t meters_max = std::size_t{1} << 20;
  hash_key key{};  // the secrets of groups are made from it
};

struct group_entry {
  group_ptr group;
  group_state state;
};
struct meter_entry {
  meter_ptr meter;
  meter_state state;
};

class store {
 public:
  using rule_entry = rule_table::entry;

  explicit store(const bridge_params& params) : params_(params), tables_(params.n_tables) {}

  const bridge_params& params() const { return params_; }
  std::vector<rule_table>& tables() { return tables_; }
  const std::vector<rule_table>& tables() const { return tables_; }
  std::size_t n_rules() const { return by_id_.size(); }
  rule_entry* find_rule(rule_id id);
  group_entry* find_group(group_id id);
  const std::map<group_id, group_entry>& groups() const { return groups_; }
  /// Those whose buckets lead to it at once.
  std::vector<group_id> groups_above(group_id id) const;
  meter_entry* find_meter(meter_id id);
  const std::map<meter_id, meter_entry>& meters() const { return meters_; }
  const std::map<port_no, port>& ports() const { return ports_; }

  /// A number that no rule had before.
  rule_id next_rule_id() { return ++last_rule_id_; }
  std::uint64_t next_generation() { return ++last_generation_; }

  // Steps.
  void put_rule(rule_ptr one, const rule_state& state);
  /// One with the same id, table, priority and match.
  void swap_rule(rule_entry& at, rule_ptr to, rule_state state, rule_counts counts);
  void drop_rule(rule_entry& gone, removal_reason reason);
  /// Its time-outs begin anew. No change that packets or anybody could see: commit() does not tell.
  void restart(rule_entry& one, time_ns now);
  /// Adds it, or puts it in the place of the one with its number.
  void put_group(group_ptr one, const group_state& state);
  void drop_group(group_id gone);
  void put_meter(meter_ptr one, const meter_state& state);
  void drop_meter(meter_id gone);
  void put_port(const port& one);
  void drop_port(port_no gone);

  /// What was done since the last commit or undo.
  const change_list& changes() const { return journal_; }
  /// The same; from now on it stays.
  change_list commit() {
    restarted_.clear();
    return std::exchange(journal_, {});
  }
  void undo();

  /// A table and a cookie: whose rules are learned there.
  using learned_place = std::pair<table_id, std::uint64_t>;
  /// How many actions learn there with rules that are to go along; what is not in it: none.
  const std::map<learned_place, std::size_t>& takers() const { return takers_; }
  bool takes_along(table_id table, std::uint64_t cookie) const {
    return takers_.contains({table, cookie});
  }
  /// Whose rules go along, now that the last rule that learned them is gone or learns no more.
  std::vector<learned_place> take_left_behind();

  /// The rule that is due first, or null; `due` never tells too late a time, perhaps too early a
  /// one.
  rule_entry* first_due();
  /// After a look at the rule: when it is due really.
  void set_due(rule_entry& one);

 private:
  void link(rule_entry& one);
  void unlink(rule_entry& one);
  /// Counts the rule in, or out, of the groups and the meter that it uses.
  void refer(const rule& from, int by);
  /// Counts the rule in, or out, of those that learn with rules that go along.
  void count_takers(const rule& one, int by);
  /// Counts the group in, or out, of the groups that it needs.
  void refer(const group& from, int by);

  void undo_one(const rule_change& done);
  void undo_one(const group_change& done);
  void undo_one(const meter_change& done);
  void undo_one(const port_change& done);

  bridge_params params_;
  std::vector<rule_table> tables_;
  hash_index<rule_entry*> by_id_;
  std::set<std::pair<time_ns, rule_id>> due_;  // of rules with time-outs
  std::map<group_id, group_entry> groups_;
  std::set<std::pair<group_id, group_id>> above_;  // a group, and one that needs it
  std::map<meter_id, meter_entry> meters_;
  std::map<port_no, port> ports_;
  std::map<learned_place, std::size_t> takers_;
  std::vector<learned_place> left_behind_;
  rule_id last_rule_id_ = 0;
  std::uint64_t last_generation_ = 0;
  change_list journal_;
  // Rules that began anew since the last commit, and what rule_state::learned was.
  std::vector<std::pair<rule_id, time_ns>> restarted_;
};

/// The groups that the rule sends packets to, each once.
std::vector<group_id> groups_of(const rule& one);

}  // namespace coua::pipeline
