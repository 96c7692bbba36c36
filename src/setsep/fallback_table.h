// SPDX-License-Identifier: Apache-2.0
//
// The keys of groups that no function separates, in full: open addressing with linear probes, one
// writer, lock-free readers. An entry never moves within an array; a new array takes the place of
// one that is full, which is freed when no reader can be in it any more (base/reclaimer.h).
//
// A reader that overlaps with the writer may miss a key, or find one that goes. That is decided by
// the versions of the blocks (table.h): entries come before their group says that it failed, and go
// after it says so no more.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/reclaimer.h"
#include "setsep/keyed_value.h"

namespace coua::setsep {

class fallback_table {
 public:
  fallback_table();
  ~fallback_table();
  fallback_table(const fallback_table&) = delete;
  fallback_table& operator=(const fallback_table&) = delete;

  /// The value, or -1. Any thread.
  int find(const key_hash& hash) const noexcept;

  // Writer. `retired`: null while there are no readers.
  /// put() of `n` more entries takes no memory then. Throws bad_alloc; nothing has changed.
  void reserve(std::size_t n, reclaimer* retired);
  /// Throws bad_alloc, where there is no room for it; nothing has changed.
  void put(const keyed_value& entry, reclaimer* retired);
  void drop(const key_hash& hash) noexcept;
  std::uint64_t size() const noexcept { return n_; }
  /// Sorted.
  std::vector<keyed_value> entries() const;
  std::uint64_t bytes() const noexcept;

 private:
  struct slot {
    std::uint64_t high = 0, low = 0;
    std::uint64_t state = 0;  // empty, gone, or the value and `used`
  };
  struct array {
    explicit array(std::size_t n) : slots(n) {}
    std::vector<slot> slots;  // a power of two
  };
  static constexpr std::uint64_t empty = 0, gone = 1, used = std::uint64_t{1} << 32;

  static std::size_t home(const array& in, const key_hash& hash) noexcept;
  slot* look_for(const key_hash& hash) noexcept;
  void rebuild(std::size_t n_slots, reclaimer* retired);

  array* now_;                 // owned
  std::uint64_t n_ = 0;        // entries
  std::uint64_t n_taken_ = 0;  // slots that are not empty
};

}  // namespace coua::setsep
