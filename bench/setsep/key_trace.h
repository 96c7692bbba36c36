// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/harness/population.h"
#include "setsep/key_hasher.h"

namespace coua::bench {

/// Keys that one thread asks for, again and again: as a table of set separation takes them, and as
/// one that has the keys does.
struct key_trace {
  std::vector<setsep::key_hash> hashes;
  std::vector<std::uint64_t> keys;  // and slack_keys more, the first ones again

  /// `n_keys` keys, `n_hashes` of them hashed, at random of those in the tables.
  key_trace(const population& people, const setsep::key_hasher& hasher, std::size_t n_keys,
            std::size_t n_hashes, std::uint64_t seed);
  std::uint64_t sum_of_values(const population& people, std::size_t n) const;
};

}  // namespace coua::bench
