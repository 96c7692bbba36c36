// SPDX-License-Identifier: Apache-2.0
//
// Whether a reader's distributor is worth asking. It costs about as much as looking into one
// subtable (docs/classifier.md), so what counts is how many it saves a look-up, where finding the
// candidates of a key counts as some (candidate_map.h):
//
//   on    subtables that plain search would have asked for the keys that matched, less those that
//         were asked
//   off   the same, as if each had been found by its hint
//
// taken over windows of some thousand look-ups, of which one group in eight is looked at. Keys that
// match nothing save nothing, with hints or without; nor does traffic whose rules are nearly all in
// the subtable that is ranked first, nor a classifier of one or two subtables.
//
// On needs more than off keeps: in between, it stays as it is. A distributor that goes off though
// it was expected to be worth its while (too many flows for its room, rules that need other masks
// asked as well) is given longer and longer pauses.
#pragma once

#include <algorithm>
#include <cstdint>

namespace coua {

class distributor_switch {
 public:
  static constexpr double on_above = 0.9, off_below = 0.6;  // subtables a look-up
  static constexpr std::uint64_t window = 1 << 13;          // look-ups
  static constexpr std::uint64_t sample = 8;                // one group in so many
  // Windows: what it is given to learn the flows before it is judged, and pauses after it failed.
  static constexpr unsigned fill_windows = 32, shortest_pause = 8, longest_pause = 1024;

  explicit distributor_switch(bool on) : on_(on) {}
  bool is_on() const noexcept { return on_; }
  std::uint64_t switches() const noexcept { return switches_; }
  double saved() const noexcept { return saved_; }

  /// Of a group that was looked at. True at the end of a window.
  bool count(std::uint64_t n_lookups, std::int64_t n_saved) noexcept {
    lookups_ += n_lookups;
    sum_ += n_saved;
    if (lookups_ < window / sample) return false;
    saved_ = static_cast<double>(sum_) / static_cast<double>(lookups_);
    lookups_ = 0;
    sum_ = 0;
    return true;
  }
  /// At the end of a window, of a reader that may choose.
  void decide() noexcept {
    if (on_ && filling_ > 0) {
      --filling_;
    } else if (on_ && saved_ < off_below) {
      turn(false);
      wait_ = pause_;
      pause_ = std::min(2 * pause_, longest_pause);
    } else if (on_) {
      pause_ = shortest_pause;
    } else if (wait_ > 0) {
      --wait_;
    } else if (saved_ > on_above) {
      turn(true);
      filling_ = fill_windows;
    }
  }

 private:
  void turn(bool on) noexcept {
    on_ = on;
    ++switches_;
  }

  bool on_;
  unsigned filling_ = 0, wait_ = 0, pause_ = shortest_pause;
  std::uint64_t lookups_ = 0, switches_ = 0;
  std::int64_t sum_ = 0;
  double saved_ = 0;
};

}  // namespace coua
