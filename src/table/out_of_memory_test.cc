// SPDX-License-Identifier: Apache-2.0
//
// Memory ends at each place of a bulk load, one after the other, whatever thread wants it. A
// program of its own: operator new is replaced.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

#include "table/fib.h"

namespace {
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
std::atomic<std::int64_t> n_left{unlimited};
bool is_left() { return n_left.load() == unlimited || n_left.fetch_sub(1) > 0; }
}  // namespace

// Out of line: gcc takes a delete that it sees through for one that does not fit.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = is_left() ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// What does not throw is replaced too: else a sanitizer's new would meet this delete.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return is_left() ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace coua {
namespace {

constexpr unsigned n_threads = 4;
constexpr std::uint64_t keys_of_a_thread = 7'500;  // so many that some are put aside

/// Each thread gives keys of its own.
struct source {
  std::uint64_t n_given[n_threads] = {};

  static std::size_t next(void* context, unsigned thread, coua_fib_record* records,
                          std::size_t max) {
    std::uint64_t& n = static_cast<source*>(context)->n_given[thread];
    const std::size_t some = std::min<std::uint64_t>(max, keys_of_a_thread - n);
    for (std::size_t i = 0; i < some; ++i) {
      records[i] = {thread * keys_of_a_thread + n++, 1, 0, 0, 0};
    }
    return some;
  }
};

TEST(table_out_of_memory, what_a_bulk_load_left_is_counted) {
  for (const bool distinct : {false, true}) {
    coua_fib_params params = COUA_FIB_PARAMS_INIT;
    params.buckets = 4096;
    params.value_bits = 10;
    for (std::int64_t n = 0;; ++n) {
      const auto table = *fib::create(params);
      source from;
      int done = -1;
      n_left = n;
      try {
        done = table->bulk_load(&source::next, &from, n_threads, distinct);
      } catch (const std::bad_alloc&) {
      }
      n_left = unlimited;
      std::uint64_t n_there = 0;
      for (std::uint64_t key = 0; key < n_threads * keys_of_a_thread; ++key) {
        coua_fib_record found;
        n_there += table->find(key, found);
      }
      coua_fib_stats stats{};
      table->get_stats(stats);
      ASSERT_EQ(stats.entries, n_there) << n;
      if (done < 0) continue;
      EXPECT_EQ(n_there, n_threads * keys_of_a_thread);
      EXPECT_GT(n, 4);
      break;
    }
  }
}

}  // namespace
}  // namespace coua
