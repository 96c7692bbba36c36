// SPDX-License-Identifier: Apache-2.0
//
// Sizes of a flow table, from the public parameters.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "coua/flow_table.h"
#include "simd/flow_lookup/kernels.h"

namespace coua {

struct flow_geometry {
  std::uint64_t n_buckets = 0;
  std::uint32_t key_bytes = 0, value_bytes = 0;
  std::uint32_t key_stride = 0, value_stride = 0;
  simd::flow_kind kind;
  std::uint32_t unit_ms = 0;
  std::uint32_t n_slots = 0;  // used of each bucket
  std::uint32_t search_budget = 0;
  std::uint32_t filter_rounds = 1;
  coua_flow_expired expired = nullptr;
  void* expired_context = nullptr;
  std::uint64_t expired_ring = 0;  // entries; 0: none

  std::uint32_t key_words() const { return (key_bytes + 7) / 8; }
  std::uint32_t value_words() const { return (value_bytes + 7) / 8; }
  std::uint64_t line_bytes() const { return n_buckets * sizeof(simd::flow_line); }
  std::uint64_t entry_bytes() const {
    return n_buckets * simd::flow_line::n_slots * (key_words() + value_words()) * 8;
  }

  /// Of filters that are being rebuilt (filter_repair.h).
  std::uint64_t filter_bytes() const { return filter_window() * 9; }
  /// How many are at the same time; 0 in tables without filters.
  std::uint64_t filter_window() const {
    const bool filters =
        kind.variant == simd::flow_variant::bloom || kind.variant == simd::flow_variant::horton;
    return filters ? (n_buckets + filter_rounds - 1) / filter_rounds : 0;
  }

  /// Checks the parameters. Errors: invalid, with the parameter's name.
  static result<flow_geometry> plan(const coua_flow_params& params);
};

}  // namespace coua
