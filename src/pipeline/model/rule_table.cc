// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/rule_table.h"

#include "base/check.h"

namespace coua::pipeline {

rule_table::entry* rule_table::find(std::uint16_t priority, const match& what) {
  const auto at = entries_.find(wanted{priority, what});
  return at == entries_.end() ? nullptr : at->get();
}

const rule_table::entry* rule_table::find(std::uint16_t priority, const match& what) const {
  const auto at = entries_.find(wanted{priority, what});
  return at == entries_.end() ? nullptr : at->get();
}

rule_table::entry& rule_table::insert(rule_ptr one, const rule_state& state) {
  COUA_ASSERT(find(one->priority, one->match) == nullptr);
  auto made = std::make_unique<entry>(entry{std::move(one), state});
  entry& added = *made;
  std::vector<entry*>& list = by_priority_[added.rule->priority];
  added.place = list.size();
  list.push_back(&added);
  entries_.insert(std::move(made));
  return added;
}

void rule_table::erase(entry& gone) {
  const auto list = by_priority_.find(gone.rule->priority);
  list->second[gone.place] = list->second.back();
  list->second[gone.place]->place = gone.place;
  list->second.pop_back();
  if (list->second.empty()) by_priority_.erase(list);
  entries_.erase(entries_.find(wanted{gone.rule->priority, gone.rule->match}));
}

const rule_table::entry* rule_table::find_overlap(std::uint16_t priority, const match& what) const {
  const auto list = by_priority_.find(priority);
  if (list == by_priority_.end()) return nullptr;
  for (const entry* one : list->second) {
    if (one->rule->match.overlaps(what)) return one;
  }
  return nullptr;
}

const rule_table::entry* rule_table::look_up(const field_values& packet) const {
  for (const auto& [priority, list] : by_priority_) {
    const entry* best = nullptr;
    for (const entry* one : list) {
      if (one->rule->match.matches(packet) && (best == nullptr || one->rule->id < best->rule->id)) {
        best = one;
      }
    }
    if (best != nullptr) return best;
  }
  return nullptr;
}

}  // namespace coua::pipeline
