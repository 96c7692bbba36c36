// SPDX-License-Identifier: Apache-2.0
//
// A table of separated sets (geometry.h), made of all keys at once: a few bits for each key, and
// the keys are not in it. A key that was inserted gives its value; any other one gives some value
// of `value_bits` bits.
//
// Groups that no hash function separates are marked, and their keys are in a sorted list, in full
// (the fallback). With an index of 16 bits there is hardly one; with 8 bits, one in a hundred.
//
// A look-up touches the line with the choice of the bucket, and the line, or two, with the group. A
// batch asks for all of the former, then for all of the latter.
//
// Source: ScaleBricks (SIGCOMM 2015), sections 4 and 5.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/cpu.h"
#include "base/result.h"
#include "setsep/block_builder.h"
#include "setsep/geometry.h"

namespace coua::setsep {

struct build_params {
  layout shape;
  unsigned threads = 1;  // 1 to 256
  isa instruction_set = best_isa();
  arena_params memory{};
  /// Called with blocks done and all blocks, from any of the threads, one at a time; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress{};
};

class table {
 public:
  /// Of keys in any order; one that comes twice must have the same value. Values have no more bits
  /// than `shape` says. Errors: invalid, exists (a key with two values), no_memory.
  static result<table> build(std::span<const keyed_value> keys, const build_params& params);
  table(table&&) = default;
  table& operator=(table&&) = default;

  // Any number of threads.
  std::uint16_t find(const key_hash& hash) const noexcept;
  /// Any `n`; values[i] is that of hashes[i].
  void find_batch(const key_hash* hashes, std::size_t n, std::uint16_t* values) const noexcept;

  const layout& shape() const { return shape_; }
  /// As they are in memory.
  std::span<const std::uint8_t> blocks() const {
    return {block(0), n_blocks_ * shape_.block_bytes()};
  }
  std::uint64_t n_blocks() const { return n_blocks_; }
  std::uint64_t n_keys() const { return n_keys_; }
  /// Keys in groups that failed.
  std::uint64_t n_fallback() const { return fallback_.size(); }
  /// All of it, the fallback included.
  std::uint64_t bytes() const;

 private:
  table() = default;
  const std::uint8_t* block(std::uint64_t i) const noexcept {
    return static_cast<const std::uint8_t*>(memory_.data()) + i * shape_.block_bytes();
  }
  template <class Layout>
  void find_as(Layout of, const key_hash* hashes, std::size_t n,
               std::uint16_t* values) const noexcept;
  std::uint16_t find_fallback(const key_hash& hash) const noexcept;

  layout shape_;
  std::uint64_t n_blocks_ = 0;
  std::uint64_t n_keys_ = 0;
  arena memory_;
  std::vector<keyed_value> fallback_;  // sorted
};

}  // namespace coua::setsep
