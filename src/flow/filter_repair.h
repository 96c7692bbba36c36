// SPDX-License-Identifier: Apache-2.0
//
// Filters forget no single entry: bits stay until the last entry that a filter stands for has come
// home or gone. Under churn at high load that may take long for some, and false positives become
// more. So each full sweep also builds the filters of a window of buckets anew; 16 sweeps renew
// all. That costs 9 bytes for 16 buckets.
//
// A sweep sees every guest of the table once. A guest stays where it is until it goes home or is
// erased, and if it comes back it is added again. So the guests of a bucket of the window, at the
// end of the sweep, are those that were
//   seen by the sweep, or added behind it (to a bucket that the sweep has passed),
//   less those that left a bucket behind it.
// Their number is exact. Their filter may hold bits of guests that left since they were seen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simd/flow_lookup/policies.h"

namespace coua {

template <class Prune>
class filter_repair {
 public:
  explicit filter_repair(std::uint64_t n_buckets)
      : n_buckets_(n_buckets),
        window_(std::min(n_buckets, std::max(n_buckets / 16, std::uint64_t{64}))),
        words_(window_),
        n_guests_(window_) {}

  std::uint64_t bytes() const { return window_ * (sizeof words_[0] + sizeof n_guests_[0]); }

  /// A guest at a bucket that the sweep is passing or has passed.
  void note(std::uint64_t home, simd::fingerprint print, unsigned via) {
    const std::uint64_t i = home - start_;
    if (i >= window_) return;
    words_[i] = Prune::with(words_[i], print, via);
    if (n_guests_[i] != saturated) ++n_guests_[i];
  }
  /// A guest left a bucket that the sweep has passed.
  void forget(std::uint64_t home) {
    const std::uint64_t i = home - start_;
    if (i < window_ && n_guests_[i] != saturated) --n_guests_[i];
  }
  /// The filter of `home` was emptied: nothing is away from there.
  void empty(std::uint64_t home) {
    if (home - start_ < window_) words_[home - start_] = n_guests_[home - start_] = 0;
  }

  /// At the end of a sweep: `install(home, word, n_guests)` for each bucket of the window; then the
  /// next window. 255 guests are 255 or more.
  template <typename Install>
  void finish(Install install) {
    const std::uint64_t end = std::min(n_buckets_, start_ + window_);
    for (std::uint64_t home = start_; home < end; ++home) {
      install(home, words_[home - start_], n_guests_[home - start_]);
    }
    restart();
    start_ = end == n_buckets_ ? 0 : end;
  }
  /// The sweep starts again without having reached the end.
  void restart() {
    std::fill(words_.begin(), words_.end(), 0);
    std::fill(n_guests_.begin(), n_guests_.end(), 0);
  }

 private:
  static constexpr std::uint8_t saturated = 255;
  const std::uint64_t n_buckets_;
  const std::uint64_t window_;
  std::uint64_t start_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint8_t> n_guests_;
};

}  // namespace coua
