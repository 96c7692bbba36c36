// SPDX-License-Identifier: Apache-2.0
//
// Sorting what a bulk load puts by part of the table.
//
// In a table of many GiB, a random line costs a page walk that itself misses the caches: 25 ns
// each, however many are asked for. Within a part of 128 MiB the walks are answered from the
// caches, and a line costs 10 ns. So items are first kept in one array per region, written in
// order, and put when it is full: one region is worked on long enough that its walks are reused.
//
//   item -> region (top bits of its permuted key) -> [array 0] ... [array 63] -> put, when full
//
// A region must not be much smaller than what the caches know the pages of, nor there be more
// regions than the TLB has entries for arrays being written. Arrays of all threads together take
// 1/64 of the table; where that is less than what pays, or memory is short, items pass unsorted.
// Items of a region keep their order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace coua {

/// How many regions, and how many items each keeps.
struct region_plan {
  unsigned bits = 0;  // 0: items pass unsorted
  std::size_t capacity = 0;

  /// For `bytes` of table, filled by `threads` with items of `item_bytes`.
  static constexpr region_plan of(std::uint64_t bytes, unsigned threads, std::size_t item_bytes) {
    if (bytes < smallest_table) return {};
    const auto bits = static_cast<unsigned>(std::bit_width((bytes - 1) / region_bytes));
    region_plan plan{std::min(bits, max_bits), 0};
    plan.capacity = static_cast<std::size_t>(
        std::min<std::uint64_t>(max_capacity, (bytes / share / threads / item_bytes) >> plan.bits));
    return plan.capacity < min_capacity ? region_plan{} : plan;
  }

  static constexpr std::uint64_t smallest_table = std::uint64_t{1} << 30;
  static constexpr std::uint64_t region_bytes = std::uint64_t{1} << 27;
  static constexpr unsigned max_bits = 6;
  static constexpr std::uint64_t share = 64;  // of the table, for all threads
  static constexpr std::size_t min_capacity = 1024;
  static constexpr std::size_t max_capacity = 64 << 10;
};

/// One thread's arrays. `Item` is trivial.
template <typename Item>
class table_regions {
 public:
  explicit table_regions(const region_plan& plan) : bits_(plan.bits), capacity_(plan.capacity) {
    if (bits_ == 0) return;
    items_.reset(new (std::nothrow) Item[capacity_ << bits_]);
    if (items_ == nullptr) bits_ = 0;
    sizes_.resize(std::size_t{1} << bits_);
  }

  /// Keeps an item; `place` is where in the table it goes, as a share of 2^64. Calls put(item) for
  /// each of a region that is full now.
  template <typename Put>
  [[gnu::always_inline]] void add(std::uint64_t place, const Item& item, Put put) {
    if (bits_ == 0) return put(item);
    const std::size_t region = place >> (64 - bits_);
    items_[region * capacity_ + sizes_[region]] = item;
    if (++sizes_[region] == capacity_) empty(region, put);
  }

  /// Calls put(item) for all that are kept.
  template <typename Put>
  void finish(Put put) {
    for (std::size_t region = 0; bits_ != 0 && region < sizes_.size(); ++region) empty(region, put);
  }

 private:
  template <typename Put>
  [[gnu::noinline]] void empty(std::size_t region, Put put) {
    const Item* first = &items_[region * capacity_];
    for (std::size_t n = std::exchange(sizes_[region], 0); n > 0; --n) put(*first++);
  }

  unsigned bits_;
  std::size_t capacity_;
  std::unique_ptr<Item[]> items_;  // one array of `capacity_` per region
  std::vector<std::size_t> sizes_;
};

}  // namespace coua
