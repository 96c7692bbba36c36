// SPDX-License-Identifier: Apache-2.0
#include "classify/probe_queue.h"

#include <bit>

namespace coua {

/// The key under a mask of `N` words, 0: any number, and its hash.
template <unsigned N, class Hash>
[[gnu::always_inline]] inline void probe_queue::add_as(const subtable_face& face, unsigned key,
                                                       const Hash& hash) noexcept {
  const unsigned at = n_++;
  const std::uint64_t* whole = group_.key(key);
  std::uint64_t* words = words_ + at * compact_mask::max;
  if constexpr (N == 0) {
    face.mask.take(whole, words);
  } else {
    for (unsigned i = 0; i < N; ++i) words[i] = whole[face.mask.at(i)] & face.mask.bits(i);
  }
  probes_[at] = {&face.view, words, hash(words)};
  simd::fetch_probe(probes_[at]);
  key_[at] = static_cast<std::uint8_t>(key);
  id_[at] = face.id;
}

void probe_queue::add(const subtable_face& face, unsigned key) noexcept {
  const unsigned n_words = face.mask.n();
  const auto hash = [&](const std::uint64_t* words) { return hash_(words, n_words); };
  if (n_words == 1) return add_as<1>(face, key, hash);
  if (n_words == 2) return add_as<2>(face, key, hash);
  add_as<0>(face, key, hash);
}

void probe_queue::add_all(const subtable_face& face, std::uint32_t keys) noexcept {
  switch (const unsigned n_words = face.mask.n(); n_words) {
    case 1: {
      const keyed_hash::of<1> hash(hash_);
      while (keys != 0) add_as<1>(face, take_lowest(keys), hash);
      break;
    }
    case 2: {
      const keyed_hash::of<2> hash(hash_);
      while (keys != 0) add_as<2>(face, take_lowest(keys), hash);
      break;
    }
    default: {
      const auto hash = [&](const std::uint64_t* words) { return hash_(words, n_words); };
      while (keys != 0) add_as<0>(face, take_lowest(keys), hash);
    }
  }
}

std::uint32_t probe_queue::run() noexcept {
  const unsigned n = n_;
  std::uint32_t matched = 0;
  for (std::uint64_t left = probe_(probes_, n, values_); left != 0; left &= left - 1) {
    const auto j = static_cast<unsigned>(std::countr_zero(left));
    const unsigned i = key_[j];
    const simd::flow_probe_value& value = values_[j];
    matched |= std::uint32_t{1} << i;
    if (group_.has_found(i) && group_.priority(i) >= priority_of(value.words[0])) continue;
    group_.found |= std::uint32_t{1} << i;
    group_.best[i] = value;
    group_.winner[i] = id_[j];
  }
  for (unsigned j = 0; j < n; ++j) ++group_.asked[key_[j]];
  n_ = 0;
  return matched;
}

}  // namespace coua
