// SPDX-License-Identifier: Apache-2.0
#include "simd/flow_lookup/kernel_sets.h"
#include "simd/flow_lookup/probe_impl.h"
#include "simd/flow_lookup/sets.h"

namespace coua::simd {
namespace {

struct generic_pair_match {
  static constexpr const char* name = "generic";
  static constexpr std::size_t few_keys = 16;
  /// Bit i is set when slot i has this tag and, if Timed, is visible. Acquire, also for one
  /// thread, where it costs nothing.
  template <bool Timed>
  [[gnu::always_inline]] static std::uint32_t find(const flow_line& line, std::uint32_t tag,
                                                   std::uint64_t now) noexcept {
    std::uint32_t found = 0;
    for (unsigned i = 0; i < flow_line::n_slots; ++i) {
      const std::uint32_t pair = load_acquire(line.pairs + i);
      // Without timers, a pair is its tag.
      const bool nominated =
          Timed ? (pair & 0xffff) == tag && units_left(pair, now) != 0 : pair == tag;
      found |= std::uint32_t{nominated} << i;
    }
    return found;
  }
};

template <class Prune, class Expiry, class Sync, class Shape>
using generic_steps = flow_steps<Prune, Expiry, Sync, Shape, generic_pair_match>;

constexpr auto flow_sets = flow_kernel_sets<generic_steps>::make();

}  // namespace

const flow_kernels& generic_flow_kernels(flow_kind kind, unsigned shape) {
  return flow_sets[flow_kernel_sets<generic_steps>::index(kind, static_cast<flow_shapes>(shape))];
}

flow_probe_kernel generic_flow_probes() { return &flow_probes<generic_pair_match>::run; }

}  // namespace coua::simd
