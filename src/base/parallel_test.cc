// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "base/test_no_threads.h"

namespace coua {
namespace {

constexpr unsigned n_threads = 4;

TEST(parallel, does_all_of_it_where_the_system_has_no_threads) {
  const no_threads none;
  std::vector<unsigned> done(n_threads);
  in_parallel(n_threads, [&](unsigned i) { ++done[i]; });
  EXPECT_EQ(done, std::vector<unsigned>(n_threads, 1));
}

TEST(parallel, throws_what_any_of_them_throws) {
  for (unsigned bad = 0; bad < n_threads; ++bad) {
    std::atomic<unsigned> n_done{0};
    const auto work = [&](unsigned i) {
      if (i == bad) throw std::bad_alloc();
      ++n_done;
    };
    EXPECT_THROW(in_parallel(n_threads, work), std::bad_alloc);
    EXPECT_EQ(n_done, n_threads - 1);
  }
}

}  // namespace
}  // namespace coua
