// SPDX-License-Identifier: Apache-2.0
#include "base/reader_counts.h"

#include <gtest/gtest.h>

namespace coua {
namespace {

struct state {
  std::uint64_t hits = 0, other = 0, misses = 0;
};
using counts = reader_counts<state, &state::hits, &state::misses>;

TEST(reader_counts, adds_up_the_named_counters_of_all_readers) {
  counts all;
  EXPECT_EQ(all.sum(), (counts::sums{0, 0}));
  state one, two;
  all.attach(&one);
  all.attach(&two);
  one = {1, 1000, 10};
  two = {2, 1000, 20};
  EXPECT_EQ(all.sum(), (counts::sums{3, 30}));
  one.hits = 5;
  EXPECT_EQ(all.sum(), (counts::sums{7, 30}));
}

TEST(reader_counts, keeps_what_a_reader_that_is_gone_counted) {
  counts all;
  state stays{1, 0, 2};
  all.attach(&stays);
  {
    state leaves{10, 0, 20};
    all.attach(&leaves);
    all.detach(&leaves);
    leaves = {99, 99, 99};  // of no reader any more
  }
  EXPECT_EQ(all.sum(), (counts::sums{11, 22}));
  all.detach(&stays);
  EXPECT_EQ(all.sum(), (counts::sums{11, 22}));
}

}  // namespace
}  // namespace coua
