// SPDX-License-Identifier: Apache-2.0
//
// Keys of a group that wait to be looked up in subtables, each in its own: their buckets are
// fetched as they are put in, and looked into together.
#pragma once

#include <cstdint>

#include "classify/lookup_group.h"
#include "classify/subtable.h"
#include "simd/flow_lookup/probes.h"

namespace coua {

class probe_queue {
 public:
  probe_queue(lookup_group& group, const hash_key& key, isa instruction_set)
      : group_(group), hash_(key), probe_(simd::select_flow_probes(instruction_set)) {}

  bool empty() const noexcept { return n_ == 0; }
  unsigned room() const noexcept { return simd::flow_probe::max - n_; }

  // There must be room.
  void add(const subtable_face& face, unsigned key) noexcept;
  void add_all(const subtable_face& face, std::uint32_t keys) noexcept;

  /// Looks into the subtables, and empties the queue. What is better than a key's best so far takes
  /// its place. Returns the keys that matched.
  std::uint32_t run() noexcept;

 private:
  template <unsigned N, class Hash>
  void add_as(const subtable_face& face, unsigned key, const Hash& hash) noexcept;

  lookup_group& group_;
  keyed_hash hash_;
  simd::flow_probe_kernel probe_;
  unsigned n_ = 0;
  simd::flow_probe probes_[simd::flow_probe::max];
  std::uint8_t key_[simd::flow_probe::max];
  std::uint16_t id_[simd::flow_probe::max];
  std::uint64_t words_[simd::flow_probe::max * compact_mask::max];
  simd::flow_probe_value values_[simd::flow_probe::max];
};

}  // namespace coua
