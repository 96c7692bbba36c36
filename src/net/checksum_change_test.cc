// SPDX-License-Identifier: Apache-2.0
#include "net/checksum_change.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "net/checksum.h"
#include "net/crc32c_change.h"

namespace coua::net {
namespace {

TEST(checksum_change, knows_the_example_of_the_rfc) {
  // RFC 1624, section 4: what RFC 1141 gets wrong.
  checksum_change change;
  change.word16(0x5555, 0x3285);
  EXPECT_EQ(change.apply(0xdd2f), 0x0000);
}

TEST(checksum_change, never_gives_the_other_zero) {
  for (const unsigned checksum : {0U, 0xffffU}) {
    checksum_change none;
    EXPECT_EQ(none.apply(static_cast<std::uint16_t>(checksum)), 0);
    checksum_change all;
    all.word16(0xffff, 0);
    EXPECT_EQ(all.apply(static_cast<std::uint16_t>(checksum)), 0);
  }
}

TEST(checksum_change, of_udp) {
  checksum_change change;
  change.word16(1, 2);
  EXPECT_EQ(change.apply_udp(0), 0) << "none stays none";
  EXPECT_EQ(change.apply_udp(1), 0xffff) << "0 is sent as its other form";
  EXPECT_EQ(change.apply_udp(0xffff), 0xfffe);
}

TEST(checksum_change, equals_the_sum_over_all) {
  std::mt19937_64 random(1);
  const auto pick = [&] {
    switch (random() % 4) {
      case 0: return std::uint64_t{0};
      case 1: return ~std::uint64_t{0};
      default: return random();
    }
  };
  for (int run = 0; run < 100'000; ++run) {
    std::vector<std::uint8_t> before(40), after;
    for (auto& byte : before) byte = static_cast<std::uint8_t>(pick());
    before[0] |= 1;
    after = before;
    const auto checksum = static_cast<std::uint16_t>(~fold_sum(internet_sum(before)));

    checksum_change change;
    const auto word = static_cast<std::uint16_t>(pick());
    change.word16(load_raw<std::uint16_t>(&before[2]), word);
    store_raw(&after[2], word);
    const auto address = static_cast<std::uint32_t>(pick());
    change.word32(load_raw<std::uint32_t>(&before[6]), address);
    store_raw(&after[6], address);
    const std::uint64_t mac = pick() & mac_mask;
    change.mac(load_mac(&before[12]), mac);
    store_mac(&after[12], mac);
    const uint128 wide = uint128{pick()} << 64 | pick();
    change.number128(load_be128(&before[20]), wide);
    store_be128(&after[20], wide);

    const auto apply = [&change](std::uint16_t of) {
      return __builtin_bswap16(change.apply(__builtin_bswap16(of)));
    };
    EXPECT_EQ(apply(checksum), static_cast<std::uint16_t>(~fold_sum(internet_sum(after))));
    const auto any = static_cast<std::uint16_t>(pick());
    EXPECT_EQ(apply(any), update_checksum(any, internet_sum(before), internet_sum(after)))
        << "a wrong one stays as wrong";
  }
}

/// Sums of more than 32 bits, whose halves carry.
TEST(checksum_change, of_many_words) {
  std::mt19937_64 random(2);
  for (int run = 0; run < 2'000; ++run) {
    checksum_change change;
    const bool is_high = run % 2 == 0;  // each word adds nearly as much as one can
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 1'000; ++i) {
      const auto before = static_cast<std::uint32_t>(is_high ? random() % 16 : random());
      const auto after = static_cast<std::uint32_t>(is_high ? ~(random() % 16) : random());
      change.word32(before, after);
      sum += (before >> 16 ^ 0xffffU) + ((before & 0xffff) ^ 0xffffU) + (after >> 16) +
             (after & 0xffff);
    }
    const auto checksum = static_cast<std::uint16_t>(random());
    std::uint64_t all = sum + (checksum ^ 0xffffU);
    while (all > 0xffff) all = (all & 0xffff) + (all >> 16);
    const auto expected = static_cast<std::uint16_t>(~all);
    EXPECT_EQ(change.apply(checksum), expected == 0xffff ? 0 : expected);
  }
}

TEST(crc32c_change, equals_the_crc_over_all) {
  std::mt19937 random(2);
  for (std::size_t length = 4; length <= 70'000; length = length < 80 ? length + 1 : length * 3) {
    std::vector<std::uint8_t> before(length);
    for (auto& byte : before) byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> after = before;
    for (std::size_t i = 0; i < 4; ++i) after[i] = static_cast<std::uint8_t>(random());
    std::uint32_t difference = 0;
    for (unsigned i = 0; i < 4; ++i) difference |= std::uint32_t(before[i] ^ after[i]) << (8 * i);
    EXPECT_EQ(crc32c_change(difference, length), crc32c(before) ^ crc32c(after)) << length;
  }
  EXPECT_EQ(crc32c_change(0, 100), 0U);
}

}  // namespace
}  // namespace coua::net
