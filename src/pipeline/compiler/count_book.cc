// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/count_book.h"

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

std::uint32_t count_book::take(std::uint32_t n) {
  std::uint32_t first = static_cast<std::uint32_t>(seen_.size());
  if (auto at = free_.find(n); at != free_.end() && !at->second.empty()) {
    first = at->second.back();
    at->second.pop_back();
    for (std::uint32_t i = 0; i < n; ++i) (void)news(first + i);
    return first;
  }
  if (n > n_max_ - first) return none;
  seen_.resize(seen_.size() + n);
  return first;
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
