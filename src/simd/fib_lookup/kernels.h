// SPDX-License-Identifier: Apache-2.0
//
// The look-up kernels of the FIB: one set of plain functions per instruction set and layout, chosen
// once when a table is created. All sets give the same answers (fuzz/fib_kernels_fuzz.cc).
//
//   batch     up to 32 keys: all primary buckets are fetched at once, and the secondary ones of the
//             last 16 keys; more: groups of 32, and while one is looked into, the next is fetched
//             (near: nothing is fetched, both buckets of all keys are looked into)
//   ahead     groups too, and with the last group the first group of the caller's next batch
//   refresh   batch, and stale age stamps are renewed by compare-exchange
//   pipeline  keys go through three stages, block by block; answers come in order, two to three
//             blocks later
//
// Thread rules: any number of threads, each with its own `fib_reader_state`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"
#include "simd/fib_lookup/view.h"

namespace coua::simd {

/// Keys in flight of one reader, in a ring. A block of keys goes from stage to stage: submitted
/// (its primary buckets are being fetched), probed (the secondary buckets of those not found there
/// are being fetched), done.
struct fib_pipeline {
  static constexpr unsigned block = 128;        // keys
  static constexpr unsigned depth = 3 * block;  // keys in flight: a block in each stage
  static constexpr unsigned capacity = 512;     // keys; a power of two above the depth

  // Totals since creation, in keys; positions in the ring are these modulo the capacity.
  std::uint64_t submitted = 0, probed = 0, done = 0, collected = 0;
  std::uint64_t permuted[capacity];
  std::uint32_t entries[capacity];
  std::uint64_t clock[capacity / block];     // when the block's primary buckets were read
  std::uint8_t n_pending[capacity / block];  // keys of the block not found there
  std::uint8_t pending[capacity];            // their places in the block, from its first key
};

struct fib_reader_state {
  std::uint64_t retries = 0;  // written by its reader only
  fib_pipeline pipeline;
};

struct fib_kernels {
  isa instruction_set;
  std::size_t (*batch)(const fib_view&, fib_reader_state&, const std::uint64_t* keys, std::size_t n,
                       std::uint32_t* entries) noexcept;
  std::size_t (*ahead)(const fib_view&, fib_reader_state&, const std::uint64_t* keys, std::size_t n,
                       std::uint32_t* entries, const std::uint64_t* next_keys,
                       std::size_t n_next) noexcept;
  std::size_t (*refresh)(const fib_view&, fib_reader_state&, const std::uint64_t* keys,
                         std::size_t n, std::uint32_t* entries) noexcept;
  std::size_t (*pipeline)(const fib_view&, fib_reader_state&, const std::uint64_t* keys,
                          std::size_t n, std::uint32_t* entries) noexcept;
  std::size_t (*drain)(const fib_view&, fib_reader_state&, std::uint32_t* entries) noexcept;
};

enum class fib_layout { packed8, packed4, wide8 };
inline constexpr int n_layouts = 3;

/// Where a table lies: beyond the second-level cache, or in it.
enum class distance { far, near };

/// The kernels for a layout on an instruction set that this machine has; a set that was not built
/// in falls back to the next lower one.
const fib_kernels& select_fib_kernels(fib_layout layout, isa instruction_set,
                                      distance where = distance::far);

}  // namespace coua::simd
