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
//
// Rules of large tables that do the same share a record, once no batch is at a version from before
// them (compiler/shared_records.h): a million addresses behind ten ports are then no million lines
// of memory. A shared record counts from the beginning of time, has nothing before it and is the
// first of its place; whose packets it takes only the place knows (rule_head).
#pragma once

#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
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

  /// Of `counters`: rules share the record.
  static constexpr std::uint32_t shared_counters = ~std::uint32_t{0};

  const op* ops() const noexcept { return shape->ops_apart ? shared : own; }
  bool is_shared() const noexcept { return counters == shared_counters; }
};
static_assert(sizeof(action_record) == 64);

/// What a place of rules leads to: the first of its records, and where packets are counted if that
/// one counts. Only a shared record does not say it, too; a catch-all leaves it out.
struct rule_head {
  record_id record = 0;
  std::uint32_t counters = 0;

  /// Records of a bridge, and numbers under which its rules count, are below it.
  static constexpr unsigned number_bits = 28;
  static constexpr std::uint32_t numbers_max = std::uint32_t{1} << number_bits;

  /// As one word: readers find both of one moment.
  constexpr std::uint64_t word() const noexcept { return std::bit_cast<std::uint64_t>(*this); }
  static constexpr rule_head of(std::uint64_t word) noexcept {
    return std::bit_cast<rule_head>(word);
  }
  /// As a word below 2^56.
  constexpr std::uint64_t short_word() const noexcept {
    COUA_ASSERT(record < numbers_max && counters < numbers_max);
    return std::uint64_t{counters} << number_bits | record;
  }
  static constexpr rule_head of_short(std::uint64_t word) noexcept {
    return {static_cast<record_id>(word % numbers_max),
            static_cast<std::uint32_t>(word >> number_bits)};
  }
  bool operator==(const rule_head&) const = default;
};

/// What a look-up finds. A shared record does not say where it counts.
struct met_rule {
  const action_record* record = nullptr;  // null: none matches
  std::uint32_t counters = 0;

  static met_rule of(const action_record* one) noexcept {
    return {one, one != nullptr ? one->counters : 0};
  }
};

/// All records of a bridge, by number. Numbers are given out by the compiler.
class action_records {
 public:
  /// `n_numbers` under which rules are counted. Errors: no_memory (address space).
  static result<action_records> create(std::size_t n_max, std::size_t n_numbers) {
    auto memory = reserved_array<action_record>::create(n_max);
    if (!memory) return tl::unexpected(std::move(memory.error()));
    auto rules = reserved_array<std::uint32_t>::create(n_numbers);
    if (!rules) return tl::unexpected(std::move(rules.error()));
    action_records made;
    made.memory_ = std::move(*memory);
    made.rules_ = std::move(*rules);
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
  /// The same, with where it counts.
  met_rule at(rule_head head, version_no v) const noexcept {
    const action_record& newest = memory_[head.record];  // 0 is one without a shape
    if (newest.from <= v && newest.shape != nullptr) [[likely]]
      return {&newest, head.counters};
    return met_rule::of(at(head.record, v));
  }

  /// As action_record::rule, by the number under which it is counted. Written before a version with
  /// the rule is published.
  std::uint32_t& rule_of(std::uint32_t counters) const noexcept { return rules_[counters]; }
  std::uint32_t rule_of(const met_rule& one) const noexcept {
    return one.record->is_shared() ? rules_[one.counters] : one.record->rule;
  }

 private:
  reserved_array<action_record> memory_;
  reserved_array<std::uint32_t> rules_;
};

}  // namespace coua::pipeline
