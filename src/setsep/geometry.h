// SPDX-License-Identifier: Apache-2.0
//
// Set separation (SetSep): the value of each of many keys in a few bits, without the keys
// (ScaleBricks, SIGCOMM 2015, section 4). Who asks for a key that was never inserted gets some
// value.
//
//   hash of 128 bits --> block of some 1,024 keys
//                        bucket, one of 256 of its block         4 keys
//                        group, one of 64 of its block          16 keys
//                          by the choice of the bucket, 2 bits: one of 4 groups
//
//   block   | choices: 64 bytes | group 0 | group 1 | ... | group 63 |
//   group   for each bit of the value: index i of a hash function, an array of 8 or 16 bits
//           bit of a key = array[upper bits of (base + i * step)]
//
// The choices are there because groups must not be large: to separate 16 keys takes some hundred
// functions, each key more doubles that.
//
// Size, in bits a key, with an index of 16 bits and an array of 8: 0.5 for the choice, and 1.5 for
// each bit of the value.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace coua::setsep {

/// Of a key, under a secret.
struct key_hash {
  std::uint64_t high = 0, low = 0;
  bool operator==(const key_hash&) const = default;
};

inline constexpr unsigned block_keys = 1024;  // on average
inline constexpr unsigned block_buckets = 256;
inline constexpr unsigned block_groups = 64;
inline constexpr unsigned n_choices = 4;
inline constexpr unsigned choice_bytes = block_buckets / 4;
inline constexpr unsigned value_bits_max = 16;

// What a hash is used for. The parts overlap nowhere but in the lowest bit of `step`.
inline std::uint64_t block_of(const key_hash& hash, std::uint64_t n_blocks) noexcept {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(hash.high) * n_blocks >> 64);
}
inline unsigned bucket_of(const key_hash& hash) noexcept { return hash.low % block_buckets; }
inline std::uint32_t base_of(const key_hash& hash) noexcept {
  return static_cast<std::uint32_t>(hash.low >> 32);
}
inline std::uint32_t step_of(const key_hash& hash) noexcept {
  return static_cast<std::uint32_t>(hash.high) | 1;
}

/// The group that a choice of a bucket means, at [bucket * n_choices + choice]. Each choice alone
/// sends four buckets to each group, and the four choices of a bucket are four groups (both
/// tested). A table, since a look-up would wait longer for the arithmetic.
inline constexpr auto group_table = [] {
  constexpr std::array<unsigned, n_choices> factor{23, 199, 55, 151}, addend{211, 237, 55, 218};
  std::array<std::uint8_t, std::size_t{block_buckets} * n_choices> made{};
  for (unsigned i = 0; i < made.size(); ++i) {
    const unsigned bucket = i / n_choices, choice = i % n_choices;
    made[i] =
        static_cast<std::uint8_t>((bucket * factor[choice] + addend[choice]) % block_buckets / 4);
  }
  return made;
}();
constexpr unsigned group_of(unsigned bucket, unsigned choice) noexcept {
  return group_table[bucket * n_choices + choice];
}

/// Which indices and arrays a group has.
struct layout {
  unsigned value_bits = 1;   // 1 to value_bits_max
  unsigned index_bytes = 2;  // 1 or 2: 256 or 65,536 functions
  unsigned array_bytes = 1;  // 1 or 2: 8 or 16 places

  constexpr unsigned place_bits() const noexcept { return array_bytes == 1 ? 3 : 4; }
  /// The last one says that the group failed: its keys are in the fallback table.
  constexpr std::uint32_t failed() const noexcept { return index_bytes == 1 ? 0xff : 0xffff; }
  constexpr unsigned part_bytes() const noexcept { return index_bytes + array_bytes; }
  constexpr unsigned group_bytes() const noexcept { return value_bits * part_bytes(); }
  constexpr unsigned block_bytes() const noexcept {
    return choice_bytes + block_groups * group_bytes();
  }
  bool operator==(const layout&) const = default;
};

/// One bit of the value: an index and its array. Four bytes at `from` may be read.
struct group_part {
  std::uint32_t index = 0, places = 0;
};
template <class Layout>
group_part load_part(const Layout& of, const std::uint8_t* from) noexcept {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof word);
  const std::uint32_t index_mask = of.index_bytes == 1 ? 0xff : 0xffff;
  const std::uint32_t array_mask = of.array_bytes == 1 ? 0xff : 0xffff;
  return {word & index_mask, word >> 8 * of.index_bytes & array_mask};
}
inline void store_part(const layout& of, std::uint8_t* to, const group_part& part) noexcept {
  const std::uint32_t word = part.index | part.places << 8 * of.index_bytes;
  std::memcpy(to, &word, of.part_bytes());
}
/// Bytes behind the last block that load_part() may read.
inline constexpr unsigned slack_bytes = 4;

}  // namespace coua::setsep
