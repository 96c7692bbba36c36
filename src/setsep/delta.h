// SPDX-License-Identifier: Apache-2.0
//
// What a builder sends to replicas: changes of blocks, in the order in which they happened.
// Numbers are little-endian; a varint has seven bits in each byte, the lowest first, and the
// highest bit set in all but the last.
//
//   header, 32 bytes   "CSSD", version 16, zero 16, table 64, sequence 64, bytes of the body 32,
//                      CRC-32C of all but itself 32
//   change             what 8: bit 0: growth; 1: choices; 2: fallback; 3-7: records, 0 to 31
//     of a block         block varint
//                        choices (n 8; n times bucket 8, choice 8)
//                        records (group 8; index and array of each bit of the value)
//                        fallback
//     growth             blocks afterwards varint, the block that was split, the new one
//                        fallback
//   fallback           put varint, drop varint (numbers of them);
//                      put: hash high 64, low 64, value 16; drop: hash high 64, low 64
//
// A change of one group of values of 2 bits in 16+8 takes 10 or 11 bytes.
//
// A delta is applied whole or not at all, but not at one moment: readers may see the changes of
// some of its blocks and not yet of others.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "setsep/keyed_value.h"

namespace coua::setsep {

inline constexpr unsigned delta_header_bytes = 32;
inline constexpr unsigned delta_records_max = 31;
/// No builder makes a larger one: it refuses changes until its delta is taken.
inline constexpr std::size_t delta_body_max = std::size_t{1} << 30;

/// What identifies a delta, and a snapshot.
struct table_version {
  std::uint64_t table = 0;     // drawn by the builder when it was made
  std::uint64_t sequence = 0;  // of deltas: 1 is the first; of a table: the last one that is in it
  bool operator==(const table_version&) const = default;
};

struct bucket_choice {
  std::uint8_t bucket = 0, choice = 0;
};
struct group_record {
  std::uint8_t group = 0;
  const std::uint8_t* record = nullptr;
};
/// One change as it was read. Valid until the next one.
struct delta_change {
  bool growth = false;
  std::uint32_t block = 0;  // of growth: blocks afterwards
  std::vector<bucket_choice> choices;
  std::vector<group_record> records;
  std::span<const std::uint8_t> split, added;  // of growth
  std::vector<keyed_value> put;
  std::vector<key_hash> drop;
};

/// Collects changes, and seals them.
class delta_writer {
 public:
  explicit delta_writer(const layout& of) : layout_(of) { clear(); }
  /// Throws bad_alloc; nothing has changed.
  void add(const delta_change& change);
  bool empty() const { return bytes_.size() == delta_header_bytes; }
  std::size_t bytes() const { return bytes_.size(); }
  std::span<const std::uint8_t> seal(const table_version& as);
  void clear() { bytes_.assign(delta_header_bytes, 0); }

 private:
  void write(const delta_change& change);
  void write_fallback(const delta_change& change);
  const layout layout_;
  std::vector<std::uint8_t> bytes_;
};

/// Reads what the header says. Errors: invalid (no delta, or a damaged one).
result<table_version> open_delta(std::span<const std::uint8_t> delta);

/// The changes of a delta that was opened, for a table of this layout and size.
class delta_reader {
 public:
  delta_reader(std::span<const std::uint8_t> delta, const layout& of, extent size,
               std::uint32_t n_blocks_room)
      : left_(delta.subspan(delta_header_bytes)), layout_(of), size_(size), room_(n_blocks_room) {}

  bool at_end() const { return left_.empty(); }
  /// Errors: invalid; no_room (growth beyond the room of the table).
  result<void> next(delta_change& into);

 private:
  result<void> read_fallback(delta_change& into);
  bool take(std::span<const std::uint8_t>& into, std::size_t n);
  template <class Number>
  bool take(Number& into);
  bool take_varint(std::uint64_t& into);

  std::span<const std::uint8_t> left_;
  const layout layout_;
  extent size_;
  const std::uint32_t room_;
};

}  // namespace coua::setsep
