// SPDX-License-Identifier: Apache-2.0
#include "table/fib_cursor.h"

#include <algorithm>

#include "base/check.h"

namespace coua {

/// The permutation alone would crowd them: keys on one side of a cursor share their top bits.
std::uint32_t fib_cursor::hash(std::uint64_t key) const noexcept {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(table_.view().permutation.p(key) * golden >> 32);
}

fib_cursor::fib_cursor(fib& table, moved_keys moved, std::uint64_t first)
    : table_(table), position_(first), moved_(std::move(moved)) {
  table_.cursors_.push_back(this);
}

fib_cursor::~fib_cursor() { std::erase(table_.cursors_, this); }

void fib_cursor::on_move(std::uint64_t key, std::uint64_t from, std::uint64_t to) noexcept {
  using kind = moved_keys::kind;
  const bool was_visited = from < position_, is_visited = to < position_;
  if (lost_ || was_visited == is_visited) return;
  const kind now = is_visited ? kind::late : kind::seen;
  const kind back = is_visited ? kind::seen : kind::late;
  const std::uint32_t place = hash(key);
  if (!moved_.erase(&key, place, back)) lost_ = !moved_.add(&key, place, now);
}

bool fib_cursor::at_end() const {
  return !lost_ && position_ == table_.geometry().n_buckets && moved_.n_late() == 0;
}

std::size_t fib_cursor::next(std::span<coua_fib_record> records, std::uint64_t max_buckets) {
  COUA_ASSERT(records.size() >= 8 && !lost_);
  std::size_t n = 0;
  for (std::uint64_t key; n < records.size() && moved_.take_late(&key);)
    if (table_.find(key, records[n])) ++n;
  const unsigned n_slots = table_.geometry().n_slots();
  const std::uint64_t n_left = table_.geometry().n_buckets - position_;
  const std::uint64_t end = position_ + std::min(n_left, max_buckets);
  while (n + n_slots <= records.size() && position_ < end) {
    const std::size_t n_read = table_.read_bucket(position_, &records[n]);
    ++position_;
    if (moved_.n_seen() == 0) {
      n += n_read;
      continue;
    }
    const auto first = records.begin() + static_cast<std::ptrdiff_t>(n);
    const auto last = std::remove_if(
        first, first + static_cast<std::ptrdiff_t>(n_read),
        [&](const auto& r) { return moved_.erase(&r.key, hash(r.key), moved_keys::kind::seen); });
    n += static_cast<std::size_t>(last - first);
  }
  return n;
}

double fib_cursor::progress() const {
  return static_cast<double>(position_) / static_cast<double>(table_.geometry().n_buckets);
}

}  // namespace coua
