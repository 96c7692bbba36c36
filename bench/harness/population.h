// SPDX-License-Identifier: Apache-2.0
//
// The addresses that a benchmark loads and looks up. Nothing is stored: entry i of a population is
// a bijection of i, so that a billion of them need no array, and a key that is not in the table is
// simply one of an index past the end.
#pragma once

#include <cstdint>

namespace coua::bench {

/// Random 64-bit words for the choice of keys: a Weyl sequence through a multiply-xor mix
/// (Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014).
class random_words {
 public:
  explicit random_words(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15) {}
  std::uint64_t operator()() noexcept {
    std::uint64_t word = state_ += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }
  /// Uniform in [0, bound), bias below 2^-24 for bounds up to 2^40.
  std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

/// Distinct unicast, locally administered addresses, each in a VLAN of 1 to 4094, or all in one.
struct population {
  std::uint64_t entries = 0;   // in the table: indices 0 to entries - 1
  unsigned value_bits = 16;    // 1 to 24
  std::uint64_t one_vlan = 0;  // 0: all VLANs
  static constexpr unsigned index_bits = 46;

  /// The key as the FIB takes it: VLAN in bits 48-59, MAC in bits 0-47. `index` below 2^46.
  constexpr std::uint64_t key(std::uint64_t index) const noexcept {
    const std::uint64_t word = mix(index);
    const std::uint64_t all = 1 + (((word * 0x9fb21c651e98df25) >> 32) * 4094 >> 32);
    return (one_vlan != 0 ? one_vlan : all) << 48 | address(word);
  }

  /// Writes the key of an index, and returns its value.
  std::uint64_t put(std::uint64_t index, std::uint64_t* words) const noexcept {
    *words = key(index);
    return value(*words);
  }

  /// The MAC alone.
  static constexpr std::uint64_t mac(std::uint64_t index) noexcept { return address(mix(index)); }

  /// The value that belongs to a key: a port number that depends on every bit of it.
  std::uint32_t value(std::uint64_t key) const noexcept {
    return static_cast<std::uint32_t>((key * 0xd6e8feb86659fd93) >> (64 - value_bits));
  }

 private:
  // Odd multipliers and right shifts are bijections of 46 bits.
  static constexpr std::uint64_t mix(std::uint64_t index) noexcept {
    constexpr std::uint64_t mask = (std::uint64_t{1} << index_bits) - 1;
    // Not 0 for index 0, which would be an odd address to look at.
    std::uint64_t word = (index ^ 0x15a4e35b9c71) & mask;
    word = (word * 0x2c1b3c6d9e3779b1) & mask;
    word ^= word >> 24;
    word = (word * 0x19d699a5d1342543) & mask;
    return word ^ word >> 23;
  }
  // The two lowest bits of the first byte are "local" and "unicast".
  static constexpr std::uint64_t address(std::uint64_t word) noexcept {
    return (word >> 40) << 42 | std::uint64_t{1} << 41 | (word & 0xff'ffff'ffff);
  }
};

}  // namespace coua::bench
