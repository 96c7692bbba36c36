// SPDX-License-Identifier: Apache-2.0
//
// The keys of one block, by bucket: what the builder's side of a table keeps. 24 bytes a key, one
// for its bucket's head and size, and a sixteenth for room: some 27.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/prefetch.h"
#include "setsep/keyed_value.h"

namespace coua::setsep {

class keys_of_block {
 public:
  /// The links have 16 bits. Blocks of more than some 1,500 keys do not separate anyway.
  static constexpr std::size_t keys_max = 32'768;

  keys_of_block() { first_.fill(none); }

  /// null: not there. Until the next add().
  std::uint16_t* find(const key_hash& hash) noexcept;
  /// It is not there yet; there are fewer than keys_max. Throws bad_alloc.
  void add(const keyed_value& key);
  /// False: it was not there.
  bool remove(const key_hash& hash) noexcept;
  /// Throws bad_alloc.
  void reserve(std::size_t n) { slots_.reserve(n); }

  std::size_t size() const noexcept { return n_; }
  std::uint64_t bytes() const noexcept { return sizeof *this + slots_.capacity() * sizeof(slot); }

  /// each(keyed_value) for all keys of a bucket, in no order.
  template <class Each>
  void for_bucket(unsigned bucket, const Each& each) const {
    for (std::uint16_t i = first_[bucket]; i != none; i = slots_[i].next) {
      each(keyed_value{slots_[i].hash, slots_[i].value});
    }
  }
  unsigned bucket_size(unsigned bucket) const noexcept { return sizes_[bucket]; }
  /// That of its first key, and of the next ones where they were added one after the other.
  void prefetch(unsigned bucket) const noexcept {
    if (first_[bucket] == none) return;
    prefetch_to_write(&slots_[first_[bucket]]);
  }

 private:
  struct slot {
    key_hash hash;
    std::uint16_t value, next;
  };
  static constexpr std::uint16_t none = 0xffff;

  std::array<std::uint16_t, block_buckets> first_;
  std::array<std::uint16_t, block_buckets> sizes_{};  // else each would be counted, key by key
  std::vector<slot> slots_;
  std::uint16_t free_ = none;  // the first of those that were removed
  std::uint32_t n_ = 0;
};

}  // namespace coua::setsep
