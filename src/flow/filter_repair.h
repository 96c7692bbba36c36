// SPDX-License-Identifier: Apache-2.0
//
// Filters forget no single entry: bits stay until the last entry that a filter stands for has come
// home or gone. Under churn at high load that takes long, and false positives become more. So the
// sweep builds every filter anew, in 9 bytes a bucket, and puts it in place when it comes to its
// bucket: once a round, a bucket at a time.
//
// A new filter begins empty when the sweep comes to its bucket `home`, and is done when the sweep
// comes there again. In between the sweep sees every guest of the table once. A guest stays where
// it is until it goes home or is erased, and if it comes back it is added again. So the guests of
// `home` are, when the sweep is there again, those that were
//   seen by the sweep, or added to a bucket that it has passed since it was at `home`,
//   less those that left such a bucket.
// Their number is exact. Their filter may hold bits of guests that left since they were seen.
// (The first round begins with an empty table, where all buckets may count as passed.)
//
//   buckets      0 ...... home ...... position ...... n      passed since: home to position
//   buckets      0 ... position ........... home .... n      passed since: all but position to home
#pragma once

#include <cstdint>
#include <utility>

#include "base/arena.h"
#include "base/prefetch.h"
#include "simd/flow_lookup/policies.h"

namespace coua {

template <class Prune>
class filter_repair {
 public:
  /// `memory`: 9 bytes for each bucket, zeroed; none where there are no filters.
  filter_repair(std::uint64_t n_buckets, arena memory)
      : memory_(std::move(memory)),
        words_(static_cast<std::uint64_t*>(memory_.data())),
        n_guests_(reinterpret_cast<std::uint8_t*>(words_ + n_buckets)) {}

  std::uint64_t bytes() const { return memory_.bytes_mapped(); }

  void fetch(std::uint64_t home) const { prefetch_to_write(words_ + home); }

  /// A guest came to `bucket`, while the sweep is at `position`.
  void note(std::uint64_t home, std::uint64_t bucket, std::uint64_t position,
            simd::fingerprint print, unsigned via) {
    if (is_passed(home, bucket, position)) see(home, print, via);
  }
  /// The sweep sees a guest.
  void see(std::uint64_t home, simd::fingerprint print, unsigned via) {
    words_[home] = Prune::with(words_[home], print, via);
    if (n_guests_[home] != saturated) ++n_guests_[home];
  }
  /// A guest left `bucket`.
  void forget(std::uint64_t home, std::uint64_t bucket, std::uint64_t position) {
    if (is_passed(home, bucket, position) && n_guests_[home] != saturated) --n_guests_[home];
  }
  /// The filter of `home` was emptied: nothing is away from there.
  void empty(std::uint64_t home) { words_[home] = n_guests_[home] = 0; }

  /// The sweep came to `home`: its filter and the number of its guests, 255 for 255 or more. The
  /// next one begins.
  std::pair<std::uint64_t, std::uint64_t> take(std::uint64_t home) {
    const std::pair<std::uint64_t, std::uint64_t> done(words_[home], n_guests_[home]);
    empty(home);
    return done;
  }

 private:
  static constexpr std::uint8_t saturated = 255;

  static bool is_passed(std::uint64_t home, std::uint64_t bucket, std::uint64_t position) {
    if (home <= position) return bucket >= home && bucket < position;
    return bucket >= home || bucket < position;
  }

  arena memory_;
  std::uint64_t* words_;
  std::uint8_t* n_guests_;
};

}  // namespace coua
