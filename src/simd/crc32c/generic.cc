// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "simd/crc32c/kernels.h"

namespace coua::simd {
namespace {

// Eight bytes at a time: table k is for a byte that k further ones follow.
constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> made{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t word = i;
    for (int bit = 0; bit < 8; ++bit) word = word >> 1 ^ (word % 2 != 0 ? 0x82f63b78U : 0U);
    made[0][i] = word;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t k = 1; k < 8; ++k) {
      made[k][i] = made[k - 1][i] >> 8 ^ made[0][made[k - 1][i] & 0xff];
    }
  }
  return made;
}();

}  // namespace

std::uint32_t generic_crc32c(const std::uint8_t* bytes, std::size_t n,
                             std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  std::size_t at = 0;
  for (; at + 8 <= n; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    word ^= crc;
    crc = 0;
    for (unsigned k = 0; k < 8; ++k) crc ^= crc_tables[7 - k][word >> 8 * k & 0xff];
  }
  for (; at < n; ++at) crc = crc >> 8 ^ crc_tables[0][(crc ^ bytes[at]) & 0xff];
  return ~crc;
}

}  // namespace coua::simd
