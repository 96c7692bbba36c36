// SPDX-License-Identifier: Apache-2.0
//
// Filters forget no single entry: bits stay until the last entry that a filter stands for has come
// home or gone. Under churn at high load that takes long, and false positives become more. So the
// sweep builds filters anew, those of a window of buckets at a time, in 9 bytes for each, and puts
// each in place when it comes to its bucket. Then the next window follows, which begins where this
// one ends: with a window of a twentieth of the table, 21 rounds renew all filters.
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
//
// A window of the whole table is renewed in each round: a filter that is done begins again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/arena.h"
#include "base/prefetch.h"
#include "simd/flow_lookup/policies.h"

namespace coua {

template <class Prune>
class filter_repair {
 public:
  /// The word, and the number of guests: 255 for 255 or more.
  using filter = std::pair<std::uint64_t, std::uint64_t>;

  /// `memory`: 9 bytes for each bucket of the window, zeroed. No window: there are no filters.
  filter_repair(std::uint64_t n_buckets, std::uint64_t window, arena memory)
      : n_buckets_(n_buckets),
        window_(window),
        memory_(std::move(memory)),
        words_(static_cast<std::uint64_t*>(memory_.data())),
        n_guests_(reinterpret_cast<std::uint8_t*>(words_ + window)) {}

  std::uint64_t bytes() const { return memory_.bytes_mapped(); }

  void fetch(std::uint64_t home) const {
    if (home - start_ < window_) prefetch_to_write(words_ + (home - start_));
  }

  /// A guest came to `bucket`, while the sweep is at `position`.
  void note(std::uint64_t home, std::uint64_t bucket, std::uint64_t position,
            simd::fingerprint print, unsigned via) {
    if (is_passed(home, bucket, position)) see(home, position, print, via);
  }
  /// The sweep, which is at `position`, sees a guest there.
  void see(std::uint64_t home, std::uint64_t position, simd::fingerprint print, unsigned via) {
    if (!is_built(home, position)) return;
    const std::uint64_t i = home - start_;
    words_[i] = Prune::with(words_[i], print, via);
    if (n_guests_[i] != saturated) ++n_guests_[i];
  }
  /// A guest left `bucket`.
  void forget(std::uint64_t home, std::uint64_t bucket, std::uint64_t position) {
    if (!is_built(home, position) || !is_passed(home, bucket, position)) return;
    const std::uint64_t i = home - start_;
    if (n_guests_[i] != saturated) --n_guests_[i];
  }
  /// The filter of `home` was emptied: nothing is away from there.
  void empty(std::uint64_t home) {
    if (home - start_ < window_) words_[home - start_] = n_guests_[home - start_] = 0;
  }

  /// The sweep came to `home`: its filter, if one is done.
  std::optional<filter> arrive(std::uint64_t home) {
    if (window_ != n_buckets_) {
      if (is_ending_ && home == end()) {
        start_ = home;
        is_ending_ = false;
      } else if (!is_ending_ && home == start_) {
        is_ending_ = true;
      }
    }
    if (home - start_ >= window_) return std::nullopt;
    const filter done(words_[home - start_], n_guests_[home - start_]);
    empty(home);
    if (!is_ending_) return std::nullopt;  // it begins
    return done;
  }

 private:
  static constexpr std::uint8_t saturated = 255;

  /// The first bucket of the next window.
  std::uint64_t end() const { return start_ + window_ < n_buckets_ ? start_ + window_ : 0; }
  /// Its filter has begun, and is not done.
  bool is_built(std::uint64_t home, std::uint64_t position) const {
    if (home - start_ >= window_) return false;
    if (window_ == n_buckets_) return true;
    // The sweep is in the window, or behind it, or before it in the next round.
    return is_ending_ ? home > position : home <= position || position < start_;
  }
  static bool is_passed(std::uint64_t home, std::uint64_t bucket, std::uint64_t position) {
    if (home <= position) return bucket >= home && bucket < position;
    return bucket >= home || bucket < position;
  }

  std::uint64_t n_buckets_, window_;
  arena memory_;
  std::uint64_t* words_;  // of the window, and so are the guests
  std::uint8_t* n_guests_;
  std::uint64_t start_ = 0;  // of the window
  // The sweep comes through the window for the second time. The first window has begun with the
  // table.
  bool is_ending_ = true;
};

}  // namespace coua
