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

/// The slot for a new entry, and the moves that free it, as path_search finds them. path[0] is the
/// slot.
struct room_path {
  slot_position path[path_search::max_moves + 1];
  unsigned n_moves;
};

/// Looks for a guest of a bucket whose primary has room.
template <placeable Table>
[[gnu::always_inline]] inline bool find_homesick(Table& table, std::uint64_t bucket,
                                                 room_path& found) {
  std::uint64_t homes[Table::n_slots];
  for (std::uint32_t guests = table.guests(bucket, homes); guests != 0; guests &= guests - 1) {
    const auto slot = static_cast<unsigned>(__builtin_ctz(guests));
    const int free = table.free_slot(homes[slot]);
    if (free < 0) continue;
    found.path[0] = {bucket, slot};
    found.path[1] = {homes[slot], static_cast<unsigned>(free)};
    found.n_moves = 1;
    return true;
  }
  return false;
}

/// Finds room for a key whose primary bucket is `home`, and moves nothing. False: there is none
/// within the search budget. `seconds()` is called when there is none in the primary; it returns
/// the secondary buckets, up to seven and none twice, the one to prefer first.
template <placeable Table, typename Seconds>
[[gnu::always_inline]] inline bool find_room(Table& table, path_search& search, std::uint64_t home,
                                             Seconds seconds, room_path& found) {
  const auto found_free = [&](std::uint64_t bucket, int slot) {
    found.path[0] = {bucket, static_cast<unsigned>(slot)};
    found.n_moves = 0;
    return true;
  };
  if (const int slot = table.free_slot(home); slot >= 0) return found_free(home, slot);
  if (find_homesick(table, home, found)) return true;
  std::uint64_t roots[8] = {home};
  std::size_t n_roots = 1;
  for (const std::uint64_t second : seconds()) {
    if (second == home) continue;
    if (const int slot = table.free_slot(second); slot >= 0) return found_free(second, slot);
    roots[n_roots++] = second;
  }
  found.n_moves = search.find(table, {roots, n_roots}, found.path);
  return found.n_moves != 0;
}

/// Frees the slot path[0]. False: a move failed on the way.
template <placeable Table>
[[gnu::always_inline]] inline bool carry_out(Table& table, const room_path& found) {
  for (unsigned i = found.n_moves; i > 0; --i) {
    if (!table.move(found.path[i - 1], found.path[i])) return false;
  }
  return true;
}

/// Finds or makes a free slot.
template <placeable Table, typename Seconds>
[[gnu::always_inline]] inline placement make_room(Table& table, path_search& search,
                                                  std::uint64_t home, Seconds seconds) {
  room_path found;
  if (!find_room(table, search, home, seconds, found)) return {};
  if (!carry_out(table, found)) return {.answer = room::lost};
  return {found.path[0].bucket, found.path[0].slot, static_cast<std::uint16_t>(found.n_moves),
          room::found};
}

}  // namespace coua
