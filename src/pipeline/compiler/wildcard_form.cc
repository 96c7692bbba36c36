// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/wildcard_form.h"

#include <algorithm>

namespace coua::pipeline {
namespace {

/// Of a priority. Rules that come later share it: of those of one priority that match a packet, any
/// may count then (docs/limits.md).
constexpr std::uint32_t last_place = 0xffff;

}  // namespace

wildcard_form::wildcard_form(compile_context& in, table_id table,
                             std::unique_ptr<wildcard_table> made, order within)
    : table_form(in, own_kind, table), rules_(std::move(made)), within_(within) {
  stage_.wildcard = rules_.get();
}

bool wildcard_form::takes(const match& what) const {
  return rules_->layout().words_of(what).has_value() && rules_->check(what).has_value();
}

/// Built anew, it has places for as many rules as are there at least.
bool wildcard_form::places::are_used_up() const {
  return n_added >= last_place && n_rules < last_place / 2;
}

bool wildcard_form::takes_quickly(const rule_mod& added, std::size_t n_changes) const {
  const auto of = places_.find(added.priority);
  const bool has_places = of == places_.end() || of->second.n_rules >= last_place / 2 ||
                          of->second.n_added + n_changes <= last_place;
  return has_places && takes(added.match);
}

result<std::uint32_t> wildcard_form::rank_of(const rule& one) {
  std::uint32_t place;
  if (within_ == order::by_age) {
    places& of = places_[one.priority];
    if (of.are_used_up()) {
      return fail(errc::no_room, one.match.to_string(), "its priority has no place left");
    }
    place = std::min(of.n_added, last_place);
    ++of.n_added;
    ++of.n_rules;
  } else {
    std::vector<std::pair<field, value128>> mask;
    for (const match_term& term : one.match.terms()) mask.emplace_back(term.which, term.mask);
    place = masks_.try_emplace(std::move(mask), static_cast<std::uint32_t>(masks_.size()))
                .first->second;
    if (place > last_place) {
      return fail(errc::no_room, one.match.to_string(), "too many different masks in one table");
    }
  }
  return std::uint32_t{one.priority} << 16 | (last_place - place);
}

result<void> wildcard_form::add(const rule_ptr& one) {
  const auto ranked = rank_of(*one);
  if (!ranked) return tl::unexpected(ranked.error());
  const std::uint32_t rank = *ranked;
  // There may be one that is not buried.
  const record_id before = rules_->head(one->match, rank);
  const result<record_id> made = in_.make(*one, before);
  if (!made) return tl::unexpected(made.error());
  if (before != 0) {
    (void)burials_.take(before);
    in_.retire(before);
  }
  entries_[one->id] = {rank, *made};
  return rules_->put(one->match, rank, *made);
}

result<void> wildcard_form::replace(const rule_ptr& one) {
  entry& at = entries_.at(one->id);
  const result<record_id> made = in_.make(*one, at.head);
  if (!made) return tl::unexpected(made.error());
  in_.retire(std::exchange(at.head, *made));
  return rules_->put(one->match, at.rank, at.head);
}

result<void> wildcard_form::remove(const rule_ptr& one) {
  const auto found = entries_.find(one->id);
  const entry at = found->second;
  const result<record_id> gone = in_.make_gone(at.head);
  if (!gone) return tl::unexpected(gone.error());
  entries_.erase(found);
  if (within_ == order::by_age) --places_.at(one->priority).n_rules;
  in_.retire(at.head);
  burials_.add(in_, *this, *gone, {one->match, at.rank});
  return rules_->put(one->match, at.rank, *gone);
}

void wildcard_form::bury(record_id gone) {
  const std::optional<grave> at = burials_.take(gone);
  if (!at) return;
  rules_->erase(at->what, at->rank);
  in_.retire(gone);
}

void wildcard_form::retire() {
  for (const auto& [id, one] : entries_) in_.retire(one.head);
  entries_.clear();
  for (const record_id each : burials_.clear()) in_.retire(each);
}

std::uint64_t wildcard_form::bytes() const {
  coua_classifier_stats stats{};
  stats.size = sizeof stats;
  rules_->rules().get_stats(stats);
  return stats.bytes;
}

}  // namespace coua::pipeline
