// SPDX-License-Identifier: Apache-2.0
//
// The first 12 bytes of a frame, destination and source, as two words that are stored as they are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "net/ethernet.h"

namespace coua::net {

struct mac_pair {
  std::uint32_t first;  // bytes 0 to 3
  std::uint64_t rest;   // bytes 4 to 11

  static constexpr mac_pair of(std::uint64_t destination, std::uint64_t source) noexcept {
    struct bytes {
      std::array<std::uint8_t, 4> first{};
      std::array<std::uint8_t, 8> rest{};
      constexpr std::uint8_t& operator[](std::size_t i) { return i < 4 ? first[i] : rest[i - 4]; }
    } made;
    for (std::size_t i = 0; i < mac_bytes; ++i) {
      const std::size_t shift = 8 * (mac_bytes - 1 - i);
      made[i] = static_cast<std::uint8_t>(destination >> shift);
      made[mac_bytes + i] = static_cast<std::uint8_t>(source >> shift);
    }
    return {std::bit_cast<std::uint32_t>(made.first), std::bit_cast<std::uint64_t>(made.rest)};
  }

  static mac_pair load(const std::uint8_t* frame) noexcept {
    mac_pair made;
    std::memcpy(&made.first, frame, sizeof made.first);
    std::memcpy(&made.rest, frame + sizeof made.first, sizeof made.rest);
    return made;
  }
  void store(std::uint8_t* frame) const noexcept {
    std::memcpy(frame, &first, sizeof first);
    std::memcpy(frame + sizeof first, &rest, sizeof rest);
  }
};

}  // namespace coua::net
