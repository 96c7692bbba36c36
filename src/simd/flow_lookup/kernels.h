// SPDX-License-Identifier: Apache-2.0
//
// The look-up kernels of the flow table: one set of plain functions per combination of policies,
// shape of the entries and instruction set, chosen once when a table is created. All instruction
// sets give the same answers.
//
// A look-up goes through four steps, and between them other keys have their turn while memory is
// fetched. Keys are taken in groups of 32:
//
//   start     hash the keys                                fetch the primary buckets
//   homes     compare tags there                           fetch the entries that they nominate, or
//                                                          the second buckets
//   seconds   compare tags there, for the few              fetch their entries
//   finish    compare keys, copy values out, check versions
//
//   batch     more than one group: the next one starts while one is between homes and finish
//   ahead     the same, and with the last group the first of the caller's next batch
//   refresh   batch, and the timers of entries that were found are renewed
//             (where there are four keys or fewer, and none is announced, one after the other)
//   pipeline  every group waits for others between all of its steps; answers come in order
//
// Nothing is fetched where the whole table stays in the second-level cache (flow_view::is_small).
//
// Thread rules: any number of threads, each with its own flow_reader_state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cpu.h"
#include "simd/flow_lookup/view.h"

namespace coua::simd {

struct flow_group {
  static constexpr unsigned size = 32;
  unsigned n = 0;
  unsigned n_found = 0;      // in `found`
  unsigned n_seconds = 0;    // in `seconds`
  std::uint32_t unsure = 0;  // keys whose answer does not stand: they are looked up again
  std::uint32_t hits = 0;
  std::uint64_t now = 0;           // when the primary buckets were read
  std::uint64_t moves = 0;         // likewise
  std::uint64_t* keys = nullptr;   // as words
  std::uint8_t* values = nullptr;  // of the pipeline: answers that wait to be collected
  alignas(64) std::uint64_t hashes[size];
  std::uint64_t homes[size];  // primary bucket
  std::uint64_t where[size];  // number of the entry that a tag nominated
  std::uint64_t seen[size];   // meta of the last bucket, before its tags were read
  std::uint8_t vias[size];    // function of the second bucket
  // Lists, with room for what is written at once.
  std::uint8_t found[size + 8];    // keys that have a nominated entry
  std::uint8_t seconds[size + 8];  // keys to look for in a second bucket
};

struct flow_reader_state {
  static constexpr unsigned block = flow_group::size;
  static constexpr unsigned start_to_homes = 2;  // groups in between, of the pipeline
  static constexpr unsigned homes_to_seconds = 1;
  static constexpr unsigned seconds_to_finish = 1;
  static constexpr unsigned depth =
      block * (start_to_homes + homes_to_seconds + seconds_to_finish + 1);
  static constexpr unsigned n_ring = 8;  // groups; a power of two above depth / block

  /// Lines up to here come from the third-level cache, most of them: to wait for a second one takes
  /// less than to fetch it for every key. With twice as many, hits get slower.
  static constexpr std::uint64_t near_bytes = std::uint64_t{4} << 20;

  explicit flow_reader_state(const flow_view& view);

  /// Whether a batch in a table with filters fetches both buckets of its keys at once.
  bool fetches_both() const { return !is_near && !found_few; }

  std::uint64_t retries = 0;  // written by its reader only
  std::uint64_t second_looks = 0;
  bool is_near = false;    // the table's lines take no more than near_bytes
  bool found_few = false;  // of the last batch, less than a quarter
  // Keys since creation that passed each step; group and place in it are this / and % the size.
  std::uint64_t started = 0, homed = 0, seconded = 0, finished = 0, collected = 0;
  std::array<flow_group, 2> batch;
  std::array<flow_group, n_ring> ring;

 private:
  std::vector<std::uint64_t> memory_;
};

struct flow_kernels {
  using keys_in = const std::uint8_t*;
  const char* name;  // of the instruction set
  std::size_t (*batch)(const flow_view&, flow_reader_state&, keys_in keys,
                       const std::uint64_t* hashes, std::size_t n, std::uint8_t* values,
                       std::uint64_t* hits) noexcept;
  std::size_t (*ahead)(const flow_view&, flow_reader_state&, keys_in keys, std::size_t n,
                       std::uint8_t* values, std::uint64_t* hits, keys_in next_keys,
                       std::size_t n_next) noexcept;
  std::size_t (*refresh)(const flow_view&, flow_reader_state&, keys_in keys, std::size_t n,
                         std::uint8_t* values, std::uint64_t* hits, std::uint32_t units) noexcept;
  std::size_t (*pipeline)(const flow_view&, flow_reader_state&, keys_in keys, std::size_t n,
                          std::uint8_t* values, std::uint64_t* hits) noexcept;
  std::size_t (*drain)(const flow_view&, flow_reader_state&, std::uint8_t* values,
                       std::uint64_t* hits) noexcept;
};

enum class flow_variant { bloom, optimistic, pessimistic, horton };
enum class flow_sync { single, one_writer };

struct flow_kind {
  flow_variant variant = flow_variant::bloom;
  bool timed = false;
  flow_sync sync = flow_sync::single;
};

/// The kernels for a table of this kind whose entries have these widths.
const flow_kernels& select_flow_kernels(flow_kind kind, unsigned key_words, unsigned value_bytes,
                                        isa instruction_set);

}  // namespace coua::simd
