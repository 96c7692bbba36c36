// SPDX-License-Identifier: Apache-2.0
//
// What a table's readers count. Each reader writes counters of its own, in a state that only it
// touches, so counting costs no shared cache line; somebody who asks for statistics adds them up.
// The counts of readers that are gone stay in the sum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/atomic_word.h"

namespace coua {

/// `Counters` are members of `State`, written by its reader with store_relaxed(). Any thread.
template <class State, std::uint64_t State::*... Counters>
class reader_counts {
 public:
  using sums = std::array<std::uint64_t, sizeof...(Counters)>;

  void attach(const State* reader) {
    const std::lock_guard guard(mutex_);
    readers_.push_back(reader);
  }

  void detach(const State* reader) {
    const std::lock_guard guard(mutex_);
    add(gone_, *reader);
    std::erase(readers_, reader);
  }

  /// One sum for each of `Counters`, in their order.
  sums sum() const {
    const std::lock_guard guard(mutex_);
    sums all = gone_;
    for (const State* reader : readers_) add(all, *reader);
    return all;
  }

 private:
  static void add(sums& to, const State& reader) {
    std::size_t i = 0;
    ((to[i++] += load_relaxed(&(reader.*Counters))), ...);
  }

  mutable std::mutex mutex_;
  std::vector<const State*> readers_;
  sums gone_{};
};

}  // namespace coua
