// SPDX-License-Identifier: Apache-2.0
//
// The cuckoo distributor: which subtable a flow's rule was in last time. One per reader, so nothing
// is shared. Signatures are short and only the subtable is kept, so an answer is a hint that may be
// wrong; whoever asks proves it.
//
//   bucket        one line: 16 signatures, 16 hints (simd/distributor/kernels.h)
//   look-up       both buckets of a flow at once
//   remember      the slot with the flow's signature, else a free one of the first bucket, else of
//                 the second, else one of the sixteen of either in turn: it is a cache, and nothing
//                 is moved for a newcomer
//
// Size. It starts with 64 buckets and takes four times as many whenever too many flows are put out
// or get each other's hints, up to the room it was given: few flows stay in few lines, which stay
// in the cache. The room is there from the start, and larger only means that more bits of a hash
// choose the bucket: flows whose bucket changes are learned again.
//
// A flow is the bits of a key that some rule's mask takes: packets that differ in others are one
// flow here, and share a hint.
//
// Source: the Open vSwitch patch series "dpif-netdev: Cuckoo-Distributor implementation" (Wang,
// 2017); Cuckoo filter (Fan et al., CoNEXT 2014). Thread rule: one thread.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/result.h"
#include "classify/compact_mask.h"
#include "classify/rule.h"
#include "simd/distributor/kernels.h"

namespace coua {

class distributor {
 public:
  /// Room for `flows` (a power of two, 16 or more). Errors: no_memory, io.
  static result<distributor> create(std::uint32_t flows, isa instruction_set);

  /// The flow of a key: a hash of what `mask` takes of it. Keyed, so that nobody can choose flows
  /// that put each other out; no proof stands behind it, since a collision costs a probe.
  [[gnu::always_inline]] std::uint64_t flow_of(const joint_mask& mask,
                                               const std::uint64_t* key) const noexcept {
    std::uint64_t hash = secret_[wide_words::max];
    for (unsigned i = 0; i < mask.n(); i += 2) {
      const std::uint64_t low = key[mask.at(i)] & mask.bits(i);
      const std::uint64_t high =
          i + 1 < mask.n() ? key[mask.at(i + 1)] & mask.bits(i + 1) : std::uint64_t{0};
      hash = folded(low ^ secret_[i], high ^ secret_[i + 1] ^ hash);
    }
    return folded(hash, secret_[wide_words::max + 1]);
  }

  [[gnu::always_inline]] void fetch(std::uint64_t flow) const noexcept {
    const std::uint64_t first = simd::first_bucket(flow, bucket_mask_);
    __builtin_prefetch(lines_ + first);
    __builtin_prefetch(lines_ + simd::second_bucket(first, simd::signature_of(flow), bucket_mask_));
  }
  /// The hints for `n` flows; simd::no_hint where there is none.
  void find(const std::uint64_t* flows, std::size_t n, std::uint16_t* hints) const noexcept {
    kernels_->find(lines_, bucket_mask_, flows, n, hints);
  }
  void remember(std::uint64_t flow, subtable_id id) noexcept;

  /// Judges what happened since the last call, during `n_lookups`: grows the part in use when more
  /// than one look-up in 32 put a flow out, or one in 512 had a false hint. Two flows with one
  /// signature in one bucket would go on to take the hint from each other.
  void adapt(std::uint64_t n_lookups, std::uint64_t n_false) noexcept;

  std::uint32_t flows_in_use() const noexcept {
    return static_cast<std::uint32_t>((bucket_mask_ + 1) * simd::hint_line::n_slots);
  }
  const char* simd_name() const noexcept { return kernels_->name; }

 private:
  static constexpr std::uint64_t first_buckets = 64;

  [[gnu::always_inline]] static std::uint64_t folded(std::uint64_t a, std::uint64_t b) noexcept {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  arena memory_;
  simd::hint_line* lines_ = nullptr;
  std::uint64_t bucket_mask_ = 0, largest_mask_ = 0;
  std::uint64_t put_out_ = 0;
  std::uint32_t turn_ = 0;
  const simd::hint_kernels* kernels_ = nullptr;
  std::uint64_t secret_[wide_words::max + 2];
};

}  // namespace coua
