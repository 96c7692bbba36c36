// SPDX-License-Identifier: Apache-2.0
//
// Rules that stand in one place of a table: those of the same match, of which the one with the
// highest priority counts and the others wait until it is gone. For templates that find one entry
// for a packet (exact, lpm), and for their catch-alls.
//
//   place --> head --> record of the rule that counts --> what counted before ...
//
// `Store` is where the heads are: head(where), put(where, head) -> result<void>, erase(where);
// `Where` names a place, and is ordered.
#pragma once

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

template <class Where>
class rule_places {
 public:
  explicit rule_places(compile_context& in) : in_(in) {}

  template <class Store>
  result<void> add(Store& store, const Where& where, const rule_ptr& one) {
    const record_id head = store.head(where);
    if (const rule_ptr counts = in_.rule_of(head)) {
      std::vector<rule_ptr>& others = waiting_[where];
      if (one->priority < counts->priority) {
        others.push_back(one);
        return {};
      }
      others.push_back(counts);
    }
    return change(store, where, head, *one);
  }

  template <class Store>
  result<void> replace(Store& store, const Where& where, const rule_ptr& one) {
    const record_id head = store.head(where);
    if (in_.is_of(head, one->id)) return change(store, where, head, *one);
    for (rule_ptr& each : waiting_[where]) {
      if (each->id == one->id) each = one;
    }
    return {};
  }

  template <class Store>
  result<void> remove(Store& store, table_form& of, const Where& where, const rule_ptr& one) {
    const record_id head = store.head(where);
    const auto others = waiting_.find(where);
    if (!in_.is_of(head, one->id)) {
      std::erase_if(others->second, [&](const rule_ptr& each) { return each->id == one->id; });
      if (others->second.empty()) waiting_.erase(others);
      return {};
    }
    if (others != waiting_.end()) {
      const auto next = std::max_element(
          others->second.begin(), others->second.end(),
          [](const rule_ptr& a, const rule_ptr& b) { return a->priority < b->priority; });
      const rule_ptr counts = *next;
      others->second.erase(next);
      if (others->second.empty()) waiting_.erase(others);
      return change(store, where, head, *counts);
    }
    const result<record_id> gone = in_.make_gone(head);
    if (!gone) return tl::unexpected(gone.error());
    if (auto good = put(store, where, head, *gone); !good) return good;
    burials_.add(in_, of, *gone, where);
    return {};
  }

  template <class Store>
  void bury(Store& store, record_id gone) {
    const std::optional<Where> where = burials_.take(gone);
    if (!where) return;
    store.erase(*where);
    heads_.erase(gone);
    in_.retire(gone);
  }

  void retire() {
    for (const record_id each : heads_) in_.retire(each);
    heads_.clear();
    waiting_.clear();
    (void)burials_.clear();  // they are heads, too
  }

  /// All that `from` has, but for rules that are gone: they stay there until it retires.
  void take_over(rule_places& from) {
    heads_.swap(from.heads_);
    waiting_.swap(from.waiting_);
    for (const record_id gone : from.burials_.clear()) {
      heads_.erase(gone);
      from.heads_.insert(gone);
    }
  }

  /// Places with an entry, those of rules that are gone but not buried included.
  std::size_t size() const { return heads_.size(); }

 private:
  template <class Store>
  result<void> change(Store& store, const Where& where, record_id head, const rule& to) {
    const result<record_id> made = in_.make(to, head);
    if (!made) return tl::unexpected(made.error());
    return put(store, where, head, *made);
  }

  template <class Store>
  result<void> put(Store& store, const Where& where, record_id head, record_id next) {
    heads_.insert(next);
    if (auto good = store.put(where, next); !good) return good;
    if (head != 0) {
      (void)burials_.take(head);
      heads_.erase(head);
      in_.retire(head);
    }
    return {};
  }

  compile_context& in_;
  std::map<Where, std::vector<rule_ptr>> waiting_;
  std::unordered_set<record_id> heads_;
  burials<Where> burials_;
};

/// The catch-all of a table: one place.
struct catch_all_place {
  auto operator<=>(const catch_all_place&) const = default;
};
struct catch_all_store {
  std::atomic<record_id>& of;
  record_id head(catch_all_place) const { return of.load(std::memory_order_relaxed); }
  result<void> put(catch_all_place, record_id head) {
    of.store(head, std::memory_order_release);  // with the acquire of executor::catch_all_of
    return {};
  }
  void erase(catch_all_place) { of.store(0, std::memory_order_release); }
};

}  // namespace coua::pipeline
