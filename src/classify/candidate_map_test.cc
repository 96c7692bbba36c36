// SPDX-License-Identifier: Apache-2.0
#include "classify/candidate_map.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace coua {
namespace {

struct masked {
  wide_words key, mask;
};

/// Few values of each byte, so that rules meet keys.
masked random_rule(std::mt19937_64& random) {
  masked one{};
  for (unsigned w = 0; w < 2; ++w) {
    one.mask.words[w] = random() & random();
    one.key.words[w] = random() & 0x0101'0101'0101'0101 & one.mask.words[w];
  }
  return one;
}

class candidate_map_of : public testing::TestWithParam<std::size_t> {};

/// All kernels name the subtables that a rule by rule, byte by byte comparison names.
TEST_P(candidate_map_of, names_those_whose_bytes_agree) {
  const std::size_t n = GetParam();
  std::mt19937_64 random(n);
  const std::vector<std::uint8_t> bytes = {0, 3, 7, 8, 12, 15};
  candidate_map map(bytes, n);
  ASSERT_GE(map.capacity(), n);
  std::vector<masked> rules;
  for (std::size_t id = 0; id < n; ++id) {
    rules.push_back(random_rule(random));
    map.add(static_cast<subtable_id>(id), rules[id].key, rules[id].mask);
  }
  for (const std::size_t gone : {std::size_t{0}, n / 2}) map.clear(static_cast<subtable_id>(gone));
  std::size_t n_named = 0;
  for (int round = 0; round < 200; ++round) {
    std::uint64_t key[2];
    for (std::uint64_t& word : key) word = random() & 0x0101'0101'0101'0101;
    std::vector<std::uint64_t> expected(map.n_words());
    for (std::size_t id = 0; id < n; ++id) {
      if (id == 0 || id == n / 2) continue;
      bool agrees = true;
      for (const std::uint8_t byte : bytes) {
        const std::uint64_t differ =
            (key[byte / 8] ^ rules[id].key.words[byte / 8]) & rules[id].mask.words[byte / 8];
        agrees = agrees && (differ >> 8 * (byte % 8) & 0xff) == 0;
      }
      expected[id / 64] |= std::uint64_t{agrees} << id % 64;
      n_named += agrees;
    }
    for (const isa each : {isa::generic, isa::avx2, isa::avx512}) {
      if (each > best_isa()) continue;
      std::vector<std::uint64_t> ids(map.n_words() + 1, 0x5555);
      map.find(simd::select_candidates(each), key, ids.data());
      EXPECT_EQ(ids.back(), 0x5555u);  // nothing beyond
      ids.pop_back();
      ASSERT_EQ(ids, expected) << to_string(each);
    }
  }
  if (n > 100) {
    EXPECT_GT(n_named, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(, candidate_map_of,
                         testing::Values(1, 64, 65, 150, 256, 500, 513, 1024, 1100, 2500),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace coua
