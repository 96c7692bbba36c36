// SPDX-License-Identifier: Apache-2.0
//
// All combinations of policies and shapes, as an array indexed by variant, timers, sync and shape.
// `Steps` are those of an instruction set; it may have them for the first variants only.
//
// A shape turns numbers of the view into constants and changes nothing else. Sanitizers make
// so much code of each that builds with them (COUA_SANITIZED) have shape_any for all, and the
// others for bloom with timers and readers; builds without have all shapes, and pass the same
// tests.
#pragma once

#include <type_traits>

#include "simd/flow_lookup/kernel_impl.h"

namespace coua::simd {
namespace {

#if defined(COUA_SANITIZED)
inline constexpr bool all_shapes = false;
#else
inline constexpr bool all_shapes = true;
#endif

enum flow_shapes { shape_2_2, shape_2_1, shape_2, shape_5, shape_any, n_flow_shapes };

template <template <class Prune, class Expiry, class Sync, class Shape> class Steps,
          unsigned NVariants = 4>
struct flow_kernel_sets {
  static constexpr unsigned n = NVariants * 2 * 2 * n_flow_shapes;
  static constexpr unsigned index(flow_kind kind, flow_shapes shape) {
    return ((static_cast<unsigned>(kind.variant) * 2 + kind.timed) * 2 +
            static_cast<unsigned>(kind.sync)) *
               n_flow_shapes +
           shape;
  }

  template <class Prune, class Expiry, class Sync, class Shape>
  static constexpr flow_kernels kernels_of = flow_kernel<Steps<Prune, Expiry, Sync, Shape>>::set();

  template <class Prune, class Expiry, class Sync>
  static constexpr void fill_shapes(std::array<flow_kernels, n>& sets, unsigned at) {
    constexpr bool is_bloom = std::is_same_v<Prune, bloom>;
    sets[at + shape_any] = kernels_of<Prune, Expiry, Sync, flow_shape<0, 0>>;
    // The variants that bloom is compared with are compared with keys and values of 16 bytes.
    for (unsigned shape = 0; shape < n_flow_shapes; ++shape)
      sets[at + shape] = sets[at + shape_any];
    constexpr bool is_connections = is_bloom && Expiry::timed && Sync::concurrent;
    if constexpr (is_connections || all_shapes)
      sets[at + shape_2_2] = kernels_of<Prune, Expiry, Sync, flow_shape<2, 2>>;
    if constexpr (is_connections || (is_bloom && all_shapes)) {
      sets[at + shape_2_1] = kernels_of<Prune, Expiry, Sync, flow_shape<2, 1>>;
      sets[at + shape_2] = kernels_of<Prune, Expiry, Sync, flow_shape<2, 0>>;
      sets[at + shape_5] = kernels_of<Prune, Expiry, Sync, flow_shape<5, 0>>;
    }
  }
  template <class Prune>
  static constexpr void fill_kinds(std::array<flow_kernels, n>& sets, flow_variant variant) {
    using enum flow_sync;
    fill_shapes<Prune, no_expiry, coua::simd::single>(sets,
                                                      index({variant, false, single}, shape_2_2));
    fill_shapes<Prune, no_expiry, coua::simd::one_writer>(
        sets, index({variant, false, one_writer}, shape_2_2));
    fill_shapes<Prune, timer, coua::simd::single>(sets, index({variant, true, single}, shape_2_2));
    fill_shapes<Prune, timer, coua::simd::one_writer>(
        sets, index({variant, true, one_writer}, shape_2_2));
  }
  static constexpr std::array<flow_kernels, n> make() {
    std::array<flow_kernels, n> sets{};
    fill_kinds<bloom>(sets, flow_variant::bloom);
    if constexpr (NVariants > 1) {
      fill_kinds<optimistic>(sets, flow_variant::optimistic);
      fill_kinds<pessimistic>(sets, flow_variant::pessimistic);
      fill_kinds<horton>(sets, flow_variant::horton);
    }
    return sets;
  }
};

}  // namespace
}  // namespace coua::simd
