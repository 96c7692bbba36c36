// SPDX-License-Identifier: Apache-2.0
#include "simd/flow_lookup/kernel_sets.h"
#include "simd/flow_lookup/sets.h"
#include "simd/flow_lookup/steps_avx512.h"

namespace coua::simd {
namespace {

template <class Prune, class Expiry, class Sync, class Shape>
using avx512_steps = flow_steps_avx512<Expiry, Sync, Shape>;

/// With Bloom filters only: the first variant.
using avx512_sets = flow_kernel_sets<avx512_steps, 1>;
constexpr auto flow_sets = avx512_sets::make();

}  // namespace

const flow_kernels& avx512_bloom_kernels(flow_kind kind, unsigned shape) {
  return flow_sets[avx512_sets::index(kind, static_cast<flow_shapes>(shape))];
}

}  // namespace coua::simd
