// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_cursor.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace coua {

flow_cursor::flow_cursor(flow_table& table) : table_(table) { table_.cursors_.push_back(this); }

flow_cursor::~flow_cursor() { std::erase(table_.cursors_, this); }

void flow_cursor::on_move(const std::uint64_t* key, std::uint64_t from, std::uint64_t to) {
  const std::string bytes(bytes_of(key));
  if (from >= position_ && to < position_) {
    if (seen_.erase(bytes) == 0) late_.insert(bytes);
  } else if (from < position_ && to >= position_) {
    if (late_.erase(bytes) == 0) seen_.insert(bytes);
  }
}

void flow_cursor::on_leave(const std::uint64_t* key) {
  if (seen_.empty() && late_.empty()) return;
  const std::string bytes(bytes_of(key));
  seen_.erase(bytes);
  late_.erase(bytes);
}

bool flow_cursor::at_end() const {
  return position_ == table_.geometry().n_buckets && late_.empty();
}

std::size_t flow_cursor::next(std::uint8_t* keys, std::uint8_t* values, std::uint32_t* units,
                              std::size_t max, std::uint64_t max_buckets) {
  constexpr unsigned n_slots = simd::flow_line::n_slots;
  COUA_ASSERT(max >= n_slots);
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
  while (n < max && !late_.empty()) {
    const std::string key = std::move(late_.extract(late_.begin()).value());
    if (table_.find(reinterpret_cast<const std::uint8_t*>(key.data()), entries[0])) {
      give(entries[0]);
    }
  }
  const std::uint64_t end = position_ + std::min(geometry.n_buckets - position_, max_buckets);
  for (; n + n_slots <= max && position_ < end; ++position_) {
    const unsigned n_read = table_.read_bucket(position_, entries);
    for (unsigned i = 0; i < n_read; ++i) {
      if (!seen_.empty() && seen_.erase(std::string(bytes_of(entries[i].words))) != 0) continue;
      give(entries[i]);
    }
  }
  return n;
}

}  // namespace coua
