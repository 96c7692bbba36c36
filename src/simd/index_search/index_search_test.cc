// SPDX-License-Identifier: Apache-2.0
//
// All kernels against a search that looks at one function and one place after the other.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "simd/index_search/kernels.h"

namespace coua::simd {
namespace {

struct key_set {
  std::vector<std::uint32_t> base, step;
  unsigned n_ones = 0;

  separation_keys keys() const {
    return {base.data(), step.data(), n_ones, static_cast<unsigned>(base.size())};
  }
};

separation expected(const key_set& of, unsigned place_bits, std::uint32_t n_functions) {
  for (std::uint64_t i = 0; i < n_functions; ++i) {
    std::vector<int> at(std::size_t{1} << place_bits, -1);
    bool good = true;
    for (std::size_t k = 0; k < of.base.size(); ++k) {
      const std::uint64_t sum = (of.base[k] + i * of.step[k]) % (std::uint64_t{1} << 32);
      int& here = at[sum / (std::uint64_t{1} << (32 - place_bits))];
      const int value = k < of.n_ones ? 1 : 0;
      good = good && (here == -1 || here == value);
      here = value;
    }
    if (!good) continue;
    std::uint32_t places = 0;
    for (std::size_t p = 0; p < at.size(); ++p) places |= std::uint32_t{at[p] == 1} << p;
    return {static_cast<std::uint32_t>(i), places};
  }
  return {separation::none, 0};
}

class index_search : public testing::TestWithParam<isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) GTEST_SKIP() << "this machine has no " << to_string(GetParam());
  }
};

TEST_P(index_search, is_what_a_loop_finds) {
  const index_search_kernel search = select_index_search(GetParam());
  std::mt19937 random(7);
  std::size_t n_found = 0, n_none = 0;
  for (unsigned n = 0; n <= 24; ++n) {
    for (unsigned n_ones = 0; n_ones <= n; ++n_ones) {
      for (const unsigned place_bits : {3U, 4U}) {
        key_set set;
        set.n_ones = n_ones;
        for (unsigned k = 0; k < n; ++k) {
          set.base.push_back(random());
          set.step.push_back(random() | 1);
        }
        for (const std::uint32_t n_functions : {256U, 4096U}) {
          const separation found = search(set.keys(), place_bits, n_functions);
          EXPECT_EQ(found, expected(set, place_bits, n_functions)) << n << " " << n_ones;
          ++(found.index == separation::none ? n_none : n_found);
        }
      }
    }
  }
  EXPECT_GT(n_found, 500U);
  EXPECT_GT(n_none, 100U);
}

TEST_P(index_search, two_keys_with_the_same_hash_can_not_be_told_apart) {
  const index_search_kernel search = select_index_search(GetParam());
  const key_set same{{5, 5}, {7, 7}, 1};
  EXPECT_EQ(search(same.keys(), 3, 65'536).index, separation::none);
  const key_set alike{{5, 5}, {7, 7}, 2};
  EXPECT_EQ(search(alike.keys(), 3, 65'536), (separation{0, 1}));
}

INSTANTIATE_TEST_SUITE_P(kernels, index_search,
                         testing::Values(isa::generic, isa::avx2, isa::avx512),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace coua::simd
