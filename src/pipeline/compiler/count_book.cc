// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/count_book.h"

#include <iterator>

namespace coua::pipeline {

count_block::~count_block() {
  if (n_ != 0) of_.give_back(first_, n_);
}

result<count_book> count_book::create(unsigned n_workers, std::uint32_t n_max) {
  count_book made;
  made.n_max_ = n_max;
  for (unsigned i = 0; i < n_workers; ++i) {
    auto counts = worker_counts::create(n_max);
    if (!counts) return tl::unexpected(std::move(counts.error()));
    made.workers_.push_back(std::make_unique<worker_counts>(std::move(*counts)));
  }
  return made;
}

void count_book::add_range(std::uint32_t first, std::uint32_t n) {
  const auto next = ranges_.find(first + n);
  if (next != ranges_.end()) {
    n += next->second;
    by_length_.erase({next->second, next->first});
    ranges_.erase(next);
  }
  const auto behind = ranges_.lower_bound(first);
  if (behind != ranges_.begin()) {
    const auto before = std::prev(behind);
    if (before->first + before->second == first) {
      by_length_.erase({before->second, before->first});
      first = before->first;
      n += before->second;
    }
  }
  ranges_[first] = n;
  by_length_.insert({n, first});
}

std::uint32_t count_book::take_range(std::uint32_t n) {
  const auto at = by_length_.lower_bound({n, 0});
  if (at == by_length_.end()) return none;
  const auto [length, first] = *at;
  by_length_.erase(at);
  ranges_.erase(first);
  if (length > n) add_range(first + n, length - n);
  return first;
}

std::uint32_t count_book::take(std::uint32_t n) {
  std::uint32_t first = none;
  if (n == 1 && !singles_.empty()) {
    first = singles_.back();
    singles_.pop_back();
  } else if (n > 1) {
    first = take_range(n);
  }
  const auto n_given = static_cast<std::uint32_t>(seen_.size());
  if (first == none && n <= n_max_ - n_given) {
    seen_.resize(seen_.size() + n);
    for (const auto& worker : workers_) worker->reach(seen_.size());
    return n_given;
  }
  if (first == none) first = take_range(n);  // single ones, too, when all were given
  if (first == none) return none;
  n_free_ -= n;
  for (std::uint32_t i = 0; i < n; ++i) (void)news(first + i);
  return first;
}

void count_book::give_back(std::uint32_t first, std::uint32_t n) {
  n_free_ += n;
  if (n == 1) {
    singles_.push_back(first);
  } else {
    add_range(first, n);
  }
}

std::shared_ptr<const count_block> count_book::take_block(std::uint32_t n) {
  const std::uint32_t first = n == 0 ? 0 : take(n);
  return first == none ? nullptr : std::make_shared<count_block>(*this, first, n);
}

traffic count_book::news(std::uint32_t number) {
  traffic now;
  for (const auto& worker : workers_) now += worker->at(number);
  const traffic before = std::exchange(seen_[number], now);
  return {now.packets - before.packets, now.bytes - before.bytes};
}

worker_counts::table_cell count_book::news_of_table(table_id id) {
  worker_counts::table_cell now;
  for (const auto& worker : workers_) {
    const worker_counts::table_cell one = worker->table(id);
    now.lookups += one.lookups;
    now.matches += one.matches;
  }
  const worker_counts::table_cell before = std::exchange(seen_tables_[id], now);
  return {now.lookups - before.lookups, now.matches - before.matches};
}

}  // namespace coua::pipeline
