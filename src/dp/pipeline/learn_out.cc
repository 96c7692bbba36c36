// SPDX-License-Identifier: Apache-2.0
#include "dp/pipeline/learn_out.h"

#include <algorithm>

namespace coua::dp {
namespace {

using pipeline::learned_values;

/// Of the match only: what takes the place of a rule, as of a host that moved, is news, and the old
/// one is again after it.
std::size_t hash_of(const learned_values& one) noexcept {
  pipeline::word_mixer mixed;
  mixed.add(one.id);
  for (std::uint32_t i = 0; i < one.n; ++i)
    if ((one.in_match >> i & 1) != 0) mixed.add(one.values[i]);
  return mixed.hash();
}

bool are_same(const learned_values& a, const learned_values& b) noexcept {
  return a.id == b.id && std::equal(a.values.begin(), a.values.begin() + a.n, b.values.begin());
}

void copy(const learned_values& from, learned_values& to) noexcept {
  to.id = from.id;
  to.n = from.n;
  to.in_match = from.in_match;
  std::copy_n(from.values.begin(), from.n, to.values.begin());
}

}  // namespace

void learn_out::tell(std::span<const learned_values> learned, std::uint64_t now) noexcept {
  for (const learned_values& each : learned) {
    told& last = recent_[hash_of(each) % n_recent];
    if (are_same(last.what, each) && now - last.at < hold_) continue;
    if (!ring_.push(each)) {
      n_full_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    last.at = now;
    copy(each, last.what);
  }
}

}  // namespace coua::dp
