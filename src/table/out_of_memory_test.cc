// SPDX-License-Identifier: Apache-2.0
//
// Memory ends at each place of a bulk load, one after the other, whatever thread wants it. A
// program of its own: operator new is replaced.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/test_little_memory.h"
#include "table/fib.h"

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
    std::unique_ptr<fib> table;
    std::uint64_t n_there = 0;
    const auto expect_counted = [&] {
      n_there = 0;
      for (std::uint64_t key = 0; key < n_threads * keys_of_a_thread; ++key) {
        coua_fib_record found;
        n_there += table->find(key, found);
      }
      coua_fib_stats stats{};
      table->get_stats(stats);
      ASSERT_EQ(stats.entries, n_there);
      table = *fib::create(params);
    };
    table = *fib::create(params);
    const unsigned n_failed = with_too_little_memory(
        [&] {
          source from;
          EXPECT_EQ(table->bulk_load(&source::next, &from, n_threads, distinct), 0);
        },
        expect_counted);
    expect_counted();
    EXPECT_EQ(n_there, n_threads * keys_of_a_thread);
    EXPECT_GT(n_failed, 4U);
  }
}

}  // namespace
}  // namespace coua
