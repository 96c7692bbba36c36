// SPDX-License-Identifier: Apache-2.0
#include "setsep/block_builder.h"

#include <algorithm>

#include "setsep/group_balance.h"

namespace coua::setsep {

block_builder::block_builder(const layout& of, isa instruction_set)
    : layout_(of), search_(of, instruction_set), groups_(block_groups) {}

void block_builder::build(std::span<const keyed_value> keys, std::uint8_t* to,
                          std::vector<keyed_value>& fallback) {
  std::array<std::uint32_t, block_buckets> sizes{};
  for (const keyed_value& each : keys) ++sizes[bucket_of(each.hash)];
  const balanced_block balanced = balance(sizes);
  std::fill_n(to, choice_bytes, std::uint8_t{0});
  for (unsigned bucket = 0; bucket < block_buckets; ++bucket) {
    to[bucket / 4] |= static_cast<std::uint8_t>(balanced.choice[bucket] << bucket % 4 * 2);
  }
  for (auto& each : groups_) each.clear();
  for (const keyed_value& each : keys) {
    const unsigned bucket = bucket_of(each.hash);
    groups_[group_of(bucket, balanced.choice[bucket])].push_back(each);
  }
  for (unsigned g = 0; g < block_groups; ++g) {
    if (search_.make(groups_[g], to + choice_bytes + g * layout_.group_bytes())) continue;
    fallback.insert(fallback.end(), groups_[g].begin(), groups_[g].end());
  }
}

}  // namespace coua::setsep
