// SPDX-License-Identifier: Apache-2.0
//
// For tests: memory that ends, and is counted. operator new is replaced, so that this is for one
// source of a program of its own.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace coua {

inline constexpr std::int64_t unlimited_memory = std::numeric_limits<std::int64_t>::max();

// Of all threads.
inline std::atomic<std::int64_t> n_allocations_left{unlimited_memory};
inline std::atomic<std::uint64_t> n_allocations{0};

inline void* take_memory(std::size_t bytes) noexcept {
  ++n_allocations;
  const bool is_left =
      n_allocations_left == unlimited_memory || n_allocations_left.fetch_sub(1) > 0;
  return is_left ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
}

/// Does `change` with memory for 0, 1, 2... allocations until it throws bad_alloc no more; `check`
/// after each time that it did. How often that was.
template <class Change, class Check>
unsigned with_too_little_memory(const Change& change, const Check& check) {
  for (unsigned n = 0;; ++n) {
    try {
      n_allocations_left = n;
      change();
      n_allocations_left = unlimited_memory;
      return n;
    } catch (const std::bad_alloc&) {
      n_allocations_left = unlimited_memory;
    }
    check();
    if (::testing::Test::HasFatalFailure()) return n;
  }
}

}  // namespace coua

// Out of line: gcc takes a delete that it sees through for one that does not fit.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = coua::take_memory(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// What does not throw is replaced too: else a sanitizer's new would meet this delete.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return coua::take_memory(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
