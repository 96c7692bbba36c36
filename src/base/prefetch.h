// SPDX-License-Identifier: Apache-2.0
//
// Asking for memory before it is needed. Not __builtin_prefetch alone: gcc takes a function that
// does nothing else for one without effect, and where it does not inline it, drops its calls. The
// empty statement is an effect that costs nothing.
#pragma once

namespace coua {

/// Into the first-level cache, to be written.
[[gnu::always_inline]] inline void prefetch_to_write(const void* memory) noexcept {
  __builtin_prefetch(memory, 1, 3);
  __asm__ volatile("");
}

/// Into the second-level cache. It has more buffers for lines on their way than the first, and
/// keeps them better where many are fetched ahead.
[[gnu::always_inline]] inline void prefetch_to_second_level(const void* memory) noexcept {
  __builtin_prefetch(memory, 0, 2);
  __asm__ volatile("");
}

}  // namespace coua
