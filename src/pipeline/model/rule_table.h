// SPDX-License-Identifier: Apache-2.0
//
// The rules of one table. A rule is found by priority and match in one step of a hash, and listed
// by priority, the highest first, and then by age: adding, strict changes and removal do not depend
// on how many rules there are. What must look at many (loose changes, overlap) goes over the list.
// The rules of one cookie are a list of their own, in no order: rules that packets leave behind are
// counted and removed by it (learn.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/hash_index.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

class rule_table {
 public:
  /// A place in the table; its address stays while the rule is there.
  struct entry {
    rule_ptr rule;
    rule_state state;
    time_ns due = 0;        // as the list of time-outs has it
    std::size_t place = 0;  // in the list of its priority
    entry* next = nullptr;  // of its cookie
    entry* previous = nullptr;
  };

  rule_table() = default;
  rule_table(rule_table&&) = default;
  rule_table& operator=(rule_table&&) = default;

  std::size_t size() const { return entries_.size(); }
  /// How many are clauses of conjunctions (conjunction.h).
  std::size_t n_clauses() const { return n_clauses_; }
  entry* find(std::uint16_t priority, const match& what);
  const entry* find(std::uint16_t priority, const match& what) const;
  /// The rule must not be there yet. One that comes back may be older than others: after it, or
  /// many of them, restore_order() must be called before the table is read.
  entry& insert(rule_ptr one, const rule_state& state);
  void restore_order();
  void erase(entry& gone);
  /// One with the same id, priority and match.
  void replace(entry& at, rule_ptr to);

  /// How many rules have the cookie.
  std::size_t n_of(std::uint64_t cookie) const {
    const auto at = by_cookie_.find(cookie);
    return at == by_cookie_.end() ? 0 : at->second.n;
  }
  /// All of them, in the order of each().
  std::vector<entry*> all_of(std::uint64_t cookie);

  /// Any rule of this priority that overlaps the match, which may be one with the same match. Null:
  /// none. Goes over the rules of the priority.
  const entry* find_overlap(std::uint16_t priority, const match& what) const;
  /// The rule that counts for a packet: of those that match with the highest priority, the one that
  /// was added first. Null: none. Goes over the rules, plainly.
  const entry* look_up(const field_values& packet) const;

  /// One of the highest priority. Null: the table is empty.
  const entry* any_highest() const {
    return by_priority_.empty() ? nullptr : by_priority_.begin()->second.places.back();
  }
  /// The first in the order of each() for which it holds. Null: none.
  template <class Is>
  const entry* find_first(Is is) const {
    for (const auto& [priority, list] : by_priority_) {
      for (const entry* one : list.places) {
        if (one != nullptr && is(*one->rule)) return one;
      }
    }
    return nullptr;
  }
  /// Calls `call(entry)` for every rule, the highest priority first, and of one priority the oldest
  /// first. The table must stay as it is.
  template <class Call>
  void each(Call call) const {
    for (const auto& [priority, list] : by_priority_) {
      for (const entry* one : list.places) {
        if (one != nullptr) call(*one);
      }
    }
  }
  template <class Call>
  void each(Call call) {
    for (auto& [priority, list] : by_priority_) {
      for (entry* one : list.places) {
        if (one != nullptr) call(*one);
      }
    }
  }

  /// How far a reading in pieces has come.
  struct cursor {
    std::uint16_t priority = 0xffff;
    rule_id id = 0;   // of this priority, it goes on with this one or the next
    rule_id end = 0;  // and ends before this one: what comes later is not waited for; 0: not begun
  };
  /// Calls `call(entry)` for up to `n` more rules in the order of each(), and moves the cursor
  /// behind them. Between two calls the table may change: a rule that is there all the time comes
  /// once. False: there are no more.
  template <class Call>
  bool each_from(cursor& at, std::size_t n, Call call) const {
    for (auto list = by_priority_.lower_bound(at.priority); list != by_priority_.end(); ++list) {
      if (list->first != at.priority || at.end == 0) {
        at = {list->first, 0, list->second.places.back()->rule->id + 1};
      }
      for (std::size_t i = list->second.find(at.id); i < list->second.places.size(); ++i) {
        const entry* one = list->second.places[i];
        if (one == nullptr) continue;
        if (one->rule->id >= at.end) break;
        if (n == 0) return true;
        --n;
        at.id = one->rule->id + 1;
        call(*one);
      }
    }
    return false;
  }

  std::uint64_t lookups = 0;
  std::uint64_t matches = 0;

 private:
  static std::uint64_t hash_of(std::uint16_t priority, const match& what) {
    return what.hash() ^ priority * std::uint64_t{0x9e37'79b9'7f4a'7c15};
  }

  /// The rules of one priority by age, which is the order of their numbers. One that goes leaves a
  /// gap, so that the others stay in order; when there are more gaps than rules, they are closed.
  struct rule_list {
    std::vector<entry*> places;  // null: a gap
    std::size_t n_gaps = 0;
    bool in_order = true;

    void add(entry& one);
    void restore_order();
    void remove(const entry& gone);
    /// The first place at which the rule, or all after it, may be.
    std::size_t find(rule_id id) const;
    void close_gaps();
  };

  struct cookie_list {
    entry* first = nullptr;
    std::size_t n = 0;
  };
  void link(entry& one);
  void unlink(entry& one);

  hash_index<std::unique_ptr<entry>> entries_;
  std::unordered_map<std::uint64_t, cookie_list> by_cookie_;
  std::map<std::uint16_t, rule_list, std::greater<>> by_priority_;
  bool in_order_ = true;
  std::size_t n_clauses_ = 0;
};

}  // namespace coua::pipeline
