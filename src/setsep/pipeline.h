// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous look-up: keys are submitted, and their values come in the same order with later
// calls. Keys collect in rounds of 32; while one round is located, the one before chooses its
// groups, and the one before that is resolved: nothing waits for memory that was asked for in the
// same round.
//
//   submitted -> | filling | located | chosen | -> ready -> values
//
// A round in whose time the table changed is looked up again, key by key. Where a table is in the
// second-level cache or not far from it there is nothing to wait for: then, if nothing is in
// flight, keys are answered at once.
#pragma once

#include <array>
#include <cstdint>

#include "setsep/table.h"

namespace coua::setsep {

/// Used by one thread at a time.
class lookup_pipeline {
 public:
  static constexpr std::size_t depth = 4 * simd::setsep_batch;

  /// Takes `n` keys and writes up to `n` values, of the oldest ones; returns how many. The table
  /// may be another one than at the last call, if it knows keys by the same hashes.
  std::size_t submit(const table& in, const key_hash* hashes, std::size_t n,
                     std::uint16_t* values) noexcept;
  /// Writes the values of all keys that are left, `depth` at most; returns how many.
  std::size_t drain(const table& in, std::uint16_t* values) noexcept;
  std::size_t in_flight() const noexcept { return n_submitted_ - n_answered_; }

 private:
  struct round {
    std::array<key_hash, simd::setsep_batch> hashes;
    simd::setsep_keys keys;
    std::uint64_t in = 0;  // serial number of the table; 0: to be looked up again
    extent size;
    std::uint64_t changes = 0;
  };
  round& at(std::uint64_t number) noexcept { return rounds_[number % rounds_.size()]; }
  void locate(const table& in, round& which) noexcept;
  void choose(const table& in, round& which) noexcept;
  void resolve(const table& in, round& which, std::uint16_t* values) noexcept;
  std::size_t hand_over(std::uint16_t* values, std::size_t room) noexcept;

  std::array<round, 3> rounds_;
  std::uint64_t n_submitted_ = 0, n_resolved_ = 0, n_answered_ = 0;
  std::array<std::uint16_t, 2 * simd::setsep_batch> ready_;  // those resolved and not answered
};

}  // namespace coua::setsep
