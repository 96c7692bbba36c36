// SPDX-License-Identifier: Apache-2.0
//
// Iteration over a table that changes between the steps, as table/fib_cursor.h does it: the cursor
// walks the buckets in order, and the writer tells it of every move, so that an entry that stays in
// the table is returned exactly once:
//
//   a move from a bucket still to come to one already visited   the key goes to `late_`
//   a move from a visited bucket to one still to come           the key goes to `seen_`
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "flow/flow_table.h"

namespace coua {

class flow_cursor {
 public:
  explicit flow_cursor(flow_table& table);
  ~flow_cursor();
  flow_cursor(const flow_cursor&) = delete;
  flow_cursor& operator=(const flow_cursor&) = delete;

  /// Up to `max` (at least 8) entries of up to `max_buckets` buckets, to arrays of the table's
  /// strides; `values` and `units` may be null. Fewer, or none, does not mean the end: at_end()
  /// does.
  std::size_t next(std::uint8_t* keys, std::uint8_t* values, std::uint32_t* units, std::size_t max,
                   std::uint64_t max_buckets);
  bool at_end() const;

  /// The writer moved the entry with this key.
  void on_move(const std::uint64_t* key, std::uint64_t from, std::uint64_t to);
  /// The entry with this key left the table; one that comes later is another.
  void on_leave(const std::uint64_t* key);

 private:
  std::string_view bytes_of(const std::uint64_t* key) const {
    return {reinterpret_cast<const char*>(key), table_.geometry().key_bytes};
  }

  flow_table& table_;
  std::uint64_t position_ = 0;  // next bucket to visit
  std::unordered_set<std::string> late_;
  std::unordered_set<std::string> seen_;
};

}  // namespace coua
