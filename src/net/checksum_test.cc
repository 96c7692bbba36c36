// SPDX-License-Identifier: Apache-2.0
#include "net/checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace coua::net {
namespace {

// RFC 1071, section 3.
TEST(checksum, sums_the_example_of_the_rfc) {
  const std::vector<std::uint8_t> bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(fold_sum(internet_sum(bytes)), 0xddf2);
}

TEST(checksum, an_odd_byte_is_the_upper_half) {
  const std::vector<std::uint8_t> bytes{0x00, 0x01, 0xf2};
  EXPECT_EQ(fold_sum(internet_sum(bytes)), 0xf201);
}

// RFC 1624, section 4: the case that the arithmetic of RFC 1141 gets wrong.
TEST(checksum, updates_the_example_of_the_rfc) {
  EXPECT_EQ(update_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

TEST(checksum, an_update_equals_summing_again) {
  std::mt19937 random(1);
  for (int run = 0; run < 2000; ++run) {
    std::vector<std::uint8_t> bytes(1 + random() % 40);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xff : random());
    bytes[0] |= 1;  // a sum of 0 has two checksums
    const std::uint64_t before = internet_sum(bytes);
    const auto checksum = static_cast<std::uint16_t>(~fold_sum(before));
    for (auto& byte : bytes) {
      if (random() % 2 == 0) byte = static_cast<std::uint8_t>(random());
    }
    bytes[0] |= 1;
    const std::uint64_t after = internet_sum(bytes);
    EXPECT_EQ(update_checksum(checksum, before, after),
              static_cast<std::uint16_t>(~fold_sum(after)));
  }
}

TEST(checksum, the_cut_into_updates_makes_no_difference) {
  std::mt19937 random(2);
  for (int run = 0; run < 100'000; ++run) {
    // Few values, so that zeros of both kinds come often.
    const auto pick = [&] {
      constexpr std::uint16_t some[] = {0, 0xffff, 1, 0xfffe, 0x8000, 0x7fff};
      return random() % 4 == 0 ? static_cast<std::uint16_t>(random()) : some[random() % 6];
    };
    const std::uint16_t checksum = pick(), a = pick(), b = pick(), c = pick(), d = pick();
    const std::uint16_t both =
        update_checksum(checksum, std::uint64_t{a} + b, std::uint64_t{c} + d);
    EXPECT_EQ(update_checksum(update_checksum(checksum, a, c), b, d), both);
    EXPECT_EQ(update_checksum(update_checksum(checksum, b, d), a, c), both);
    EXPECT_NE(both, 0xffff);
  }
}

TEST(checksum, a_wrong_checksum_stays_wrong) {
  const std::vector<std::uint8_t> before{0x45, 0, 1, 2}, after{0x45, 9, 1, 2};
  const auto right = static_cast<std::uint16_t>(~fold_sum(internet_sum(before)));
  const auto right_after = static_cast<std::uint16_t>(~fold_sum(internet_sum(after)));
  for (const std::uint16_t wrong_by : {1, 0x100, 0x7fff}) {
    const auto wrong = static_cast<std::uint16_t>(right - wrong_by);
    EXPECT_EQ(update_checksum(wrong, internet_sum(before), internet_sum(after)),
              static_cast<std::uint16_t>(right_after - wrong_by));
  }
}

// RFC 3720, appendix B.4.
TEST(crc32c, knows_the_examples_of_the_rfc) {
  EXPECT_EQ(crc32c(std::vector<std::uint8_t>(32, 0)), 0x8a91'36aaU);
  EXPECT_EQ(crc32c(std::vector<std::uint8_t>(32, 0xff)), 0x62a8'ab43U);
  std::vector<std::uint8_t> rising(32);
  for (unsigned i = 0; i < 32; ++i) rising[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(crc32c(rising), 0x46dd'794eU);
}

}  // namespace
}  // namespace coua::net
