// SPDX-License-Identifier: Apache-2.0
//
// What the look-up of a table leads to: a record, one cache line for one version of one rule.
//
//   from       the version from which on it counts (versions.h)
//   previous   the record that counts before, or none: then the rule was not there
//   counters   where workers count its packets
//   shape      codes of its ops, the fields that they set, and whether another table follows:
//              packets whose records have one shape are executed together (executor.h)
//   traits     which one, whether a meter comes first, and the priority
//   rule       the low 32 bits of its id, so that of two rules the older one is known (rule_rank.h)
//   ops        two of them in the record itself; longer lists are apart, and shared by records that
//              have the same ones
//
// A record without a shape says that the rule is gone from that version on: the look-up goes on to
// what matches next.
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/reserved_array.h"
#include "pipeline/datapath/op.h"
#include "pipeline/datapath/versions.h"

namespace coua::pipeline {

inline constexpr std::uint8_t no_table = 255;

struct action_step {
  op_code code{};
  std::uint8_t field = 0;  // of set and set_bits
  std::uint8_t fused = 0;  // the row that begins with it (fused_ops.h), from 1; 0: none
  // Without `fused`, which follows from the steps.
  constexpr bool operator==(const action_step& other) const noexcept {
    return code == other.code && field == other.field;
  }
  constexpr auto operator<=>(const action_step& other) const noexcept {
    return std::pair(code, field) <=> std::pair(other.code, other.field);
  }
};

struct action_shape {
  bool ops_apart = false;  // not in the records
  bool goes_on = false;    // to another table
  bool resubmits = false;  // some op does
  std::vector<action_step> steps;
  auto operator<=>(const action_shape&) const = default;
};

/// Of one action_records; 0: none.
using record_id = std::uint32_t;

/// Four bytes that are compared as one word.
struct record_traits {
  std::uint8_t next_table = no_table;  // or no_table
  bool is_metered = false;             // its first op is a meter
  std::uint16_t priority = 0;          // of the rule

  constexpr std::uint32_t bits() const noexcept { return std::bit_cast<std::uint32_t>(*this); }
  static const std::uint32_t next_bits, metered_bits;
};
inline constexpr std::uint32_t record_traits::next_bits = record_traits{255, false, 0}.bits();
inline constexpr std::uint32_t record_traits::metered_bits = record_traits{0, true, 0}.bits();

struct alignas(64) action_record {
  static constexpr std::size_t n_inline = 2;

  version_no from;
  record_id previous;
  std::uint32_t counters;
  const action_shape* shape;  // null: the rule is gone
  record_traits traits;
  std::uint32_t rule;
  union {
    op own[n_inline];
    const op* shared;  // instead, as its shape says
  };

  const op* ops() const noexcept { return shape->ops_apart ? shared : own; }
};
static_assert(sizeof(action_record) == 64);

/// All records of a bridge, by number. Numbers are given out by the compiler.
class action_records {
 public:
  static result<action_records> create(std::size_t n_max) {
    auto memory = reserved_array<action_record>::create(n_max);
    if (!memory) return tl::unexpected(std::move(memory.error()));
    action_records made;
    made.memory_ = std::move(*memory);
    return made;
  }

  action_record& operator[](record_id id) const noexcept { return memory_[id]; }
  std::size_t max_size() const noexcept { return memory_.max_size(); }

  /// The record that counts at version `v`, of those that `head` begins. Null: there is none, or it
  /// is no rule.
  const action_record* at(record_id head, version_no v) const noexcept {
    while (head != 0) {
      const action_record& one = memory_[head];
      if (one.from <= v) return one.shape != nullptr ? &one : nullptr;
      head = one.previous;
    }
    return nullptr;
  }

 private:
  reserved_array<action_record> memory_;
};

}  // namespace coua::pipeline
