// SPDX-License-Identifier: Apache-2.0
//
// A rule (the specification's flow entry). It never changes once it is made: a change puts another
// one with the same id in its place. What counts and ages is its state, which stays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/model/instructions.h"
#include "pipeline/model/match.h"

namespace coua::pipeline {

/// Of a rule from its addition to its removal; never given to another one.
using rule_id = std::uint64_t;
/// Nanoseconds of a clock that never goes back; which one is up to the caller.
using time_ns = std::uint64_t;
inline constexpr time_ns ns_per_s = 1'000'000'000;

/// ofp_flow_mod_flags.
enum rule_flag : std::uint16_t {
  rule_send_removed = 1 << 0,
  rule_check_overlap = 1 << 1,
  rule_reset_counts = 1 << 2,
  rule_no_packet_counts = 1 << 3,
  rule_no_byte_counts = 1 << 4,
};

struct rule {
  rule_id id = 0;
  table_id table = 0;
  std::uint16_t priority = 0;
  std::uint16_t idle_timeout_s = 0;  // 0: none
  std::uint16_t hard_timeout_s = 0;
  std::uint16_t flags = 0;
  std::uint64_t cookie = 0;
  class match match;
  struct instructions instructions;
  time_ns added = 0;

  /// It takes what no other rule of its table took.
  bool is_miss() const { return priority == 0 && match.is_any(); }
};
using rule_ptr = std::shared_ptr<const rule>;

/// "table=3,priority=10,tcp_dst=80": what names a rule to a user.
inline std::string name_rule(table_id table, std::uint16_t priority, const match& what) {
  return "table=" + std::to_string(table) + ",priority=" + std::to_string(priority) + "," +
         what.to_string();
}

struct traffic {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;

  traffic& operator+=(const traffic& more) {
    packets += more.packets;
    bytes += more.bytes;
    return *this;
  }
  bool operator==(const traffic&) const = default;
};

struct rule_state {
  traffic counted;
  time_ns used = 0;     // when it was added, or last met a packet
  time_ns learned = 0;  // when a packet last asked for it; 0: never
  // A packet made it what it is; not: one asked for a rule that somebody had added just so.
  bool is_left_behind = false;

  bool operator==(const rule_state&) const = default;
};

/// When the rule is to go, if no packet meets it any more; 0: never.
inline time_ns expires_at(const rule& one, const rule_state& state) {
  const time_ns from = state.learned > one.added ? state.learned : one.added;
  const time_ns used = state.used > from ? state.used : from;
  const time_ns hard = one.hard_timeout_s != 0 ? from + one.hard_timeout_s * ns_per_s : 0;
  const time_ns idle = one.idle_timeout_s != 0 ? used + one.idle_timeout_s * ns_per_s : 0;
  if (hard == 0 || idle == 0) return hard + idle;
  return hard < idle ? hard : idle;
}

}  // namespace coua::pipeline
