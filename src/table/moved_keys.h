// SPDX-License-Identifier: Apache-2.0
//
// The keys that a cursor remembers because they moved across it (fib_cursor.h). The writer adds
// them in the middle of an insert, so nothing is allocated there: room for a fixed number of keys
// is mapped when the cursor opens, and takes memory only where it is touched.
//
//   slots_   open addressing with linear probing, at most half full; a word is the key, one
//            bit that says which of the two kinds it is, and one that is always set. Erasing
//            shifts back what follows, so there are no tombstones.
//   late_    the late keys in the order they came, so that one can be taken without a search.
//            A key that is late no more stays in it until it is taken, and is then passed over.
//
// The place of a key comes from the table's secret permutation: chosen addresses do not collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/arena.h"
#include "base/key_permutation.h"
#include "base/result.h"

namespace coua {

class moved_keys {
 public:
  enum class kind : std::uint8_t { late, seen };
  /// Fewest and most keys that a set may be made for: 1.5 MiB and 24 MiB of addresses.
  static constexpr std::size_t least = std::size_t{1} << 16, most = std::size_t{1} << 20;

  /// For a table of that many slots. Errors: no_memory.
  static result<moved_keys> create(std::uint64_t table_slots, const key_permutation& permutation);

  /// A key is in the set once, as one kind. False: there is no room.
  bool add(std::uint64_t key, kind as) noexcept;
  /// False: it was not there, or is of the other kind.
  bool erase(std::uint64_t key, kind as) noexcept;
  /// Takes some late key out; false: there is none.
  bool take_late(std::uint64_t& key) noexcept;

  std::size_t n_late() const noexcept { return n_late_; }
  std::size_t n_seen() const noexcept { return n_seen_; }
  std::size_t capacity() const noexcept { return (mask_ + 1) / 2; }

 private:
  moved_keys(arena memory, std::size_t capacity, const key_permutation& permutation);
  std::size_t home(std::uint64_t word) const noexcept;
  std::size_t find(std::uint64_t word) const noexcept;  // or the free slot where it would be
  void close_gap(std::size_t gap) noexcept;

  arena memory_;
  std::uint64_t* slots_;
  std::uint64_t* late_;
  std::size_t mask_;
  key_permutation permutation_;
  unsigned shift_;
  std::size_t n_late_ = 0, n_seen_ = 0;
  std::size_t n_listed_ = 0;  // in late_
};

}  // namespace coua
