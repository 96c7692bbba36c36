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
                             std::unique_ptr<wildcard_table> made)
    : table_form(in, table_template::classifier, table), rules_(std::move(made)) {
  stage_.wildcard = rules_.get();
}

bool wildcard_form::takes(const match& what) const {
  return rules_->layout().words_of(what).has_value();
}

result<void> wildcard_form::add(const rule_ptr& one) {
  const std::uint32_t place = std::min(n_added_[one->priority]++, last_place);
  const std::uint32_t rank = std::uint32_t{one->priority} << 16 | (last_place - place);
  // There may be one that is not buried, in the last place.
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
