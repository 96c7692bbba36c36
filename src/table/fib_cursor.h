// SPDX-License-Identifier: Apache-2.0
//
// Iteration over a table that changes between the steps. A cursor walks the buckets in order; the
// writer tells it of every move, so that an entry that stays in the table is returned exactly once:
//
//   a move from a bucket still to come to one already visited   the key is remembered as late
//   a move from a visited bucket to one still to come           the key is remembered as seen
//
// A key is forgotten when the cursor comes to it. There is room for a fixed number (moved_keys.h):
// when it does not suffice, the cursor could leave out or repeat entries, and is lost. Its user
// learns that instead of a wrong answer, and begins again.
#pragma once

#include <cstdint>
#include <span>

#include "table/fib.h"
#include "table/moved_keys.h"

namespace coua {

class fib_cursor {
 public:
  /// `first`: the bucket to begin with, for tests of tables too large to be walked through.
  fib_cursor(fib& table, moved_keys moved, std::uint64_t first = 0);
  ~fib_cursor();
  fib_cursor(const fib_cursor&) = delete;
  fib_cursor& operator=(const fib_cursor&) = delete;

  /// Fills up to `records.size()` (at least 8) records, and looks at no more than `max_buckets`.
  /// Fewer, or none, does not mean the end: at_end() does. Not when it is lost().
  std::size_t next(std::span<coua_fib_record> records, std::uint64_t max_buckets = UINT64_MAX);
  bool at_end() const;

  /// More entries moved across it than it can remember: it can go on no more.
  bool lost() const { return lost_; }

  /// The writer moved an entry.
  void on_move(std::uint64_t key, std::uint64_t from, std::uint64_t to) noexcept;

  /// Share of the buckets already visited.
  double progress() const;

 private:
  std::uint32_t hash(std::uint64_t key) const noexcept;

  fib& table_;
  std::uint64_t position_;  // next bucket to visit
  moved_keys moved_;
  bool lost_ = false;
};

}  // namespace coua
