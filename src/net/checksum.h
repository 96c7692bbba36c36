// SPDX-License-Identifier: Apache-2.0
//
// Checksums of IP, TCP, UDP and ICMP (RFC 1071), their update when bytes change (RFC 1624), and the
// CRC32c of SCTP (RFC 9260, appendix A).
//
// The sum has two zeros, 0x0000 and 0xffff, so an update has two right answers now and then. Here
// it gives the checksum as 0x0000, never as 0xffff, whatever was there before: then it makes no
// difference into how many updates a change is cut, and in which order they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace coua::net {

/// The 16-bit sum of big-endian words; an odd last byte counts as the upper half of a word.
constexpr std::uint64_t internet_sum(std::span<const std::uint8_t> bytes) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += i % 2 == 0 ? std::uint64_t{bytes[i]} << 8 : bytes[i];
  }
  return sum;
}

/// Modulo 0xffff; 0 only if the sum is.
constexpr std::uint16_t fold_sum(std::uint64_t sum) noexcept {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

/// The checksum after the bytes that it covers changed from those that sum up to `before` to those
/// that sum up to `after`. A checksum that was wrong stays wrong, by the same difference.
constexpr std::uint16_t update_checksum(std::uint16_t checksum, std::uint64_t before,
                                        std::uint64_t after) noexcept {
  // 0xffff is zero, too: with it the sum of four is never 0, and its complement never 0xffff.
  const std::uint64_t sum =
      std::uint64_t{0xffff} + (checksum ^ 0xffffU) + (fold_sum(before) ^ 0xffffU) + fold_sum(after);
  return static_cast<std::uint16_t>(fold_sum(sum) ^ 0xffffU);
}

/// CRC32c of the bytes, as a number whose lowest byte is sent first.
constexpr std::uint32_t crc32c(std::span<const std::uint8_t> bytes) noexcept {
  std::uint32_t crc = 0xffff'ffff;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f6'3b78U : 0);
  }
  return crc ^ 0xffff'ffff;
}

}  // namespace coua::net
