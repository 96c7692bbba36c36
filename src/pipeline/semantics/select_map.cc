// SPDX-License-Identifier: Apache-2.0
#include "pipeline/semantics/select_map.h"

#include <algorithm>
#include <bit>
#include <queue>

#include "base/keyed_hash.h"

namespace coua::pipeline {
namespace {

/// A bucket that takes slots.
struct taker {
  std::uint16_t bucket;
  std::uint64_t weight;
  std::size_t next;  // the slot that it would like now
  std::size_t step;  // odd: it comes by every slot
  std::uint64_t taken = 0;
};

/// Who is last in line: more of its share is filled, taken / weight; of equals the later bucket.
struct fuller {
  bool operator()(const taker& a, const taker& b) const {
    const std::uint64_t left = a.taken * b.weight;
    const std::uint64_t right = b.taken * a.weight;
    return left != right ? left > right : a.bucket > b.bucket;
  }
};

}  // namespace

select_map::select_map(const hash_key& secret, std::span<const std::uint16_t> weights) {
  const auto n_live = static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](std::uint16_t w) { return w != 0; }));
  if (n_live == 0) return;
  // By all buckets, so that the number does not change when one dies.
  const std::size_t n_slots = std::max(slots_min, std::bit_ceil(weights.size() * slots_per_bucket));
  shift_ = 64 - static_cast<unsigned>(std::countr_zero(n_slots));
  slots_.assign(n_slots, 0);

  const keyed_hash hash(secret);
  std::priority_queue<taker, std::vector<taker>, fuller> queue;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const std::uint64_t place = i;
    const std::uint64_t h = hash(&place, 1);
    queue.push({static_cast<std::uint16_t>(i), weights[i],
                static_cast<std::size_t>(h & (n_slots - 1)),
                static_cast<std::size_t>(h >> 32) | 1});
  }
  std::vector<bool> taken(n_slots);
  for (std::size_t n = 0; n < n_slots; ++n) {
    taker one = queue.top();
    queue.pop();
    while (taken[one.next]) one.next = (one.next + one.step) & (n_slots - 1);
    taken[one.next] = true;
    slots_[one.next] = one.bucket;
    ++one.taken;
    queue.push(one);
  }
}

}  // namespace coua::pipeline
