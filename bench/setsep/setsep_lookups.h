// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/setsep/setsep_contest.h"
#include "setsep/table.h"

namespace coua::bench {

/// Keys of each thread's trace: as many lines as the table of 64 M keys has, and 4 MiB of hashes,
/// which shall not take the cache from the table.
inline constexpr std::size_t setsep_trace_keys = std::size_t{1} << 18;

/// Our ways to look up, with `params` and `more` of every row: ready hashes in calls of so many
/// keys each (`setsep/lookup`), in the pipeline (`setsep/pipeline`); where `mapped` is not null, in
/// this table of the same keys in calls of 32 (`setsep/mapped-lookup`); and, where `hasher` is not
/// null, from keys in calls of 32 (`setsep/hash-lookup`). What is passed outlives them.
std::vector<setsep_contender> setsep_lookups(const setsep::table& in, const setsep::table* mapped,
                                             const std::vector<std::uint64_t>& batches,
                                             const setsep::key_hasher* hasher, const json& params,
                                             const json& more);

}  // namespace coua::bench
