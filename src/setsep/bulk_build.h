// SPDX-License-Identifier: Apache-2.0
//
// A table of all keys at once, by several threads, a few blocks at a time. Whatever the threads and
// the order of the keys, the same one.
#pragma once

#include <functional>
#include <span>

#include "base/cpu.h"
#include "setsep/keyed_value.h"
#include "setsep/table.h"

namespace coua::setsep {

struct build_params {
  layout shape;
  unsigned threads = 1;         // 1 to 256
  std::uint64_t keys_room = 0;  // keys that growth may lead to; 0: those that are given
  isa instruction_set = best_isa();
  arena_params memory{};
  /// Called with blocks done and all blocks, from any of the threads, one at a time; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress{};
};

/// Blocks for so many keys.
std::uint64_t blocks_for(std::uint64_t n_keys);

/// Fills `into`, which is empty and has no readers. `kept`, when not empty, is told the keys of
/// each block, from any of the threads, each block once; of keys that come twice both. Errors:
/// invalid (a value of too many bits), exists (a key with two values), no_memory.
result<void> build_into(
    table& into, std::span<const keyed_value> keys, const build_params& params,
    const std::function<void(std::uint64_t block, std::span<const keyed_value> keys)>& kept = {});

/// Of keys in any order; one that comes twice must have the same value. Errors: as above.
result<std::unique_ptr<table>> build_table(std::span<const keyed_value> keys,
                                           const build_params& params);

}  // namespace coua::setsep
