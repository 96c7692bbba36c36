// SPDX-License-Identifier: Apache-2.0
#include "setsep/block_builder.h"

#include <algorithm>

#include "setsep/group_balance.h"

namespace coua::setsep {

block_builder::block_builder(const layout& of, isa instruction_set)
    : layout_(of), search_(simd::select_index_search(instruction_set)), groups_(block_groups) {}

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
    groups_[group_of(bucket, balanced.choice[bucket])].push_back(&each);
  }
  for (unsigned g = 0; g < block_groups; ++g) {
    if (build_group(groups_[g], to + choice_bytes + g * layout_.group_bytes())) continue;
    for (const keyed_value* each : groups_[g]) fallback.push_back(*each);
  }
}

/// False: no function separates the keys, and the group says so.
bool block_builder::build_group(std::span<const keyed_value* const> keys, std::uint8_t* to) {
  base_.resize(keys.size());
  step_.resize(keys.size());
  for (unsigned bit = 0; bit < layout_.value_bits; ++bit) {
    // Ones from the front, the others from the back.
    std::size_t n_ones = 0, end = keys.size();
    for (const keyed_value* each : keys) {
      const std::size_t at = (each->value >> bit & 1) != 0 ? n_ones++ : --end;
      base_[at] = base_of(each->hash);
      step_[at] = step_of(each->hash);
    }
    const simd::separation found =
        search_({base_.data(), step_.data(), static_cast<unsigned>(n_ones),
                 static_cast<unsigned>(keys.size())},
                layout_.place_bits(), layout_.failed() + 1);
    if (found.index >= layout_.failed()) {
      store_part(layout_, to, {layout_.failed(), 0});
      return false;
    }
    store_part(layout_, to + bit * layout_.part_bytes(), {found.index, found.places});
  }
  return true;
}

}  // namespace coua::setsep
