// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_cursor.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace coua {

flow_cursor::flow_cursor(flow_table& table, moved_keys moved)
    : table_(table), moved_(std::move(moved)) {
  table_.cursors_.push_back(this);
}

flow_cursor::~flow_cursor() { std::erase(table_.cursors_, this); }

/// Of the bits that the buckets are not taken from: keys on one side of a cursor share those.
std::uint32_t flow_cursor::hash(const std::uint64_t* key) const noexcept {
  return static_cast<std::uint32_t>((*table_.view().hash)(key, table_.view().key_words));
}

void flow_cursor::on_move(const std::uint64_t* key, std::uint64_t from, std::uint64_t to) noexcept {
  using kind = moved_keys::kind;
  const bool was_visited = from < position_, is_visited = to < position_;
  if (lost_ || was_visited == is_visited) return;
  const kind now = is_visited ? kind::late : kind::seen;
  const kind back = is_visited ? kind::seen : kind::late;
  const std::uint32_t place = hash(key);
  if (!moved_.erase(key, place, back)) lost_ = !moved_.add(key, place, now);
}

void flow_cursor::on_leave(const std::uint64_t* key) noexcept {
  using kind = moved_keys::kind;
  if (moved_.n_late() + moved_.n_seen() == 0) return;
  const std::uint32_t place = hash(key);
  if (!moved_.erase(key, place, kind::seen)) moved_.erase(key, place, kind::late);
}

bool flow_cursor::at_end() const {
  return !lost_ && position_ == table_.geometry().n_buckets && moved_.n_late() == 0;
}

std::size_t flow_cursor::next(std::uint8_t* keys, std::uint8_t* values, std::uint32_t* units,
                              std::size_t max, std::uint64_t max_buckets) {
  constexpr unsigned n_slots = simd::flow_line::n_slots;
  COUA_ASSERT(max >= n_slots && !lost_);
  const flow_geometry& geometry = table_.geometry();
  std::size_t n = 0;
  const auto give = [&](const flow_table::seen_entry& entry) {
    std::memcpy(keys + n * geometry.key_stride, entry.words, geometry.key_bytes);
    if (values != nullptr) {
      std::memcpy(values + n * geometry.value_stride, entry.words + geometry.key_words(),
                  geometry.value_bytes);
    }
    if (units != nullptr) units[n] = entry.units_left;
    ++n;
  };

  flow_table::seen_entry entries[n_slots];
  std::uint64_t key[keyed_hash::max_words];
  while (n < max && moved_.take_late(key)) {
    if (table_.find(reinterpret_cast<const std::uint8_t*>(key), entries[0])) give(entries[0]);
  }
  const std::uint64_t end = position_ + std::min(geometry.n_buckets - position_, max_buckets);
  for (; n + n_slots <= max && position_ < end; ++position_) {
    const unsigned n_read = table_.read_bucket(position_, entries);
    for (unsigned i = 0; i < n_read; ++i) {
      const std::uint64_t* words = entries[i].words;
      if (moved_.n_seen() != 0 && moved_.erase(words, hash(words), moved_keys::kind::seen)) {
        continue;
      }
      give(entries[i]);
    }
  }
  return n;
}

}  // namespace coua
