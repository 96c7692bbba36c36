// SPDX-License-Identifier: Apache-2.0
//
// Groups (OpenFlow 1.3.5, sections 5.6 and 6.5): what several rules share, and what sends a packet
// to all, to one of many, or to the first that lives.
//
// Like a rule, a group never changes once it is made; a modification puts another one in its place.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/hash_key.h"
#include "pipeline/model/action.h"
#include "pipeline/model/of_error.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

enum class group_type : std::uint8_t { all = 0, select = 1, indirect = 2, fast_failover = 3 };
const char* to_string(group_type type);

/// Enough for the slots of semantics/select_map.h to honour every weight's bucket.
inline constexpr std::size_t buckets_max = 1'024;

/// Groups that lead to groups: how many, one below the other, and how many buckets there are on all
/// ways through them. Else a few groups of two buckets each could ask for 2^n copies of a packet.
inline constexpr unsigned group_depth_max = 32;
inline constexpr std::size_t group_ways_max = 65'536;

struct bucket {
  std::uint16_t weight = 0;  // select only; 0: never taken
  port_no watch_port = port_any;
  group_id watch_group = group_any;
  action_list actions;  // executed as an action set

  bool is_watched() const { return watch_port != port_any || watch_group != group_any; }
  bool operator==(const bucket&) const = default;
};

struct group {
  group_id id = 0;
  group_type type = group_type::all;
  std::vector<bucket> buckets{};
  /// Of the hash by which a select group spreads packets: drawn when the group is added, kept when
  /// it is modified.
  hash_key secret{};
};
using group_ptr = std::shared_ptr<const group>;

struct group_state {
  traffic counted;
  std::vector<traffic> buckets;
  time_ns added = 0;
  std::uint32_t n_rules = 0;   // that send packets to it
  std::uint32_t n_groups = 0;  // that need it

  bool operator==(const group_state&) const = default;
};

/// All that can be said of a group by itself: number, weights, what its type asks of its buckets.
/// Errors: group_mod_*.
of_result<void> check_group(const group& one);

/// The groups that it needs, each once: where its buckets send packets, and whose life they watch.
std::set<group_id> needs_of(const group& one);

/// "group_id=1,type=select,bucket=weight:1,actions=output:2"
std::string to_string(const group& one);

}  // namespace coua::pipeline
