// SPDX-License-Identifier: Apache-2.0
//
// The keys that a cursor remembers because they moved across it (fib_cursor.h, flow_cursor.h). The
// writer adds them in the middle of an insert, so nothing is allocated there: room for a fixed
// number of keys is mapped when the cursor opens, and takes memory only where it is touched.
//
//   nodes_   a key's hash, its kind, and its neighbours: late keys are a list, so that one can be
//            taken without a search; free nodes are another. Nodes never used come after those
//            that were
//   keys_    of each node: 1 to 16 words
//   slots_   open addressing with linear probing, at most half full; a slot is the number of a node
//            plus 1. Erasing shifts back what follows, so there are no tombstones.
//
// The place of a key comes from the hash that the caller gives: one that depends on the table's
// secret, so that chosen keys do not collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/arena.h"
#include "base/result.h"

namespace coua {

class moved_keys {
 public:
  enum class kind : std::uint8_t { late, seen };
  /// Fewest and most keys that the set of a table has room for: 2 and 32 MiB of addresses with keys
  /// of one word, 9.5 and 152 MiB with keys of 16.
  static constexpr std::size_t least = std::size_t{1} << 16, most = std::size_t{1} << 20;

  /// For a table of that many slots. Errors: no_memory.
  static result<moved_keys> create(std::uint64_t table_slots, std::uint32_t key_words = 1);
  /// For `capacity` keys, a power of two up to `most`. Errors: no_memory.
  static result<moved_keys> with_room(std::size_t capacity, std::uint32_t key_words);

  /// A key is in the set once, as one kind: it may be there as that one already (the key left the
  /// table, and came and moved again), not as the other. False: there is no room.
  bool add(const std::uint64_t* key, std::uint32_t hash, kind as) noexcept;
  /// False: it was not there, or is of the other kind.
  bool erase(const std::uint64_t* key, std::uint32_t hash, kind as) noexcept;
  /// Takes some late key out; false: there is none.
  bool take_late(std::uint64_t* key) noexcept;

  std::size_t n_late() const noexcept { return n_late_; }
  std::size_t n_seen() const noexcept { return n_seen_; }
  std::size_t capacity() const noexcept { return (mask_ + 1) / 2; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct node {
    std::uint32_t hash;
    kind as;
    std::uint32_t before, after;  // in the list of late keys; after: also in that of free nodes
  };

  moved_keys(arena memory, std::size_t capacity, std::uint32_t key_words);
  std::uint64_t* key_of(std::uint32_t at) const noexcept { return keys_ + at * key_words_; }
  std::size_t home(std::uint32_t hash) const noexcept { return hash >> shift_; }
  std::size_t find(const std::uint64_t* key, std::uint32_t hash) const noexcept;  // or a free slot
  void remove(std::size_t slot) noexcept;
  void close_gap(std::size_t gap) noexcept;

  arena memory_;
  std::uint64_t* keys_;
  node* nodes_;
  std::uint32_t* slots_;
  std::size_t key_words_;
  std::size_t mask_;
  unsigned shift_;
  std::size_t n_late_ = 0, n_seen_ = 0;
  std::uint32_t n_used_ = 0;  // nodes that were ever used
  std::uint32_t free_ = none, late_ = none;
};

}  // namespace coua
