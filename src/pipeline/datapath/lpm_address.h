// SPDX-License-Identifier: Apache-2.0
//
// Addresses of IPv4 and IPv6 as numbers, and what longest-prefix match asks of them. Bits are
// counted from the first on the wire: bit 0 is the highest.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace coua::pipeline {

struct ipv4_number {
  static constexpr unsigned n_bits = 32;
  std::uint32_t bits = 0;

  /// The first n bits, 1 to 16 of them, as a number.
  std::uint32_t top(unsigned n) const noexcept { return bits >> (32 - n); }
  /// Byte `at`, 0 to 3.
  std::uint32_t byte(unsigned at) const noexcept { return bits >> (24 - 8 * at) & 0xff; }
  /// With zeros from bit `length` on.
  ipv4_number first(unsigned length) const noexcept {
    return {static_cast<std::uint32_t>(bits & ~(std::uint64_t{0xffff'ffff} >> length))};
  }
  /// How many bits agree before the first that does not.
  unsigned common(ipv4_number other) const noexcept {
    return static_cast<unsigned>(std::countl_zero(bits ^ other.bits));
  }
  /// The first `length` bits agree.
  bool agrees(ipv4_number other, unsigned length) const noexcept {
    return std::uint64_t{bits ^ other.bits} >> (32 - length) == 0;
  }
  bool operator==(const ipv4_number&) const = default;
};

struct ipv6_number {
  static constexpr unsigned n_bits = 128;
  std::uint64_t high = 0, low = 0;

  std::uint32_t top(unsigned n) const noexcept {
    return static_cast<std::uint32_t>(high >> (64 - n));
  }
  std::uint32_t byte(unsigned at) const noexcept {
    return static_cast<std::uint32_t>((at < 8 ? high : low) >> (56 - 8 * (at % 8)) & 0xff);
  }
  ipv6_number first(unsigned length) const noexcept {
    return {high & ones(std::min(length, 64U)), low & ones(std::max(length, 64U) - 64)};
  }
  unsigned common(ipv6_number other) const noexcept {
    return static_cast<unsigned>(high != other.high ? std::countl_zero(high ^ other.high)
                                                    : 64 + std::countl_zero(low ^ other.low));
  }
  bool agrees(ipv6_number other, unsigned length) const noexcept {
    const ipv6_number differs = ipv6_number{high ^ other.high, low ^ other.low}.first(length);
    return (differs.high | differs.low) == 0;
  }
  bool operator==(const ipv6_number&) const = default;

 private:
  /// The highest n bits, 0 to 64.
  static std::uint64_t ones(unsigned n) noexcept {
    return n == 0 ? 0 : ~std::uint64_t{0} << (64 - n);
  }
};

}  // namespace coua::pipeline
