// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/harness/population.h"

namespace coua::bench {

/// What random words are for, so that a set and its flows do not come from the same ones.
enum class purpose : std::uint64_t { rules = 1, flows, trace };

/// A stream for each seed. (That of random_words for one seed is that for the seed before it, less
/// its first word.)
inline random_words seeded(std::uint64_t seed, purpose use) {
  const std::uint64_t word = random_words(seed)();
  return random_words(random_words(word ^ static_cast<std::uint64_t>(use))());
}

}  // namespace coua::bench
