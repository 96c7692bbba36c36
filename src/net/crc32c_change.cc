// SPDX-License-Identifier: Apache-2.0
#include "net/crc32c_change.h"

#include <array>

#include "base/check.h"

namespace coua::net {
namespace {

// Polynomials are reflected: the highest bit is the coefficient of x^0.
constexpr std::uint32_t generator = 0x82f6'3b78;

constexpr std::uint32_t times_x(std::uint32_t a) noexcept {
  return a >> 1 ^ ((a & 1) != 0 ? generator : 0);
}

constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t product = 0;
  for (; a != 0; a <<= 1, b = times_x(b)) {
    if (a >> 31 != 0) product ^= b;
  }
  return product;
}

constexpr std::size_t n_powers = 17;

/// x^(8 * 2^i).
constexpr std::array<std::uint32_t, n_powers> powers = [] {
  std::array<std::uint32_t, n_powers> out{};
  out[0] = std::uint32_t{1} << (31 - 8);
  for (std::size_t i = 1; i < n_powers; ++i) out[i] = multiply(out[i - 1], out[i - 1]);
  return out;
}();

}  // namespace

std::uint32_t crc32c_change(std::uint32_t difference, std::size_t length) noexcept {
  COUA_ASSERT(length >= 4 && length >> n_powers == 0);
  for (std::size_t i = 0; i < n_powers; ++i) {
    if ((length >> i & 1) != 0) difference = multiply(powers[i], difference);
  }
  return difference;
}

}  // namespace coua::net
