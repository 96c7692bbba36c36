// SPDX-License-Identifier: Apache-2.0
//
// Records that rules share which do the same (datapath/action_record.h). What many rules do is few
// things, mostly: a million addresses lead to ten ports, a table of routes to some next hops. Then
// all that the look-up of a large table needs from memory are its entries and counters, since the
// few records stay in the cache.
//
// A record is shared when a second rule has its like; what one rule alone does, as a rewrite to an
// address of its own, stays as it is, and leaves but a trace here. There are no more shared ones
// than fit beside others in a second-level cache: beyond, nothing would be gained.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "pipeline/datapath/action_record.h"

namespace coua::pipeline {

class shared_records {
 public:
  static constexpr std::size_t n_max = 4096;

  /// What happens to packets that meet a rule, and nothing of which rule it is.
  struct effect {
    const action_shape* shape;
    record_traits traits;
    const op* list = nullptr;  // where ops are not in the record
    std::array<op, action_record::n_inline> in_record{};

    explicit effect(const action_record& of);
    bool operator==(const effect& other) const;
  };

  /// That of rules with this effect, for one rule more. 0: there is none.
  record_id join(const effect& of);
  /// Where there is none: whether there should be, when a rule that counts under this number could
  /// have it.
  bool is_worth_it(const effect& of, std::uint32_t counters);
  /// For one rule.
  void add(const effect& of, record_id made);
  /// So many rules less. True: these were the last ones; there is none any more.
  bool leave(const effect& of, std::size_t n_rules);

  std::size_t size() const { return all_.size(); }

 private:
  struct hash {
    std::size_t operator()(const effect& of) const;
  };
  struct entry {
    record_id record;
    std::size_t n_rules;
  };
  /// Of an effect that some rule has.
  struct trace {
    std::uint32_t hash = 0;  // what the place does not say of it, and not 0
    std::uint32_t counters = 0;
  };

  std::unordered_map<effect, entry, hash> all_;
  std::array<trace, 8192> traces_{};  // by hash
};

}  // namespace coua::pipeline
