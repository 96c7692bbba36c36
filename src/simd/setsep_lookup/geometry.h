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
//
// What a hash is used for; only the lowest bit of `step` is used by nothing else:
//
//   high   | place: share of the first blocks, 32 | step, 32 (odd) |
//   low    | base, 32 | split: which of the blocks that a first one was split into, 24 | bucket, 8
//   |
//
// Growth, one block at a time (linear hashing; Litwin, VLDB 1980). A table begins with F blocks and
// has n now, F * 2^L <= n < F * 2^(L+1). Block n - F * 2^L is the next to be split: its keys whose
// bit L of `split` is set go to the new block n, no other block changes.
//
//   block = place * F / 2^32 + F * (split mod 2^(L+1)); minus F * 2^L if that is not below n
//
// Here, and not beside the table, since the look-up kernels of all instruction sets know it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/atomic_word.h"

namespace coua::setsep {

static_assert(std::endian::native == std::endian::little, "blocks are read by words");

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
inline constexpr unsigned split_bits = 24;
/// Blocks that a table may have: 4 billion keys and more, and their numbers have room to grow.
inline constexpr std::uint32_t n_blocks_max = std::uint32_t{1} << 22;

[[gnu::always_inline]] inline std::uint32_t place_of(const key_hash& hash) noexcept {
  return static_cast<std::uint32_t>(hash.high >> 32);
}
[[gnu::always_inline]] inline std::uint32_t step_of(const key_hash& hash) noexcept {
  return static_cast<std::uint32_t>(hash.high) | 1;
}
[[gnu::always_inline]] inline std::uint32_t base_of(const key_hash& hash) noexcept {
  return static_cast<std::uint32_t>(hash.low >> 32);
}
[[gnu::always_inline]] inline std::uint32_t split_of(const key_hash& hash) noexcept {
  return static_cast<std::uint32_t>(hash.low) >> 8;
}
[[gnu::always_inline]] inline unsigned bucket_of(const key_hash& hash) noexcept {
  return static_cast<std::uint8_t>(hash.low);
}

/// How many blocks there are. One word, so that a reader sees all of it change at once.
struct extent {
  std::uint32_t n_first = 1;   // F
  std::uint32_t n_blocks = 1;  // n

  bool operator==(const extent&) const = default;
  [[gnu::always_inline]] unsigned level() const noexcept {
    return static_cast<unsigned>(std::bit_width(n_blocks / n_first)) - 1;
  }
  /// The block whose keys the next new block takes a part of.
  [[gnu::always_inline]] std::uint32_t next_split() const noexcept {
    return n_blocks - (n_first << level());
  }
  [[gnu::always_inline]] std::uint32_t block_of(const key_hash& hash) const noexcept {
    const unsigned now = level();
    const auto first = static_cast<std::uint32_t>(std::uint64_t{place_of(hash)} * n_first >> 32);
    const std::uint32_t block =
        first + n_first * (split_of(hash) & ((std::uint32_t{2} << now) - 1));
    return block < n_blocks ? block : block - (n_first << now);
  }
};

/// The group that a choice of a bucket means. Each choice alone sends four buckets to each group,
/// and the four choices of a bucket are four groups (both tested).
inline constexpr std::uint32_t group_factor[n_choices] = {23, 199, 55, 151};
inline constexpr std::uint32_t group_addend[n_choices] = {211, 237, 55, 218};
/// At [bucket * n_choices + choice]: for look-ups without vectors, which would wait longer for the
/// arithmetic.
inline constexpr auto group_table = [] {
  std::array<std::uint8_t, std::size_t{block_buckets} * n_choices> made{};
  for (unsigned i = 0; i < made.size(); ++i) {
    const unsigned bucket = i / n_choices, choice = i % n_choices;
    made[i] = static_cast<std::uint8_t>((bucket * group_factor[choice] + group_addend[choice]) %
                                        block_buckets / 4);
  }
  return made;
}();
[[gnu::always_inline]] constexpr unsigned group_of(unsigned bucket, unsigned choice) noexcept {
  return group_table[bucket * n_choices + choice];
}

/// Which indices and arrays a group has.
struct layout {
  unsigned value_bits = 1;   // 1 to value_bits_max
  unsigned index_bytes = 2;  // 1 or 2: 256 or 65,536 functions
  unsigned array_bytes = 1;  // 1 or 2: 8 or 16 places

  [[gnu::always_inline]] constexpr unsigned place_bits() const noexcept {
    return array_bytes == 1 ? 3 : 4;
  }
  /// The last one says that the group failed: its keys are in the fallback table.
  [[gnu::always_inline]] constexpr std::uint32_t failed() const noexcept {
    return index_bytes == 1 ? 0xff : 0xffff;
  }
  [[gnu::always_inline]] constexpr unsigned part_bytes() const noexcept {
    return index_bytes + array_bytes;
  }
  [[gnu::always_inline]] constexpr unsigned group_bytes() const noexcept {
    return value_bits * part_bytes();
  }
  /// A multiple of 64.
  [[gnu::always_inline]] constexpr unsigned block_bytes() const noexcept {
    return choice_bytes + block_groups * group_bytes();
  }
  bool operator==(const layout&) const = default;
};

/// One bit of the value: an index and its array.
struct group_part {
  std::uint32_t index = 0, places = 0;
};
template <class Layout>
[[gnu::always_inline]] inline group_part split_part(const Layout& of, std::uint32_t word) noexcept {
  const std::uint32_t index_mask = of.index_bytes == 1 ? 0xff : 0xffff;
  const std::uint32_t array_mask = of.array_bytes == 1 ? 0xff : 0xffff;
  return {word & index_mask, word >> 8 * of.index_bytes & array_mask};
}
template <class Layout>
[[gnu::always_inline]] inline unsigned bit_of(const Layout& of, const group_part& part,
                                              std::uint32_t base, std::uint32_t step) noexcept {
  return part.places >> ((base + part.index * step) >> (32 - of.place_bits())) & 1;
}
inline group_part load_part(const layout& of, const std::uint8_t* from) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, from, of.part_bytes());
  return split_part(of, word);
}
inline void store_part(const layout& of, std::uint8_t* to, const group_part& part) noexcept {
  const std::uint32_t word = part.index | part.places << 8 * of.index_bytes;
  std::memcpy(to, &word, of.part_bytes());
}
/// Bytes behind the last block that a look-up may read.
inline constexpr unsigned slack_bytes = 64;

}  // namespace coua::setsep
