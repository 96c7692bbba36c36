// SPDX-License-Identifier: Apache-2.0
//
// What a worker hands on of what packets leave behind, and what it holds back.
#include "dp/pipeline/learn_out.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

namespace coua::dp {
namespace {

using pipeline::learned_values;

// Time of one repeat, and how much earlier than that one may come (learn_out.h).
constexpr std::uint64_t hold = 1'000'000'000, grain = 65'536;
constexpr std::uint64_t start = 50 * hold;

/// Of a host at a port, as a learning switch says it: the port is not in the match.
learned_values host_at(std::uint64_t host, std::uint64_t port, std::uint64_t id = 1) {
  learned_values made;
  made.id = id;
  made.n = 2;
  made.in_match = 1;
  made.values = {host, port};
  return made;
}

class learn_out_test : public ::testing::Test {
 protected:
  /// What came out of the ring of these.
  std::size_t tell(const learned_values& one, std::uint64_t now) {
    out.tell({&one, 1}, now);
    return drained();
  }
  std::size_t drained() {
    std::size_t n = 0;
    out.drain([&](const learned_values&) { ++n; });
    return n;
  }

  learn_out out{hold, {7}};
};

TEST_F(learn_out_test, says_the_same_once_in_the_time) {
  std::vector<std::uint64_t> said;
  for (std::uint64_t now = start; now < start + 19 * hold / 2; now += 10000) {
    if (tell(host_at(1, 2), now) != 0) said.push_back(now);
  }
  ASSERT_EQ(said.size(), 10U);
  for (std::size_t i = 1; i < said.size(); ++i) {
    EXPECT_LE(said[i] - said[i - 1], hold + 10000);
    EXPECT_GE(said[i] - said[i - 1], hold - grain);
  }
}

TEST_F(learn_out_test, says_at_once_what_moved_and_moved_back) {
  EXPECT_EQ(tell(host_at(1, 2), start), 1U);
  EXPECT_EQ(tell(host_at(1, 3), start + 1), 1U);
  EXPECT_EQ(tell(host_at(1, 2), start + 2), 1U);
  EXPECT_EQ(tell(host_at(1, 2), start + 3), 0U);
  EXPECT_EQ(tell(host_at(1, 2, 9), start + 4), 1U) << "another rule learns";
}

TEST_F(learn_out_test, takes_all_values_for_what_they_are) {
  // All 16 of them, with all bits: what is beyond the first words counts.
  learned_values one = host_at(0, 0);
  one.n = pipeline::learned_values_max;
  one.in_match = 0x00ff;
  EXPECT_EQ(tell(one, start), 1U);
  for (unsigned i = 0; i < pipeline::learned_values_max; ++i) {
    for (const unsigned bit : {0U, 63U, 64U, 127U}) {
      learned_values other = one;
      other.values[i] ^= pipeline::value128{1} << bit;
      EXPECT_EQ(tell(other, start), 1U) << i << " " << bit;
      EXPECT_EQ(tell(other, start), 0U) << i << " " << bit;
    }
  }
  // What is behind the last one is nobody's.
  learned_values three = host_at(1, 2);
  three.values[2] = 77;
  EXPECT_EQ(tell(three, start), 1U);
  three.values[2] = 78;
  EXPECT_EQ(tell(three, start), 0U);
}

TEST_F(learn_out_test, remembers_a_thousand_hosts) {
  std::size_t n = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    for (std::uint64_t host = 0; host < 1000; ++host) n += tell(host_at(host, 1), start + round);
  }
  EXPECT_GE(n, 1000U);
  EXPECT_LT(n, 1600U) << "a few share a set with four others";
}

TEST_F(learn_out_test, forgets_what_the_ring_refused) {
  std::vector<learned_values> many;
  for (std::uint64_t host = 0; host <= learn_out::ring_size; ++host) {
    many.push_back(host_at(host, 1));
  }
  out.tell(many, start);
  EXPECT_EQ(out.n_full(), 1U);
  while (drained() != 0) {
  }
  EXPECT_EQ(tell(many.back(), start + 1), 1U);
  EXPECT_EQ(tell(many.back(), start + 2), 0U);
}

/// Hosts that move, rarely and often, against what was said last of each: only that, within the
/// time, may be held back.
TEST_F(learn_out_test, holds_back_what_was_said_last_and_nothing_else) {
  std::mt19937_64 random(3);
  std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> last;  // host: port, when
  std::size_t n_held = 0, n_said = 0;
  std::uint64_t now = start;
  for (int i = 0; i < 300'000; ++i) {
    now += random() % 2 == 0 ? random() % 1000 : random() % (hold / 2000);
    const std::uint64_t host = random() % (i % 3 == 0 ? 8'000 : 500);
    const std::uint64_t port = random() % (host % 7 == 0 ? 3 : 1);
    const auto at = last.find(host);
    const bool same = at != last.end() && at->second.first == port;
    if (tell(host_at(host, port), now) != 0) {
      last[host] = {port, now};
      ++n_said;
      continue;
    }
    ASSERT_TRUE(same) << "host " << host << " is at " << port;
    ASSERT_LT(now - at->second.second, hold);
    ++n_held;
  }
  EXPECT_GT(n_held, 50'000U);
  EXPECT_GT(n_said, 50'000U);
}

}  // namespace
}  // namespace coua::dp
