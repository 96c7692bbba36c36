// SPDX-License-Identifier: Apache-2.0
//
// Big-endian numbers at any address, beside the 16 bits of ethernet.h. Each is one load or store
// and one swap; raw ones go without the swap.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "net/ethernet.h"

namespace coua::net {

using uint128 = unsigned __int128;

static_assert(std::endian::native == std::endian::little);

/// As it lies in memory.
template <typename Word>
inline Word load_raw(const std::uint8_t* bytes) noexcept {
  Word value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
template <typename Word>
inline void store_raw(std::uint8_t* bytes, Word value) noexcept {
  std::memcpy(bytes, &value, sizeof value);
}

inline std::uint32_t load_be32(const std::uint8_t* bytes) noexcept {
  return __builtin_bswap32(load_raw<std::uint32_t>(bytes));
}
inline void store_be32(std::uint8_t* bytes, std::uint32_t value) noexcept {
  store_raw(bytes, __builtin_bswap32(value));
}

inline std::uint64_t load_be64(const std::uint8_t* bytes) noexcept {
  return __builtin_bswap64(load_raw<std::uint64_t>(bytes));
}
inline void store_be64(std::uint8_t* bytes, std::uint64_t value) noexcept {
  store_raw(bytes, __builtin_bswap64(value));
}

inline uint128 load_be128(const std::uint8_t* bytes) noexcept {
  return uint128{load_be64(bytes)} << 64 | load_be64(bytes + 8);
}
inline void store_be128(std::uint8_t* bytes, uint128 value) noexcept {
  store_be64(bytes, static_cast<std::uint64_t>(value >> 64));
  store_be64(bytes + 8, static_cast<std::uint64_t>(value));
}

}  // namespace coua::net
