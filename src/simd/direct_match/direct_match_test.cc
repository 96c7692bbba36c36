// SPDX-License-Identifier: Apache-2.0
//
// All kernels against a loop over rules that are not turned into words of vectors. Masks are few
// bits of few words, so that rules match often, several at a time, and fail by one bit.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <vector>

#include "simd/direct_match/kernels.h"

namespace coua::simd {
namespace {

struct one_rule {
  std::array<std::uint64_t, direct_rules::max_words> value{}, mask{};
};

/// Rules as kernels take them.
struct packed_rules {
  packed_rules(const std::vector<one_rule>& from, unsigned n_words)
      : n((static_cast<unsigned>(from.size()) + direct_rules::group - 1) / direct_rules::group *
          direct_rules::group),
        values(std::size_t{n} * n_words, direct_rules::never),
        masks(values.size(), 0),
        rules{n_words, n, values.data(), masks.data()} {
    for (std::size_t r = 0; r < from.size(); ++r) {
      for (unsigned w = 0; w < n_words; ++w) {
        values[w * n + r] = from[r].value[w];
        masks[w * n + r] = from[r].mask[w];
      }
    }
  }

  unsigned n;
  std::vector<std::uint64_t> values, masks;
  direct_rules rules;
};

std::uint64_t expected(const std::vector<one_rule>& rules, unsigned n_words,
                       const std::uint64_t* key) {
  std::uint64_t bits = 0;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    bool matches = true;
    for (unsigned w = 0; w < n_words; ++w) {
      matches = matches && (key[w] & rules[r].mask[w]) == rules[r].value[w];
    }
    if (matches) bits |= std::uint64_t{1} << r;
  }
  return bits;
}

class direct_match : public testing::TestWithParam<isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) GTEST_SKIP() << "this machine has no " << to_string(GetParam());
  }
};

TEST_P(direct_match, is_what_a_loop_says) {
  const direct_match_kernel match = select_direct_match(GetParam());
  std::mt19937_64 random(GetParam() == isa::generic ? 1 : 2);
  std::size_t n_matched = 0, n_missed = 0;
  for (unsigned n_words = 1; n_words <= direct_rules::max_words; ++n_words) {
    for (unsigned n_rules = 1; n_rules <= direct_rules::max_rules; ++n_rules) {
      // Any place of a word, the highest and the lowest too.
      const auto few_bits = [&] { return random() & random() & 0x8000'0001'0001'0003; };
      std::vector<one_rule> rules(n_rules);
      for (one_rule& one : rules) {
        for (int i = 0; i < 2; ++i) {
          const auto w = random() % n_words;
          one.mask[w] |= few_bits();
          one.value[w] = few_bits() & one.mask[w];
        }
      }
      const packed_rules packed(rules, n_words);
      const std::size_t n = random() % 70, stride = n_words + random() % 3;
      std::vector<std::uint64_t> keys(n * stride, ~std::uint64_t{0});
      for (std::size_t i = 0; i < n; ++i) {
        for (unsigned w = 0; w < n_words; ++w) keys[i * stride + w] = random() & random();
      }
      constexpr std::uint64_t untouched = 0x1234;
      std::vector<std::uint64_t> matched(n + 1, untouched);
      match(packed.rules, keys.data(), stride, n, matched.data());
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t want = expected(rules, n_words, keys.data() + i * stride);
        ASSERT_EQ(matched[i], want)
            << "key " << i << " of " << n << ", " << n_rules << " rules of " << n_words << " words";
        n_matched += static_cast<std::size_t>(std::popcount(want));
        n_missed += n_rules - static_cast<std::size_t>(std::popcount(want));
      }
      ASSERT_EQ(matched[n], untouched);
    }
  }
  EXPECT_GT(n_matched, 100'000u);
  EXPECT_GT(n_missed, 100'000u);
}

/// A rule that differs by a single bit, in any word, does not match.
TEST_P(direct_match, every_bit_counts) {
  const direct_match_kernel match = select_direct_match(GetParam());
  std::mt19937_64 random(3);
  for (unsigned n_words = 1; n_words <= direct_rules::max_words; ++n_words) {
    std::vector<one_rule> rules(11);
    std::array<std::uint64_t, direct_rules::max_words> key{};
    for (std::uint64_t& word : key) word = random();
    for (one_rule& one : rules) {
      one.mask.fill(~std::uint64_t{0});
      one.value = key;
    }
    const packed_rules packed(rules, n_words);
    std::uint64_t matched = 0;
    match(packed.rules, key.data(), n_words, 1, &matched);
    EXPECT_EQ(matched, 0x7ffu);
    for (unsigned bit = 0; bit < 64 * n_words; ++bit) {
      auto other = key;
      other[bit / 64] ^= std::uint64_t{1} << bit % 64;
      match(packed.rules, other.data(), n_words, 1, &matched);
      ASSERT_EQ(matched, 0u) << "bit " << bit << " of " << n_words << " words";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, direct_match, testing::Values(isa::generic, isa::avx2, isa::avx512),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace coua::simd
