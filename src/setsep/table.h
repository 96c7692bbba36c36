// SPDX-License-Identifier: Apache-2.0
//
// The table of set separation (simd/setsep_lookup/geometry.h): blocks of a few bits for each key,
// without the keys. One writer changes blocks in place while any number of readers look up without
// a lock. A key that is in it gives its value; any other one gives some value of `value_bits` bits.
//
// Versions are outside of the blocks, so that these stay as small as they are:
//
//   changes_     odd while something changes. A batch that sees the same even number before and
//                after has read a table that nobody changed: no reader looks at more.
//   stripes_     one for some 16 blocks, odd while one of them changes. Whose batch did overlap
//                with a change looks up each key on its own, under the stripe of its block.
//   patch_       the block that changes, as it will be. While its stripe is odd readers take this
//                one. So nobody waits for the writer, who may sleep in the middle of a change.
//
//   writer                                 reader of one key
//   entries of failed groups are put       extent, block of the key
//   changes_ odd, patch_                   stripe; odd and the patch is of the block: the patch,
//   stripe odd                               else the block
//   words of the block                     choice, record; entry if the group failed
//   stripe even                            stripe and extent as before? else once more
//   entries are dropped, changes_ even
//
// Memory order: words are stored with release, after the odd stripe, and loaded with acquire: who
// sees one of them sees the odd stripe in what it loads later. A patch is written over only after
// its stripe became even, so who reads the next one's words will see that. Growth stores the extent
// before the stripe of the split block is odd: who takes that block for one from before the split
// sees another extent at the end, and who has the new extent finds either the old block whole, or
// the patch.
//
// Vectors are loaded plainly: on x86 loads stay in order, and the kernels are calls that the
// compiler does not look into.
//
// Source: ScaleBricks (SIGCOMM 2015), sections 4 and 5; the concurrency is our own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/atomic_word.h"
#include "base/cache_line.h"
#include "base/cpu.h"
#include "base/reclaimer.h"
#include "base/result.h"
#include "setsep/fallback_table.h"
#include "setsep/keyed_value.h"
#include "simd/setsep_lookup/kernels.h"

namespace coua::setsep {

struct table_params {
  layout shape;
  extent size;
  std::uint32_t n_blocks_room = 0;  // that growth may lead to; 0: those of `size`
  isa instruction_set = best_isa();
  arena_params memory{};
  reclaimer* retired = nullptr;  // none: then nobody reads while the writer writes
};

/// What happens to one block.
struct block_change {
  std::uint32_t block = 0;
  std::span<const std::uint8_t> image;  // all of it, as it will be
  std::span<const keyed_value> put;     // of the fallback
  std::span<const key_hash> drop;
};

class table {
 public:
  /// Bytes of the memory for so many blocks.
  static std::uint64_t memory_bytes(const layout& shape, std::uint64_t n_blocks) {
    return n_blocks * shape.block_bytes() + slack_bytes;
  }
  /// All groups are empty. Errors: invalid, no_memory.
  static result<std::unique_ptr<table>> create(const table_params& params);
  /// As create(), of memory that has the blocks, room for further ones and the slack. Errors:
  /// invalid.
  static result<std::unique_ptr<table>> adopt(const table_params& params, arena blocks);
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  // Any number of threads.
  std::uint16_t find(const key_hash& hash) const noexcept;
  /// Any `n`; values[i] is that of hashes[i]. Prefers 32, or a multiple of it.
  void find_batch(const key_hash* hashes, std::size_t n, std::uint16_t* values) const noexcept;
  const char* simd() const noexcept { return to_string(kernels_.instruction_set); }

  // The writer.
  /// Changes may put `n` more entries then. Throws bad_alloc; nothing has changed.
  void reserve_fallback(std::size_t n) { fallback_.reserve(n, retired_); }
  // These throw nothing where there is room for what they put.
  void apply(const block_change& change);
  /// One block more; `change` is of size().next_split(). There is room.
  void apply_growth(const block_change& change, std::span<const std::uint8_t> added);

  // The writer, while there are no readers.
  std::uint8_t* block_to_fill(std::uint64_t i) noexcept { return bytes() + i * block_bytes_; }
  void put_fallback(const keyed_value& entry) { fallback_.put(entry, nullptr); }

  // The writer; others when nobody writes.
  const layout& shape() const noexcept { return view_.shape; }
  extent size() const noexcept;  // any thread
  std::uint32_t n_blocks_room() const noexcept { return n_blocks_room_; }
  std::span<const std::uint8_t> block(std::uint64_t i) const noexcept {
    return {bytes() + i * block_bytes_, block_bytes_};
  }
  /// As they are in memory.
  std::span<const std::uint8_t> blocks() const noexcept {
    return {bytes(), std::size_t{size().n_blocks} * block_bytes_};
  }
  const fallback_table& fallback() const noexcept { return fallback_; }
  const arena& memory() const noexcept { return memory_; }
  /// Whether it is so small that look-ups do not fetch ahead. Any thread.
  bool is_near() const noexcept { return load_relaxed(&view_.near); }
  /// Blocks that are in use, versions, the fallback and this object.
  std::uint64_t bytes_used() const noexcept;

 private:
  friend class lookup_pipeline;
  table() = default;

  std::uint8_t* bytes() const noexcept { return static_cast<std::uint8_t*>(memory_.data()); }
  std::uint32_t* words(std::uint64_t block) const noexcept {
    return reinterpret_cast<std::uint32_t*>(bytes() + block * block_bytes_);
  }
  std::uint64_t& stripe(std::uint32_t block) const noexcept {
    return stripes_[block & (stripes_.size() - 1)];
  }
  void find_some(const key_hash* hashes, std::size_t n, std::uint16_t* values) const noexcept;
  std::uint16_t find_among_changes(const key_hash& hash) const noexcept;
  void take_failed(const key_hash* hashes, std::uint32_t failed,
                   std::uint16_t* values) const noexcept;
  bool would_be_near(const extent& size) const noexcept;
  void begin(const block_change& change);
  void change_in_place(const block_change& change);
  void end(const block_change& change);

  // What every look-up reads; only growth writes it.
  simd::setsep_view view_;
  simd::setsep_kernels kernels_{};
  std::uint64_t size_ = 0;  // an extent
  unsigned block_bytes_ = 0;
  std::uint64_t near_bytes_ = 0;
  std::uint32_t n_blocks_room_ = 0;
  std::uint64_t serial_ = 0;  // of no other table in this process
  fallback_table fallback_;
  arena memory_;
  mutable std::vector<std::uint64_t> stripes_;  // a power of two
  std::vector<std::uint32_t> patch_;
  std::uint32_t patch_block_ = 0;
  reclaimer* retired_ = nullptr;
  // What each change writes, on a line of its own.
  alignas(cache_line_bytes) std::uint64_t changes_ = 0;
};

}  // namespace coua::setsep
