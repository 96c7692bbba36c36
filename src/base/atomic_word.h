// SPDX-License-Identifier: Apache-2.0
//
// Plain words in plain memory, read and written atomically. Tables live in raw memory that an arena
// gives out, so their words are not std::atomic objects; these are the accesses that tables use.
// On x86 each but the exchange is one plain instruction.
//
// The compiler's builtins are used instead of std::atomic_ref because they are always inlined: the
// look-up kernels are compiled with different instruction sets, and an out-of-line copy of a
// library template compiled for AVX-512 must not end up serving a machine without it.
#pragma once

#include <cstdint>

namespace coua {

template <typename Word>
[[gnu::always_inline]] inline Word load_acquire(const Word* word) noexcept {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
template <typename Word>
[[gnu::always_inline]] inline Word load_relaxed(const Word* word) noexcept {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
template <typename Word>
[[gnu::always_inline]] inline void store_release(Word* word, Word value) noexcept {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
template <typename Word>
[[gnu::always_inline]] inline void store_relaxed(Word* word, Word value) noexcept {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
/// Of a word that only this thread writes. Relaxed: others see the one before or the new one.
template <typename Word>
[[gnu::always_inline]] inline void add_relaxed(Word* word, Word by) noexcept {
#if defined(__x86_64__) && !defined(COUA_SANITIZED)
  // An atomic load and an atomic store stay apart in what compilers make of them; this is one
  // instruction, and as whole to other threads as the two are, because it needs no lock for that.
  static_assert(sizeof(Word) == 8);
  __asm__("addq %1, %0" : "+m"(*word) : "re"(by) : "cc");
#else
  store_relaxed(word, static_cast<Word>(load_relaxed(word) + by));
#endif
}
/// True when `word` held `expected` and now holds `desired`. Release on success.
template <typename Word>
[[gnu::always_inline]] inline bool exchange_if(Word* word, Word expected, Word desired) noexcept {
  return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED);
}

}  // namespace coua
