// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "simd/crc32c/kernels.h"

namespace coua::simd {
namespace {

class crc32c_kernels : public testing::TestWithParam<isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) GTEST_SKIP() << "this machine has no " << to_string(GetParam());
  }
};

TEST_P(crc32c_kernels, are_those_of_rfc_3720) {
  const crc32c_kernel crc = select_crc32c(GetParam());
  const std::vector<std::uint8_t> zeros(32);
  std::vector<std::uint8_t> rising(32);
  for (unsigned i = 0; i < 32; ++i) rising[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(crc(zeros.data(), 32, 0), 0x8a9136aaU);
  EXPECT_EQ(crc(rising.data(), 32, 0), 0x46dd794eU);
  EXPECT_EQ(crc(rising.data(), 0, 7), 7U);
}

TEST_P(crc32c_kernels, go_on_anywhere_and_are_alike) {
  const crc32c_kernel crc = select_crc32c(GetParam());
  std::mt19937 random(1);
  std::vector<std::uint8_t> bytes(300);
  for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random());
  for (int i = 0; i < 2'000; ++i) {
    const std::size_t at = random() % 100, n = random() % 200, first = n == 0 ? 0 : random() % n;
    const std::uint32_t whole = generic_crc32c(&bytes[at], n, 0);
    ASSERT_EQ(crc(&bytes[at + first], n - first, crc(&bytes[at], first, 0)), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(sets, crc32c_kernels,
                         testing::Values(isa::generic, isa::avx2, isa::avx512),
                         [](const auto& set) { return to_string(set.param); });

}  // namespace
}  // namespace coua::simd
