// SPDX-License-Identifier: Apache-2.0
//
// Iteration over a table that changes between the steps. A cursor walks the buckets in order; the
// writer tells it of every move, so that an entry that stays in the table is returned exactly once:
//
//   a move from a bucket still to come to one already visited   the key goes to `late_`
//   a move from a visited bucket to one still to come           the key goes to `seen_`
//
// Both sets stay as small as the number of such moves while the cursor is open.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>

#include "table/fib.h"

namespace coua {

class fib_cursor {
 public:
  explicit fib_cursor(fib& table);
  ~fib_cursor();
  fib_cursor(const fib_cursor&) = delete;
  fib_cursor& operator=(const fib_cursor&) = delete;

  /// Fills up to `records.size()` (at least 8) records, and looks at no more than `max_buckets`.
  /// Fewer, or none, does not mean the end: at_end() does.
  std::size_t next(std::span<coua_fib_record> records, std::uint64_t max_buckets = UINT64_MAX);
  bool at_end() const;

  /// The writer moved an entry.
  void on_move(std::uint64_t key, std::uint64_t from, std::uint64_t to);

  /// Share of the buckets already visited.
  double progress() const;

 private:
  fib& table_;
  std::uint64_t position_ = 0;  // next bucket to visit
  std::unordered_set<std::uint64_t> late_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace coua
