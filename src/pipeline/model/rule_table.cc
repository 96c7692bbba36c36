// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/rule_table.h"

#include <algorithm>

#include "base/check.h"
#include "pipeline/model/conjunction.h"

namespace coua::pipeline {

rule_table::entry* rule_table::find(std::uint16_t priority, const match& what) {
  const auto* at = entries_.find(hash_of(priority, what), [&](const std::unique_ptr<entry>& one) {
    return one->rule->priority == priority && one->rule->match == what;
  });
  return at == nullptr ? nullptr : at->get();
}

const rule_table::entry* rule_table::find(std::uint16_t priority, const match& what) const {
  return const_cast<rule_table*>(this)->find(priority, what);
}

rule_table::entry& rule_table::insert(rule_ptr one, const rule_state& state) {
  COUA_ASSERT(find(one->priority, one->match) == nullptr);
  auto made = std::make_unique<entry>(entry{std::move(one), state});
  entry& added = *made;
  rule_list& list = by_priority_[added.rule->priority];
  list.add(added);
  in_order_ &= list.in_order;
  link(added);
  n_clauses_ += is_clause(*added.rule) ? 1 : 0;
  entries_.insert(hash_of(added.rule->priority, added.rule->match), std::move(made));
  return added;
}

void rule_table::restore_order() {
  if (in_order_) return;
  for (auto& [priority, list] : by_priority_) list.restore_order();
  in_order_ = true;
}

void rule_table::erase(entry& gone) {
  unlink(gone);
  n_clauses_ -= is_clause(*gone.rule) ? 1 : 0;
  const auto list = by_priority_.find(gone.rule->priority);
  list->second.remove(gone);
  if (list->second.places.empty()) by_priority_.erase(list);
  entries_.erase(hash_of(gone.rule->priority, gone.rule->match),
                 [&gone](const std::unique_ptr<entry>& one) { return one.get() == &gone; });
}

void rule_table::replace(entry& at, rule_ptr to) {
  const bool moves = at.rule->cookie != to->cookie;
  if (moves) unlink(at);
  n_clauses_ -= is_clause(*at.rule) ? 1 : 0;
  at.rule = std::move(to);
  n_clauses_ += is_clause(*at.rule) ? 1 : 0;
  if (moves) link(at);
}

void rule_table::link(entry& one) {
  cookie_list& list = by_cookie_[one.rule->cookie];
  one.previous = nullptr;
  one.next = list.first;
  if (list.first != nullptr) list.first->previous = &one;
  list.first = &one;
  ++list.n;
}

void rule_table::unlink(entry& one) {
  const auto list = by_cookie_.find(one.rule->cookie);
  if (one.next != nullptr) one.next->previous = one.previous;
  (one.previous != nullptr ? one.previous->next : list->second.first) = one.next;
  if (--list->second.n == 0) by_cookie_.erase(list);
}

std::vector<rule_table::entry*> rule_table::all_of(std::uint64_t cookie) {
  std::vector<entry*> made;
  const auto list = by_cookie_.find(cookie);
  if (list == by_cookie_.end()) return made;
  made.reserve(list->second.n);
  for (entry* one = list->second.first; one != nullptr; one = one->next) made.push_back(one);
  std::sort(made.begin(), made.end(), [](const entry* a, const entry* b) {
    if (a->rule->priority != b->rule->priority) return a->rule->priority > b->rule->priority;
    return a->rule->id < b->rule->id;
  });
  return made;
}

const rule_table::entry* rule_table::find_overlap(std::uint16_t priority, const match& what) const {
  const auto list = by_priority_.find(priority);
  if (list == by_priority_.end()) return nullptr;
  for (const entry* one : list->second.places) {
    if (one != nullptr && one->rule->match.overlaps(what)) return one;
  }
  return nullptr;
}

const rule_table::entry* rule_table::look_up(const field_values& packet) const {
  for (const auto& [priority, list] : by_priority_) {
    for (const entry* one : list.places) {
      if (one != nullptr && one->rule->match.matches(packet)) return one;
    }
  }
  return nullptr;
}

void rule_table::rule_list::add(entry& one) {
  one.place = places.size();
  places.push_back(&one);
  // No gap is at the end.
  if (one.place != 0 && places[one.place - 1]->rule->id > one.rule->id) in_order = false;
}

void rule_table::rule_list::restore_order() {
  if (in_order) return;
  std::erase(places, nullptr);
  std::sort(places.begin(), places.end(),
            [](const entry* a, const entry* b) { return a->rule->id < b->rule->id; });
  close_gaps();
  in_order = true;
}

void rule_table::rule_list::remove(const entry& gone) {
  places[gone.place] = nullptr;
  ++n_gaps;
  while (!places.empty() && places.back() == nullptr) {
    places.pop_back();
    --n_gaps;
  }
  if (n_gaps > places.size() / 2) close_gaps();
}

void rule_table::rule_list::close_gaps() {
  std::erase(places, nullptr);
  n_gaps = 0;
  for (std::size_t i = 0; i < places.size(); ++i) places[i]->place = i;
}

std::size_t rule_table::rule_list::find(rule_id id) const {
  std::size_t low = 0, high = places.size();
  while (low < high) {
    // The first rule in the upper half, if there is one.
    const std::size_t middle = low + (high - low) / 2;
    std::size_t at = middle;
    while (at < high && places[at] == nullptr) ++at;
    if (at == high || places[at]->rule->id >= id) {
      high = middle;
    } else {
      low = at + 1;
    }
  }
  return low;
}

}  // namespace coua::pipeline
