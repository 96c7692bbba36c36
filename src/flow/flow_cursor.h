// SPDX-License-Identifier: Apache-2.0
//
// Iteration over a table that changes between the steps, as table/fib_cursor.h does it: the cursor
// walks the buckets in order, and the writer tells it of every move, so that an entry that stays in
// the table is returned exactly once:
//
//   a move from a bucket still to come to one already visited   the key is remembered as late
//   a move from a visited bucket to one still to come           the key is remembered as seen
//
// A key is forgotten when the cursor comes to it, or when its entry leaves. There is room for a
// fixed number (moved_keys.h): a cursor that needs more is lost.
#pragma once

#include <cstdint>

#include "flow/flow_table.h"
#include "table/moved_keys.h"

namespace coua {

class flow_cursor {
 public:
  /// `moved` is for keys of the table's key_words().
  flow_cursor(flow_table& table, moved_keys moved);
  ~flow_cursor();
  flow_cursor(const flow_cursor&) = delete;
  flow_cursor& operator=(const flow_cursor&) = delete;

  /// Up to `max` (at least 8) entries of up to `max_buckets` buckets, to arrays of the table's
  /// strides; `values` and `units` may be null. Fewer, or none, does not mean the end: at_end()
  /// does. Not when it is lost().
  std::size_t next(std::uint8_t* keys, std::uint8_t* values, std::uint32_t* units, std::size_t max,
                   std::uint64_t max_buckets);
  bool at_end() const;

  /// More entries moved across it than it can remember: it can go on no more.
  bool lost() const { return lost_; }

  /// The writer moved the entry with this key.
  void on_move(const std::uint64_t* key, std::uint64_t from, std::uint64_t to) noexcept;
  /// The entry with this key left the table; one that comes later is another.
  void on_leave(const std::uint64_t* key) noexcept;

 private:
  std::uint32_t hash(const std::uint64_t* key) const noexcept;

  flow_table& table_;
  std::uint64_t position_ = 0;  // next bucket to visit
  moved_keys moved_;
  bool lost_ = false;
};

}  // namespace coua
