// SPDX-License-Identifier: Apache-2.0
//
// What a look-up needs to know of a flow table. Copied to every reader; constant but for what the
// pointers lead to.
#pragma once

#include "base/keyed_hash.h"
#include "simd/flow_lookup/line.h"

namespace coua::simd {

struct flow_view {
  const flow_line* lines = nullptr;
  const std::uint64_t* entries = nullptr;
  const keyed_hash* hash = nullptr;
  const std::uint64_t* now = nullptr;    // in units
  const std::uint64_t* moves = nullptr;  // of entries so far; for tables of one thread
  std::uint64_t n_buckets = 0;
  /// Lines and entries take no more than half of the second-level cache, so they stay there beside
  /// what else is in use: nothing is fetched ahead.
  bool is_small = false;
  std::uint32_t entry_words = 0;  // key_words + value_words
  std::uint32_t key_words = 0;
  std::uint32_t value_words = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t key_stride = 0;
  std::uint32_t value_stride = 0;
};

}  // namespace coua::simd
