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
//
// Where there are many, rules that do the same share records (compiler/shared_records.h): once no
// batch is at a version from before a rule, its place leads to a shared one. Before the place
// changes again, the rule gets a record of its own back, as what counted before. Rules whose
// records may yet be shared are called young.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/hash_index.h"
#include "pipeline/compiler/table_form.h"

namespace coua::pipeline {

template <class Where>
class rule_places {
 public:
  /// `may_share`: the owner will call share().
  explicit rule_places(compile_context& in, bool may_share = false)
      : in_(in), may_share_(may_share) {}

  template <class Store>
  result<void> add(Store& store, const Where& where, const rule_ptr& one) {
    const rule_head head = store.head(where);
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
    const rule_head head = store.head(where);
    if (in_.is_of(head, one->id)) return change(store, where, head, *one);
    for (rule_ptr& each : waiting_[where]) {
      if (each->id == one->id) each = one;
    }
    return {};
  }

  template <class Store>
  result<void> remove(Store& store, table_form& of, const Where& where, const rule_ptr& one) {
    const rule_head head = store.head(where);
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
    const result<record_id> before = give_own(head);
    if (!before) return tl::unexpected(before.error());
    const result<record_id> gone = in_.make_gone(*before);
    if (!gone) return tl::unexpected(gone.error());
    if (auto good = put(store, where, *before, {*gone, head.counters}); !good) return good;
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
    heads_.each([this](record_id each) { in_.retire(each); });
    for (const auto& [record, n_rules] : shared_) in_.leave_shared(record, n_rules);
    heads_.clear();
    shared_.clear();
    young_.clear();
    waiting_.clear();
    (void)burials_.clear();  // they are heads, too
  }

  /// All that `from` has, but for rules that are gone: they stay there until it retires.
  void take_over(rule_places& from) {
    std::swap(heads_, from.heads_);
    waiting_.swap(from.waiting_);
    shared_.swap(from.shared_);
    for (const record_id gone : from.burials_.clear()) {
      heads_.erase(gone);
      from.heads_.insert(gone, gone);
    }
    from.young_.clear();
  }

  bool has_young() const { return !young_.empty(); }
  void forget_young() { young_.clear(); }
  void make_all_young() {
    young_.clear();
    heads_.each([this](record_id each) { young_.push_back(each); });
  }
  /// Up to `n` rules that no batch is from before: those of versions up to `until`.
  /// `place_of(match)` is where a rule is.
  template <class Store, class PlaceOf>
  void share(Store& store, PlaceOf place_of, version_no until, std::size_t n) {
    for (; n != 0 && !young_.empty(); --n) {
      const record_id one = young_.front();
      if (heads_.find(one) != nullptr) {
        // Its id may have gone to a later record.
        if (in_.records()[one].from > until) return;
        if (const rule_ptr of = in_.rule_of({one, 0})) share_one(store, place_of(of->match), one);
      }
      young_.pop_front();
    }
  }

  table_form::sharing shared() const {
    table_form::sharing made{0, shared_.size()};
    for (const auto& [record, n_places] : shared_) made.rules += n_places;
    return made;
  }

 private:
  template <class Store>
  result<void> change(Store& store, const Where& where, rule_head head, const rule& to) {
    const result<record_id> before = give_own(head);
    if (!before) return tl::unexpected(before.error());
    const result<record_id> made = in_.make(to, *before);
    if (!made) return tl::unexpected(made.error());
    if (may_share_) young_.push_back(*made);
    return put(store, where, *before, {*made, in_.records()[*made].counters});
  }

  /// The record of a place, to which no other leads.
  result<record_id> give_own(rule_head head) {
    const result<record_id> made = in_.give_own(head);
    if (!made || *made == head.record) return made;
    heads_.insert(*made, *made);
    const auto shared = shared_.find(head.record);
    if (--shared->second == 0) shared_.erase(shared);
    return made;
  }

  template <class Store>
  result<void> put(Store& store, const Where& where, record_id before, rule_head next) {
    heads_.insert(next.record, next.record);
    if (auto good = store.put(where, next); !good) return good;
    if (before != 0) {
      (void)burials_.take(before);
      heads_.erase(before);
      in_.retire(before);
    }
    return {};
  }

  template <class Store>
  void share_one(Store& store, const Where& where, record_id one) {
    const record_id shared = in_.join_shared(one);
    if (shared == 0) return;
    (void)store.put(where, {shared, in_.records()[one].counters});  // it is there: it has room
    ++shared_[shared];
    heads_.erase(one);
    in_.retire(one);
  }

  compile_context& in_;
  const bool may_share_;
  std::map<Where, std::vector<rule_ptr>> waiting_;
  hash_index<record_id> heads_;                        // of one place each
  std::unordered_map<record_id, std::size_t> shared_;  // others, and of how many places
  std::deque<record_id> young_;
  burials<Where> burials_;
};

/// The catch-all of a table: one place.
struct catch_all_place {
  auto operator<=>(const catch_all_place&) const = default;
};
struct catch_all_store {
  std::atomic<record_id>& of;
  rule_head head(catch_all_place) const { return {of.load(std::memory_order_relaxed), 0}; }
  result<void> put(catch_all_place, rule_head head) {
    of.store(head.record, std::memory_order_release);  // with the acquire of take_catch_alls
    return {};
  }
  void erase(catch_all_place) { of.store(0, std::memory_order_release); }
};

}  // namespace coua::pipeline
