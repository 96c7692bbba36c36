// SPDX-License-Identifier: Apache-2.0
#include "table/fib_cursor.h"

#include <algorithm>

#include "base/check.h"

namespace coua {

fib_cursor::fib_cursor(fib& table) : table_(table) { table_.cursors_.push_back(this); }

fib_cursor::~fib_cursor() { std::erase(table_.cursors_, this); }

void fib_cursor::on_move(std::uint64_t key, std::uint64_t from, std::uint64_t to) {
  if (from >= position_ && to < position_) {
    if (seen_.erase(key) == 0) late_.insert(key);
  } else if (from < position_ && to >= position_) {
    if (late_.erase(key) == 0) seen_.insert(key);
  }
}

bool fib_cursor::at_end() const {
  return position_ == table_.geometry().n_buckets && late_.empty();
}

std::size_t fib_cursor::next(std::span<coua_fib_record> records, std::uint64_t max_buckets) {
  COUA_ASSERT(records.size() >= 8);
  std::size_t n = 0;
  while (n < records.size() && !late_.empty()) {
    const std::uint64_t key = *late_.begin();
    late_.erase(late_.begin());
    if (table_.find(key, records[n])) ++n;
  }
  const unsigned n_slots = table_.geometry().n_slots();
  const std::uint64_t n_left = table_.geometry().n_buckets - position_;
  const std::uint64_t end = position_ + std::min(n_left, max_buckets);
  while (n + n_slots <= records.size() && position_ < end) {
    const std::size_t n_read = table_.read_bucket(position_, &records[n]);
    ++position_;
    if (seen_.empty()) {
      n += n_read;
      continue;
    }
    const auto first = records.begin() + static_cast<std::ptrdiff_t>(n);
    const auto last = std::remove_if(first, first + static_cast<std::ptrdiff_t>(n_read),
                                     [&](const auto& r) { return seen_.erase(r.key) != 0; });
    n += static_cast<std::size_t>(last - first);
  }
  return n;
}

double fib_cursor::progress() const {
  return static_cast<double>(position_) / static_cast<double>(table_.geometry().n_buckets);
}

}  // namespace coua
