// SPDX-License-Identifier: Apache-2.0
//
// The numbers under which workers count (datapath/worker_counts.h), and what of their counts the
// model knows already. A number that is given back may go on to another thing, which then begins
// at nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "pipeline/datapath/worker_counts.h"

namespace coua::pipeline {

class count_book;

/// Numbers in a row; they are given back with it, when no worker counts under them any more.
class count_block {
 public:
  count_block(count_book& of, std::uint32_t first, std::uint32_t n)
      : of_(of), first_(first), n_(n) {}
  ~count_block();
  count_block(const count_block&) = delete;
  count_block& operator=(const count_block&) = delete;

  std::uint32_t first() const { return first_; }
  std::uint32_t size() const { return n_; }

 private:
  count_book& of_;
  const std::uint32_t first_, n_;
};

class count_book {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Errors: no_memory.
  static result<count_book> create(unsigned n_workers, std::uint32_t n_max);

  worker_counts& of(unsigned worker) { return *workers_[worker]; }
  unsigned n_workers() const { return static_cast<unsigned>(workers_.size()); }

  /// The first of `n` numbers in a row; none: they are used up.
  std::uint32_t take(std::uint32_t n);
  /// No worker counts under them any more.
  void give_back(std::uint32_t first, std::uint32_t n) { free_[n].push_back(first); }

  /// The same as a thing, which the book outlives. Null: they are used up.
  std::shared_ptr<const count_block> take_block(std::uint32_t n);

  /// What was counted since the last time.
  traffic news(std::uint32_t number);
  worker_counts::table_cell news_of_table(table_id id);

 private:
  std::vector<std::unique_ptr<worker_counts>> workers_;
  std::vector<traffic> seen_;  // by number
  std::array<worker_counts::table_cell, std::size_t{table_max} + 1> seen_tables_{};
  std::map<std::uint32_t, std::vector<std::uint32_t>> free_;  // by how many in a row
  std::uint32_t n_max_ = 0;
};

}  // namespace coua::pipeline
