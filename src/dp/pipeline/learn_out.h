// SPDX-License-Identifier: Apache-2.0
//
// What packets leave behind (pipeline/model/learn.h), on its way from a worker to the thread that
// owns the pipeline. Every packet of a flow asks for its rule again, until the rule that is there
// leads it elsewhere, or for ever: a worker says the same once in half a second. So the hard
// time-out of a rule starts again half a second late at most, and a rule that was removed comes
// back as late.
//
// The memory of what was said lately: 1,024 sets of 4 places, a cache line each.
//
//   values of the match --keyed hash--> set, tag of 16 bits
//   all other values    --keyed hash--> said
//
//   |  said | time, tag  |  said | time, tag  |  said | time, tag  |  said | time, tag  |
//
// A place keeps no values: two hashes with a secret key are the same by chance once in 2^64, which
// nobody can bring about. What takes the place of a rule, as of a host that moved, has another
// `said` under the same tag: it is news, pushes the old one out, and the old one is news after it.
// The lower 16 bits of the time are those of the tag, so a repeat is held back 65,536 cycles less
// than `hold_cycles`, and never longer. A fifth that comes to a full set pushes the oldest out,
// which costs a repeat (docs/limits.md). Pages of the memory that no rule's packets asked for are
// not there.
//
// A full ring refuses, and the worker counts it; the next packet asks again. Workers' rings have no
// order among them: of a host that is at two workers' ports within a millisecond, either may be the
// last.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/keyed_hash.h"
#include "base/reserved_array.h"
#include "base/spsc_ring.h"
#include "pipeline/datapath/learning.h"

namespace coua::dp {

class learn_out {
 public:
  /// `hold_cycles`: how long a repeat says nothing. `key`: secret.
  learn_out(std::uint64_t hold_cycles, const hash_key& key);

  // The worker.
  void tell(std::span<const pipeline::learned_values> learned, std::uint64_t now) noexcept;

  // The thread that owns the pipeline.
  /// Calls `call(values)` for each, up to so many that nobody else waits for the thread for long.
  template <class Call>
  void drain(Call call) {
    constexpr unsigned at_once = 128;
    pipeline::learned_values one;
    for (unsigned left = at_once; left > 0 && ring_.pop(one); --left) call(one);
  }

  /// Any thread: what the ring refused.
  std::uint64_t n_full() const noexcept { return n_full_.load(std::memory_order_relaxed); }

  static constexpr std::size_t ring_size = 512;

 private:
  static constexpr std::size_t n_sets = 1024, n_in_set = 4;
  static constexpr std::uint64_t tag_mask = 0xffff;
  struct place {
    std::uint64_t said = 0;
    std::uint64_t when = 0;  // above the tag; 0: nothing yet
  };
  struct alignas(64) set {
    place places[n_in_set];
  };
  static_assert(sizeof(set) == 64);

  /// Of the values whose bits `which` has, and of `start`.
  std::uint64_t hash_of(std::uint64_t start, const pipeline::learned_values& one,
                        std::uint32_t which) const noexcept;
  /// Where to note what is news; null: it is a repeat. Forgets what it takes the place of.
  place* find_place(std::uint64_t match, std::uint64_t said, std::uint64_t now) noexcept;

  const std::uint64_t hold_;
  const keyed_hash hash_;
  reserved_array<set> recent_;
  spsc_ring<pipeline::learned_values> ring_{ring_size};
  std::atomic<std::uint64_t> n_full_{0};
};

}  // namespace coua::dp
