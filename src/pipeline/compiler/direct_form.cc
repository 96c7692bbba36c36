// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/direct_form.h"

#include <algorithm>

#include "base/check.h"

namespace coua::pipeline {

static_assert(key_words::max <= simd::direct_rules::max_words);

direct_form::~direct_form() = default;

std::vector<direct_form::entry>::iterator direct_form::find(rule_id id) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [id](const entry& one) { return !one.gone && one.rule->id == id; });
}

result<void> direct_form::put(entry& at, const result<record_id>& next) {
  if (!next) return tl::unexpected(next.error());
  in_.retire(at.head);
  at.head = *next;
  changed_ = true;
  return {};
}

result<void> direct_form::add(const rule_ptr& one) {
  const auto behind = std::find_if(entries_.begin(), entries_.end(), [&](const entry& other) {
    return other.rule->priority < one->priority;
  });
  const result<record_id> made = in_.make(*one, 0);
  if (!made) return tl::unexpected(made.error());
  entries_.insert(behind, {one, *made, false});
  n_rows_ += most_ways(one->match);
  changed_ = true;
  return {};
}

result<void> direct_form::replace(const rule_ptr& one) {
  entry& at = *find(one->id);
  at.rule = one;
  return put(at, in_.make(*one, at.head));
}

result<void> direct_form::remove(const rule_ptr& one) {
  entry& at = *find(one->id);
  if (auto good = put(at, in_.make_gone(at.head)); !good) return good;
  at.gone = true;
  in_.garbage.emplace_back([form = weak_from_this(), gone = at.head] {
    if (const auto there = form.lock()) there->bury(gone);
  });
  return {};
}

void direct_form::bury(record_id gone) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [gone](const entry& one) { return one.head == gone; });
  if (at == entries_.end()) return;
  entry kept = std::move(*at);
  const auto behind = entries_.erase(at);
  ++n_buried_;
  changed_ = true;
  if (finish()) {
    n_rows_ -= most_ways(kept.rule->match);
    in_.retire(gone);
  } else {
    entries_.insert(behind, std::move(kept));  // until the table is built anew: readers find it
  }
}

void direct_form::work_out_ways() {
  const auto work_out = [this](entry& one) {
    if (!one.ways.empty()) return true;
    auto ways = layout_.words_of(one.rule->match);
    if (ways) one.ways = std::move(*ways);
    return ways.has_value();
  };
  // One that has what nobody asks for any more costs each packet something.
  if (n_buried_ <= entries_.size() / 4 && std::all_of(entries_.begin(), entries_.end(), work_out))
    return;
  std::vector<match> matches;
  for (entry& one : entries_) {
    matches.push_back(one.rule->match);
    one.ways.clear();
  }
  layout_ = key_layout::of(matches);
  n_buried_ = 0;
  COUA_CHECK(std::all_of(entries_.begin(), entries_.end(), work_out));
}

static bool asks_for_port_at_most(const match& asked) {
  return std::all_of(asked.terms().begin(), asked.terms().end(),
                     [](const match_term& one) { return one.which == field::in_port; });
}

result<void> direct_form::finish() {
  if (!changed_) return {};
  changed_ = false;
  work_out_ways();
  auto made = std::make_unique<direct_table>();
  made->layout = layout_;
  made->n_rules = static_cast<unsigned>(entries_.size());
  made->heads = std::make_unique<std::atomic<record_id>[]>(entries_.size());
  std::vector<const key_words*> rows;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    made->heads[i].store(entries_[i].head, std::memory_order_relaxed);
    made->ranks.push_back(rank_of(*entries_[i].rule));
    for (const key_words& each : entries_[i].ways) {
      if (rows.size() == direct_table::rows_max) {
        return fail(errc::no_room, "table " + std::to_string(stage_.table),
                    "its rules, with those that are going, take too many rows");
      }
      made->rule_of[rows.size()] = static_cast<std::uint8_t>(i);
      rows.push_back(&each);
    }
  }
  made->is_of_port = made->layout.needs() == layer_needs() &&
                     std::all_of(entries_.begin(), entries_.end(), [](const entry& one) {
                       return asks_for_port_at_most(one.rule->match);
                     });
  made->n_rows = static_cast<unsigned>(rows.size());
  constexpr std::size_t group = simd::direct_rules::group;
  const std::size_t n_padded = (rows.size() + group - 1) / group * group;
  const std::size_t n_words = made->layout.n_words();
  made->values.assign(n_words * n_padded, simd::direct_rules::never);
  made->masks.assign(n_words * n_padded, 0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t w = 0; w < n_words; ++w) {
      made->values[w * n_padded + r] = rows[r]->value[w];
      made->masks[w * n_padded + r] = rows[r]->mask[w];
    }
  }
  made->rows = {static_cast<unsigned>(n_words), static_cast<unsigned>(n_padded),
                made->values.data(), made->masks.data()};
  stage_.direct.store(made.get(), std::memory_order_release);  // with look_up_direct
  if (table_ != nullptr) {
    in_.garbage.emplace_back([old = std::shared_ptr<const direct_table>(std::move(table_))] {});
  }
  table_ = std::move(made);
  return {};
}

void direct_form::retire() {
  for (const entry& one : entries_) in_.retire(one.head);
  entries_.clear();
}

std::uint64_t direct_form::bytes() const {
  return sizeof(direct_table) + table_->values.size() * 2 * sizeof(std::uint64_t);
}

}  // namespace coua::pipeline
