// SPDX-License-Identifier: Apache-2.0
#include "classify/distributor.h"

#include <algorithm>
#include <span>

#include "base/hash_key.h"

namespace coua {

result<distributor> distributor::create(std::uint32_t flows, isa instruction_set) {
  distributor made;
  const std::uint64_t n_buckets = flows / simd::hint_line::n_slots;
  auto memory = arena::create(n_buckets * sizeof(simd::hint_line));
  if (!memory) return tl::unexpected(memory.error());
  const std::span<std::uint64_t> secret(made.secret_);
  const auto bytes = std::as_writable_bytes(secret);
  if (auto drawn = fill_random({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
      !drawn) {
    return tl::unexpected(drawn.error());
  }
  made.memory_ = std::move(*memory);
  made.lines_ = static_cast<simd::hint_line*>(made.memory_.data());
  made.largest_mask_ = n_buckets - 1;
  made.bucket_mask_ = std::min(first_buckets - 1, made.largest_mask_);
  made.kernels_ = &simd::select_hint_kernels(instruction_set);
  return made;
}

void distributor::remember(std::uint64_t flow, subtable_id id) noexcept {
  constexpr unsigned n_slots = simd::hint_line::n_slots;
  const std::uint16_t signature = simd::signature_of(flow);
  const std::uint64_t bucket = simd::first_bucket(flow, bucket_mask_);
  simd::hint_line* const both[2] = {lines_ + bucket,
                                    lines_ + simd::second_bucket(bucket, signature, bucket_mask_)};
  simd::hint_line* free_line = nullptr;
  unsigned free_slot = 0;
  for (simd::hint_line* line : both) {
    for (unsigned slot = 0; slot < n_slots; ++slot) {
      if (line->signatures[slot] == signature) {
        line->hints[slot] = id;
        return;
      }
      if (free_line == nullptr && line->signatures[slot] == 0) {
        free_line = line;
        free_slot = slot;
      }
    }
  }
  if (free_line == nullptr) {
    ++put_out_;
    free_line = both[turn_ & 1];
    free_slot = turn_ >> 1 & (n_slots - 1);
    ++turn_;
  }
  free_line->signatures[free_slot] = signature;
  free_line->hints[free_slot] = id;
}

void distributor::adapt(std::uint64_t n_lookups, std::uint64_t n_false) noexcept {
  if (put_out_ * 32 > n_lookups || n_false * 512 > n_lookups) {
    bucket_mask_ = std::min(bucket_mask_ * 4 + 3, largest_mask_);
  }
  put_out_ = 0;
}

}  // namespace coua
