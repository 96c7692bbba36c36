// SPDX-License-Identifier: Apache-2.0
//
// Look-ups in tables whose page tables are beyond the caches too, as those of a billion entries on
// a virtual machine: a pipeline of another shape, all else as for tables that are far.
//
// A prefetch whose address is not in the TLB does not retire before the page walk is done; that
// takes 50 ns where the page tables are in the third-level cache, 200 ns and more where they are in
// memory. What comes after it waits in the reorder buffer, so only as many walks are under way as
// there are fetches among some 300 instructions. Hence as few instructions as possible between
// fetches, and as many fetches as possible without anything else: keys are hashed as they come, and
// a block of 128 is fetched at once, together with the secondary buckets that an earlier one needs.
// In tables that are not so far, hashing between fetches is faster: there it is the lines that
// are waited for, not the walks (docs/fib.md).
#pragma once

#include "simd/fib_lookup/kernel_impl.h"

namespace coua::simd {
namespace {

template <class Match, class Layout>
struct remote_kernel {
  using far = fib_kernel<Match, Layout>;
  static constexpr fib_steps steps{128, 1, 1, true};

  static std::size_t pipeline(const fib_view& view, fib_reader_state& state,
                              const std::uint64_t* keys, std::size_t n,
                              std::uint32_t* entries) noexcept {
    return far::template run_pipeline<steps>(view, state, keys, n, entries);
  }
  static std::size_t drain(const fib_view& view, fib_reader_state& state,
                           std::uint32_t* entries) noexcept {
    return far::template run_drain<steps>(view, state, entries);
  }

  static constexpr fib_kernels set(isa instruction_set) {
    fib_kernels made = far::set(instruction_set);
    made.pipeline = &pipeline;
    made.drain = &drain;
    made.steps = steps;
    return made;
  }
};

}  // namespace
}  // namespace coua::simd
