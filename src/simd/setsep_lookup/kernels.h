// SPDX-License-Identifier: Apache-2.0
//
// Look-up in set separation (geometry.h), by stages, so that what a stage has asked memory for is
// there when the next one reads it:
//
//   locate    hashes -> blocks; fetches the lines with the choices of the buckets
//   choose    reads the choices -> records of the groups; fetches their lines
//   resolve   reads the records -> values
//
// All instruction sets give the same values. Nothing here knows of a writer: words may change while
// they are read, and then the values mean nothing; the table (setsep/table.h) finds out. Whatever
// the words are, nothing outside of the blocks and the slack behind them is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"
#include "simd/setsep_lookup/geometry.h"

namespace coua::simd {

/// Keys that are looked up together. More would be fetched than the caches have buffers for.
inline constexpr std::size_t setsep_batch = 32;

/// Blocks, in words of four bytes: a writer changes them by words.
struct setsep_view {
  const std::uint32_t* blocks = nullptr;
  setsep::layout shape;
  // In the second-level cache: fetching ahead costs more than it saves. Growth may end that while
  // it is read; whoever sees that late is slower.
  bool near = false;
};

/// Keys on their way. In an order of the kernels' own: no stage may be another kernel's.
struct setsep_keys {
  // Of the block or of the bucket's choice; after choose() of the block or of the record.
  alignas(64) std::uint32_t at[setsep_batch];
  alignas(64) std::uint32_t bucket[setsep_batch];
  alignas(64) std::uint32_t base[setsep_batch];
  alignas(64) std::uint32_t step[setsep_batch];
};

/// `n`: 1 to setsep_batch, the same for all stages. Any number of threads.
struct setsep_kernels {
  isa instruction_set;
  void (*locate)(const setsep_view&, setsep::extent, const setsep::key_hash* hashes, std::size_t n,
                 setsep_keys&) noexcept;
  void (*choose)(const setsep_view&, std::size_t n, setsep_keys&) noexcept;
  /// A bit for each key whose group failed, and the value 0.
  std::uint32_t (*resolve)(const setsep_view&, std::size_t n, const setsep_keys&,
                           std::uint16_t* values) noexcept;
};

/// `table_bytes`: of all the blocks that there may be. The vectors' offsets have 31 bits.
const setsep_kernels& select_setsep_kernels(isa instruction_set, std::uint64_t table_bytes);

// The built-in sets.
extern const setsep_kernels generic_setsep_kernels;
extern const setsep_kernels avx2_setsep_kernels;

}  // namespace coua::simd
