// SPDX-License-Identifier: Apache-2.0
//
// The numbers under which workers count (datapath/worker_counts.h), and what of their counts the
// model knows already. A number that is given back may go on to another thing, which then begins
// at nothing.
//
// Single numbers, most of them those of rules, are a stack. Numbers in a row are kept as ranges
// that grow together again, so that groups of other sizes find room where others were.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
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
  void give_back(std::uint32_t first, std::uint32_t n);
  /// How many are taken.
  std::size_t n_taken() const { return seen_.size() - n_free_; }

  /// The same as a thing, which the book outlives. Null: they are used up.
  std::shared_ptr<const count_block> take_block(std::uint32_t n);

  /// What was counted since the last time.
  traffic news(std::uint32_t number);
  worker_counts::table_cell news_of_table(table_id id);

 private:
  std::vector<std::unique_ptr<worker_counts>> workers_;
  std::vector<traffic> seen_;  // by number
  std::array<worker_counts::table_cell, std::size_t{table_max} + 1> seen_tables_{};
  /// Of the free ranges the smallest one that is long enough. none: there is none.
  std::uint32_t take_range(std::uint32_t n);
  void add_range(std::uint32_t first, std::uint32_t n);

  std::vector<std::uint32_t> singles_;                           // that are free
  std::map<std::uint32_t, std::uint32_t> ranges_;                // the others: first, how many
  std::set<std::pair<std::uint32_t, std::uint32_t>> by_length_;  // the same the other way round
  std::size_t n_free_ = 0;
  std::uint32_t n_max_ = 0;
};

}  // namespace coua::pipeline
