// SPDX-License-Identifier: Apache-2.0
//
// Secret keys for hashes. Each table draws its own: who sends packets must not know which of them
// meet in one bucket.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace coua {

using hash_key = std::array<std::uint8_t, 32>;

/// Fills `bytes` from the kernel's random generator; waits at boot until it is seeded.
/// Errors: io. Any thread.
result<void> fill_random(std::span<std::uint8_t> bytes);

/// 32 fresh random bytes. Errors: io. Any thread.
result<hash_key> draw_hash_key();

}  // namespace coua
