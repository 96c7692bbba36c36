// SPDX-License-Identifier: Apache-2.0
#include "dp/pipeline/learn_out.h"

#include <new>

namespace coua::dp {

using pipeline::learned_values;

learn_out::learn_out(std::uint64_t hold_cycles, const hash_key& key)
    : hold_(hold_cycles), hash_(key) {
  auto made = reserved_array<set>::create(n_sets);
  if (!made) throw std::bad_alloc();  // as the ring
  recent_ = std::move(*made);
}

std::uint64_t learn_out::hash_of(std::uint64_t start, const learned_values& one,
                                 std::uint32_t which) const noexcept {
  std::uint64_t words[keyed_hash::max_words];
  std::size_t n = 0;
  words[n++] = start;
  for (std::uint32_t i = 0; i < one.n; ++i) {
    if ((which >> i & 1) == 0) continue;
    if (n + 2 > keyed_hash::max_words) {
      words[0] = hash_(words, n);
      n = 1;
    }
    words[n++] = static_cast<std::uint64_t>(one.values[i]);
    words[n++] = static_cast<std::uint64_t>(one.values[i] >> 64);
  }
  return hash_(words, n);
}

learn_out::place* learn_out::find_place(std::uint64_t match, std::uint64_t said,
                                        std::uint64_t now) noexcept {
  place* oldest = nullptr;
  for (place& each : recent_[(match >> 16) % n_sets].places) {
    if (((each.when ^ match) & tag_mask) == 0) {
      if (each.said == said && now - (each.when & ~tag_mask) < hold_) return nullptr;
      each = {};
    }
    if (oldest == nullptr || each.when < oldest->when) oldest = &each;
  }
  return oldest;
}

void learn_out::tell(std::span<const learned_values> learned, std::uint64_t now) noexcept {
  for (const learned_values& each : learned) {
    const std::uint64_t match = hash_of(each.id, each, each.in_match);
    const std::uint64_t said = hash_of(match, each, ~std::uint32_t{each.in_match});
    place* note = find_place(match, said, now);
    if (note == nullptr) continue;
    if (ring_.push(each)) {
      *note = {said, (now & ~tag_mask) | (match & tag_mask)};
    } else {
      n_full_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

}  // namespace coua::dp
