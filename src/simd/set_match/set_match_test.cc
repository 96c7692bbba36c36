// SPDX-License-Identifier: Apache-2.0
//
// All kernels against a loop over rules that are not in lines yet. Masks are few bits of few words,
// so that rules match often, several at a time, and fail by one bit.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <vector>

#include "simd/set_match/kernels.h"

namespace coua::simd {
namespace {

constexpr unsigned words_max = 32;

struct set_rule {
  std::array<std::uint64_t, words_max> value{}, mask{};
};

/// Rules as kernels take them.
class packed_set {
 public:
  packed_set(const std::vector<set_rule>& from, unsigned n_words)
      : n_groups_((from.size() + set_match::group - 1) / set_match::group),
        lines_(n_groups_ * n_words) {
    for (std::size_t r = 0; r < n_groups_ * set_match::group; ++r) {
      for (unsigned w = 0; w < n_words; ++w) {
        line& to = lines_[r / set_match::group * n_words + w];
        to.values[r % set_match::group] = r < from.size() ? from[r].value[w] : set_match::never;
        to.masks[r % set_match::group] = r < from.size() ? from[r].mask[w] : 0;
      }
    }
  }
  std::uint64_t reference() const {
    return reinterpret_cast<std::uintptr_t>(lines_.data()) + n_groups_;
  }

 private:
  struct alignas(set_match::line_bytes) line {
    std::uint64_t values[set_match::group], masks[set_match::group];
  };
  static_assert(sizeof(line) == set_match::line_bytes);

  std::size_t n_groups_;
  std::vector<line> lines_;
};

std::uint32_t expected_of_set(const std::vector<set_rule>& rules, unsigned n_words,
                              const std::uint64_t* key) {
  std::uint32_t bits = 0;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    bool matches = true;
    for (unsigned w = 0; w < n_words; ++w) {
      matches = matches && (key[w] & rules[r].mask[w]) == rules[r].value[w];
    }
    if (matches) bits |= std::uint32_t{1} << r;
  }
  return bits;
}

class set_match_kernels : public testing::TestWithParam<isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) GTEST_SKIP() << "this machine has no " << to_string(GetParam());
  }
};

TEST_P(set_match_kernels, are_what_a_loop_says_of_each_key_and_its_set) {
  const set_match_kernel match = select_set_match(GetParam());
  std::mt19937_64 random(1);
  std::size_t n_matched = 0, n_missed = 0;
  // Any place of a word, the highest and the lowest too.
  const auto few_bits = [&] { return random() & random() & 0x8000'0001'0001'0003; };
  for (unsigned n_words = 1; n_words <= words_max; ++n_words) {
    for (int round = 0; round < 30; ++round) {
      const std::size_t n = random() % 40, stride = n_words + random() % 3;
      std::vector<std::vector<set_rule>> rules(n);
      std::vector<packed_set> sets;
      std::vector<std::uint64_t> references, keys(n * stride, ~std::uint64_t{0});
      for (std::size_t i = 0; i < n; ++i) {
        rules[i].resize(1 + random() % set_match::rules_max);
        for (set_rule& one : rules[i]) {
          for (int bit = 0; bit < 2; ++bit) {
            const auto w = random() % n_words;
            one.mask[w] |= few_bits();
            one.value[w] = few_bits() & one.mask[w];
          }
        }
        sets.emplace_back(rules[i], n_words);
        references.push_back(sets.back().reference());
        for (unsigned w = 0; w < n_words; ++w) keys[i * stride + w] = random() & random();
      }
      constexpr std::uint32_t untouched = 0x1234;
      std::vector<std::uint32_t> matched(n + 1, untouched);
      match(n_words, keys.data(), stride, references.data(), n, matched.data());
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t want = expected_of_set(rules[i], n_words, keys.data() + i * stride);
        ASSERT_EQ(matched[i], want) << "key " << i << " of " << n << ", " << rules[i].size()
                                    << " rules of " << n_words << " words";
        n_matched += static_cast<std::size_t>(std::popcount(want));
        n_missed += rules[i].size() - static_cast<std::size_t>(std::popcount(want));
      }
      ASSERT_EQ(matched[n], untouched);
    }
  }
  EXPECT_GT(n_matched, 20'000u);
  EXPECT_GT(n_missed, 20'000u);
}

/// A rule that differs by a single bit, in any word, does not match.
TEST_P(set_match_kernels, count_every_bit) {
  const set_match_kernel match = select_set_match(GetParam());
  std::mt19937_64 random(3);
  for (unsigned n_words = 1; n_words <= words_max; ++n_words) {
    std::vector<set_rule> rules(11);
    std::array<std::uint64_t, words_max> key{};
    for (std::uint64_t& word : key) word = random();
    for (set_rule& one : rules) {
      one.mask.fill(~std::uint64_t{0});
      one.value = key;
    }
    const packed_set packed(rules, n_words);
    const std::uint64_t reference = packed.reference();
    std::uint32_t matched = 0;
    match(n_words, key.data(), n_words, &reference, 1, &matched);
    EXPECT_EQ(matched, 0x7ffu);
    for (unsigned bit = 0; bit < 64 * n_words; ++bit) {
      auto other = key;
      other[bit / 64] ^= std::uint64_t{1} << bit % 64;
      match(n_words, other.data(), n_words, &reference, 1, &matched);
      ASSERT_EQ(matched, 0u) << "bit " << bit << " of " << n_words << " words";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, set_match_kernels, testing::Values(isa::generic, isa::avx2, isa::avx512),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace coua::simd
