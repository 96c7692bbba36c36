// SPDX-License-Identifier: Apache-2.0
//
// Big-endian numbers at any address, beside the 16 bits of ethernet.h. Each is one load or store
// and one swap; raw ones go without the swap.
#pragma once

#include <cstdint>
#include <cstring>

#include "net/ethernet.h"

namespace coua::net {

using uint128 = unsigned __int128;

/// As they lie in memory.
inline std::uint16_t load_raw16(const std::uint8_t* bytes) noexcept {
  std::uint16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
inline void store_raw16(std::uint8_t* bytes, std::uint16_t value) noexcept {
  std::memcpy(bytes, &value, sizeof value);
}
inline std::uint32_t load_raw32(const std::uint8_t* bytes) noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}
inline void store_raw32(std::uint8_t* bytes, std::uint32_t value) noexcept {
  std::memcpy(bytes, &value, sizeof value);
}

inline std::uint32_t load_be32(const std::uint8_t* bytes) noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap32(value);
}
inline void store_be32(std::uint8_t* bytes, std::uint32_t value) noexcept {
  value = __builtin_bswap32(value);
  std::memcpy(bytes, &value, sizeof value);
}

inline std::uint64_t load_be64(const std::uint8_t* bytes) noexcept {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}
inline void store_be64(std::uint8_t* bytes, std::uint64_t value) noexcept {
  value = __builtin_bswap64(value);
  std::memcpy(bytes, &value, sizeof value);
}

inline uint128 load_be128(const std::uint8_t* bytes) noexcept {
  return uint128{load_be64(bytes)} << 64 | load_be64(bytes + 8);
}
inline void store_be128(std::uint8_t* bytes, uint128 value) noexcept {
  store_be64(bytes, static_cast<std::uint64_t>(value >> 64));
  store_be64(bytes + 8, static_cast<std::uint64_t>(value));
}

}  // namespace coua::net
