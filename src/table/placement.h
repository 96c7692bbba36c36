// SPDX-License-Identifier: Apache-2.0
//
// The cuckoo core: where a new entry goes. Used by every table, with or without expiry, filters and
// readers; what is special about a table is in its slots and moves.
//
//   1. a free slot in the primary bucket;
//   2. else a guest there (an entry in a secondary bucket of its own) is sent home, if its primary
//      has room;
//   3. else a free slot in a secondary bucket;
//   4. else the shortest path of moves (path_search.h), made from its free end backwards, so that
//      every entry is in one of its buckets at any moment.
//
// Keeping entries in their primaries is what look-ups live on: 13 % are in a secondary bucket at
// load 0.90, 17 % at 0.95.
#pragma once

#include <cstdint>
#include <span>

#include "table/path_search.h"

namespace coua {

/// What placing needs of a table beyond what searching needs.
template <typename Table>
concept placeable = searchable<Table> && requires(Table& table, std::uint64_t bucket,
                                                  std::uint64_t* homes, slot_position at) {
  // Bit s is set when slot s holds a guest; its primary bucket is written to homes[s], and fetched.
  { table.guests(bucket, homes) } -> std::same_as<std::uint32_t>;
  // Moves an entry to a free slot of another of its buckets. False: it cannot go there any more.
  { table.move(at, at) } -> std::same_as<bool>;
};

enum class room : std::uint8_t {
  found,
  full,  // none within the search budget
  lost   // a move failed on the way: try again
};

/// Two words, so that it is returned in registers: through memory, the caller would wait for all
/// stores that came before.
struct placement {
  std::uint64_t bucket = 0;
  std::uint32_t slot = 0;
  std::uint16_t n_moves = 0;
  room answer = room::full;

  slot_position at() const { return {bucket, slot}; }
};
static_assert(sizeof(placement) == 16);

/// Moves one guest of a bucket to its primary, if one has room. Returns the freed slot or -1.
template <placeable Table>
[[gnu::always_inline]] inline int send_guest_home(Table& table, std::uint64_t bucket) {
  std::uint64_t homes[Table::n_slots];
  for (std::uint32_t guests = table.guests(bucket, homes); guests != 0; guests &= guests - 1) {
    const auto slot = static_cast<unsigned>(__builtin_ctz(guests));
    const int free = table.free_slot(homes[slot]);
    if (free < 0) continue;
    if (table.move({bucket, slot}, {homes[slot], static_cast<unsigned>(free)})) {
      return static_cast<int>(slot);
    }
  }
  return -1;
}

/// Finds or makes a free slot for a key whose primary bucket is `home`. `seconds()` is called when
/// there is none there; it returns the secondary buckets, up to seven and none twice, the one to
/// prefer first.
template <placeable Table, typename Seconds>
[[gnu::always_inline]] inline placement make_room(Table& table, path_search& search,
                                                  std::uint64_t home, Seconds seconds) {
  const auto found = [](std::uint64_t bucket, int slot, unsigned n_moves) {
    return placement{bucket, static_cast<std::uint32_t>(slot), static_cast<std::uint16_t>(n_moves),
                     room::found};
  };
  if (const int slot = table.free_slot(home); slot >= 0) return found(home, slot, 0);
  if (const int slot = send_guest_home(table, home); slot >= 0) return found(home, slot, 1);
  std::uint64_t roots[8] = {home};
  std::size_t n_roots = 1;
  for (const std::uint64_t second : seconds()) {
    if (second == home) continue;
    if (const int slot = table.free_slot(second); slot >= 0) return found(second, slot, 0);
    roots[n_roots++] = second;
  }
  slot_position path[path_search::max_moves + 1];
  const unsigned n_moves = search.find(table, {roots, n_roots}, path);
  if (n_moves == 0) return {};
  for (unsigned i = n_moves; i > 0; --i) {
    if (!table.move(path[i - 1], path[i])) return {.answer = room::lost};
  }
  return found(path[0].bucket, static_cast<int>(path[0].slot), n_moves);
}

}  // namespace coua
