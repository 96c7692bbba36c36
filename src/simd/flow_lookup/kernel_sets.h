// SPDX-License-Identifier: Apache-2.0
//
// All combinations of policies and shapes, as an array indexed by variant, timers, sync and shape.
#pragma once

#include <type_traits>

#include "simd/flow_lookup/kernel_impl.h"

namespace coua::simd {
namespace {

enum flow_shapes { shape_2_2, shape_2, shape_5, shape_any, n_flow_shapes };

template <class Match>
struct flow_kernel_sets {
  static constexpr unsigned n = 4 * 2 * 2 * n_flow_shapes;
  static constexpr unsigned index(flow_kind kind, flow_shapes shape) {
    return ((static_cast<unsigned>(kind.variant) * 2 + kind.timed) * 2 +
            static_cast<unsigned>(kind.sync)) *
               n_flow_shapes +
           shape;
  }

  template <class Prune, class Expiry, class Sync>
  static constexpr void fill_shapes(std::array<flow_kernels, n>& sets, unsigned at) {
    sets[at + shape_2_2] = flow_kernel<Prune, Expiry, Sync, flow_shape<2, 2>, Match>::set();
    sets[at + shape_any] = flow_kernel<Prune, Expiry, Sync, flow_shape<0, 0>, Match>::set();
    // The variants that bloom is compared with are compared with keys and values of 16 bytes.
    sets[at + shape_2] = sets[at + shape_5] = sets[at + shape_any];
    if constexpr (std::is_same_v<Prune, bloom>) {
      sets[at + shape_2] = flow_kernel<Prune, Expiry, Sync, flow_shape<2, 0>, Match>::set();
      sets[at + shape_5] = flow_kernel<Prune, Expiry, Sync, flow_shape<5, 0>, Match>::set();
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
    fill_kinds<optimistic>(sets, flow_variant::optimistic);
    fill_kinds<pessimistic>(sets, flow_variant::pessimistic);
    fill_kinds<horton>(sets, flow_variant::horton);
    return sets;
  }
};

}  // namespace
}  // namespace coua::simd
