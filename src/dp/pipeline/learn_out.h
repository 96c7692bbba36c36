// SPDX-License-Identifier: Apache-2.0
//
// What packets leave behind (pipeline/model/learn.h), on its way from a worker to the thread that
// owns the pipeline. Every packet of a flow asks for its rule again, until the rule that is there
// leads it elsewhere, or for ever: a worker says the same once in half a second. So the hard
// time-out of a rule starts again half a second late at most, and a rule that was removed comes
// back as late.
//
// A full ring refuses, and the worker counts it; the next packet asks again. Workers' rings have no
// order among them: of a host that is at two workers' ports within a millisecond, either may be the
// last.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/spsc_ring.h"
#include "pipeline/datapath/learning.h"

namespace coua::dp {

class learn_out {
 public:
  /// `hold_cycles`: how long a repeat says nothing.
  explicit learn_out(std::uint64_t hold_cycles) : hold_(hold_cycles), recent_(n_recent) {}

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

 private:
  // Direct-mapped: what shares a place pushes the other out, which costs repeats only.
  static constexpr std::size_t n_recent = 256;
  struct told {
    std::uint64_t at = 0;
    pipeline::learned_values what;  // id 0: nothing yet
  };

  const std::uint64_t hold_;
  std::vector<told> recent_;
  spsc_ring<pipeline::learned_values> ring_{512};
  std::atomic<std::uint64_t> n_full_{0};
};

}  // namespace coua::dp
