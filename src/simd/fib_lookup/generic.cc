// SPDX-License-Identifier: Apache-2.0
#include "simd/fib_lookup/near_kernel.h"
#include "simd/fib_lookup/sets.h"

namespace coua::simd {
namespace {

struct generic_match {
  /// Bit i is set when slot i holds `want` under `mask`. Acquire: who sees a slot cleared by a move
  /// must see its stamps.
  template <class Layout>
  [[gnu::always_inline]] static std::uint32_t find(const std::uint64_t* bucket, std::uint64_t want,
                                                   std::uint64_t mask, Layout) noexcept {
    std::uint32_t found = 0;
    for (unsigned i = 0; i < Layout::n_slots; ++i) {
      found |= std::uint32_t{((load_acquire(bucket + i) ^ want) & mask) == 0} << i;
    }
    return found;
  }
};

// By distance, then by layout.
constexpr fib_kernels sets[] = {
    fib_kernel<generic_match, packed8>::set(isa::generic),
    fib_kernel<generic_match, packed4>::set(isa::generic),
    fib_kernel<generic_match, wide8>::set(isa::generic),
    near_kernel<generic_match, packed8>::set(isa::generic),
    near_kernel<generic_match, packed4>::set(isa::generic),
    near_kernel<generic_match, wide8>::set(isa::generic),
};

}  // namespace

const fib_kernels* generic_fib_kernels() { return sets; }

}  // namespace coua::simd
