// SPDX-License-Identifier: Apache-2.0
//
// Incremental update of checksums in the packet path (RFC 1624, equation 3), without a branch:
//
//   HC' = ~(~HC + sum of (~m + m') over the words that change)
//
// 2^16 is 1 modulo 0xffff, so wider words are summed as they are, and folded once. The result is
// that of update_checksum (checksum.h) over the same words, to the bit.
//
// Words and checksums are taken as they lie in memory, without a swap: the sum is the same one with
// its bytes swapped (RFC 1071, section 2).
#pragma once

#include <bit>
#include <cstdint>

#include "net/wire.h"

namespace coua::net {

class checksum_change {
 public:
  /// As they lie in memory, at an even distance from the first byte that the checksum covers.
  void word16(std::uint16_t before, std::uint16_t after) noexcept {
    sum_ += (before ^ 0xffffU) + std::uint64_t{after};
  }
  void word32(std::uint32_t before, std::uint32_t after) noexcept {
    sum_ += std::uint64_t{~before} + after;
  }
  /// Numbers that are big-endian in memory.
  void mac(std::uint64_t before, std::uint64_t after) noexcept {
    word16(swap16(before >> 32), swap16(after >> 32));
    word32(swap32(before), swap32(after));
  }
  void number128(uint128 before, uint128 after) noexcept {
    for (unsigned shift = 0; shift < 128; shift += 32) {
      word32(swap32(before >> shift), swap32(after >> shift));
    }
  }

  /// The new checksum; never 0xffff, which is another 0x0000.
  std::uint16_t apply(std::uint16_t checksum) const noexcept {
    // 1 to 0xffff, which is zero, whatever the checksum: worked out once for several of them. The
    // upper half of a number and its halves swapped is the sum of the halves, with its carry. A sum
    // has room for 2^31 words.
    const std::uint64_t whole = sum_ + 0xffff;
    const auto half = static_cast<std::uint32_t>((whole + std::rotr(whole, 32)) >> 32);
    const std::uint32_t change = (half + std::rotr(half, 16)) >> 16;
    const std::uint32_t sum = change + (checksum ^ 0xffffU);
    return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
  }
  /// The same for UDP: 0 says that there is none and stays, and one that becomes 0 is sent as
  /// 0xffff (RFC 768).
  std::uint16_t apply_udp(std::uint16_t checksum) const noexcept {
    const std::uint16_t fresh = apply(checksum);
    if (checksum == 0) return 0;
    return fresh == 0 ? 0xffff : fresh;
  }

 private:
  static std::uint16_t swap16(std::uint64_t value) noexcept {
    return __builtin_bswap16(static_cast<std::uint16_t>(value));
  }
  static std::uint32_t swap32(uint128 value) noexcept {
    return __builtin_bswap32(static_cast<std::uint32_t>(value));
  }

  std::uint64_t sum_ = 0;
};

}  // namespace coua::net
