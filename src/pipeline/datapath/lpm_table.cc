// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/lpm_table.h"

#include <algorithm>
#include <new>
#include <string>

#include "base/check.h"
#include "pipeline/datapath/lpm_changes_impl.h"
#include "pipeline/datapath/lpm_lookup_impl.h"

namespace coua::pipeline {
namespace {

template <class Address>
simd::lpm_kernel kernel_for(isa instruction_set) {
  const simd::lpm_kernels all = simd::select_lpm(instruction_set);
  constexpr bool is_ipv4 = std::is_same_v<Address, ipv4_number>;
  static_assert(sizeof(Address) == (is_ipv4 ? 4 : 16));
  return is_ipv4 ? all.ipv4 : all.ipv6;
}

/// Many small tables would take too many mappings.
bool has_near(const lpm_params& params) { return params.root_bits == 16; }

}  // namespace

template <class Address>
result<std::unique_ptr<lpm_table<Address>>> lpm_table<Address>::create(const lpm_params& params,
                                                                       reclaimer& reclaim) {
  if (params.root_bits != 8 && params.root_bits != 16) {
    return fail(errc::invalid, "root_bits",
                "is " + std::to_string(params.root_bits) + "; a root has 8 or 16 bits");
  }
  if (params.prefixes_max > lpm_params{}.prefixes_max) {
    return fail(errc::invalid, "prefixes_max", "is beyond 2^31 - 2");
  }
  auto root = arena::create(sizeof(std::uint32_t) << params.root_bits);
  if (!root) return tl::unexpected(std::move(root.error()));
  std::unique_ptr<lpm_table> table(new lpm_table(params, reclaim, std::move(*root)));
  // Slot 0 ends all chains.
  if (auto grown = table->slots_.grow(); !grown) return tl::unexpected(std::move(grown.error()));
  return table;
}

template <class Address>
lpm_table<Address>::lpm_table(const lpm_params& params, reclaimer& reclaim, arena root)
    : root_bits_(params.root_bits),
      root_(static_cast<std::uint32_t*>(root.data())),
      slots_(has_near(params)),
      groups_(has_near(params)),
      vectors_(slots_.near_size() != 0 && groups_.near_size() != 0
                   ? kernel_for<Address>(active_isa())
                   : nullptr),
      reclaim_(reclaim),
      prefixes_max_(params.prefixes_max),
      root_memory_(std::move(root)) {}

template <class Address>
lpm_table<Address>::~lpm_table() {
  COUA_CHECK(stats().unlinked == 0);
}

// Finding.

template <class Address>
typename lpm_table<Address>::node lpm_table<Address>::node_of(std::uint32_t word) const {
  const std::uint32_t group = group_of(word);
  const unsigned base = 8 * byte_of(word);
  return {groups_[group].entries, base, base + 8, group};
}

template <class Address>
std::uint32_t lpm_table<Address>::index(const node& at, Address prefix) const {
  return at.group == 0 ? prefix.top(root_bits_) : prefix.byte(at.base / 8);
}

/// That a prefix takes of a node, from its index on.
template <class Address>
std::uint32_t lpm_table<Address>::n_entries(const node& at, unsigned length) const {
  return length < at.end ? 1U << (at.end - length) : 1;
}

template <class Address>
typename lpm_table<Address>::place lpm_table<Address>::locate(Address prefix,
                                                              unsigned length) const {
  node at = root();
  std::uint32_t* link = nullptr;
  for (;;) {
    if (length <= at.end) return {place::in_node, at, link, nullptr, 0};
    std::uint32_t* const entry = at.entries + index(at, prefix);
    const std::uint32_t word = *entry;
    if (!is_group(word)) {
      if (!is_inside(at, word, prefix)) return {place::in_entry, at, link, entry, 0};
      const unsigned common = prefix.common(slots_[word].prefix);
      const bool is_chain = common >= std::min(length, slots_[word].length());
      return {is_chain ? place::in_entry : place::apart, at, link, entry, common};
    }
    const node next = node_of(word);
    const unsigned common = prefix.common(slots_[representative_[next.group]].prefix);
    if (common < std::min(length, next.base)) return {place::apart, at, link, entry, common};
    if (length <= next.base) return {place::above_group, at, link, entry, 0};
    link = entry;
    at = next;
  }
}

/// The longest prefix of at most this length that covers it, but for that of length 0.
template <class Address>
lpm_slot lpm_table<Address>::longest_up_to(Address prefix, unsigned length) const {
  std::uint32_t word = root_[prefix.top(root_bits_)];
  while (is_group(word)) word = groups_[group_of(word)].entries[prefix.byte(byte_of(word))];
  while (slots_[word].length() > length || !slots_[word].covers(prefix)) word = slots_[word].parent;
  return word;
}

template <class Address>
lpm_slot lpm_table<Address>::find(Address prefix, unsigned length) const {
  if (length > Address::n_bits || prefix.first(length) != prefix) return 0;
  if (length == 0) return default_;
  const lpm_slot found = longest_up_to(prefix, length);
  return slots_[found].length() == length ? found : 0;
}

/// Of a chain, the last one that is longer.
template <class Address>
lpm_slot lpm_table<Address>::top_below(lpm_slot from, unsigned length) const {
  while (slots_[slots_[from].parent].length() > length) from = slots_[from].parent;
  return from;
}

/// The prefix, which is one of the node's, has to do with the addresses of entry i.
template <class Address>
bool lpm_table<Address>::is_there(const node& at, std::uint32_t i, lpm_slot slot) const {
  const std::uint32_t first = index(at, slots_[slot].prefix);
  return i >= first && i - first < n_entries(at, slots_[slot].length());
}

/// The entry is not left to the ancestors of the node.
template <class Address>
bool lpm_table<Address>::is_own(const node& at, std::uint32_t i, lpm_slot slot) const {
  if (at.group == 0) return slot != 0;
  return slot != representative_[at.group] || is_there(at, i, slot);
}

/// The slot lies within the entry of the node that the prefix belongs to.
template <class Address>
bool lpm_table<Address>::is_inside(const node& at, lpm_slot slot, Address prefix) const {
  return slots_[slot].length() > at.end && slots_[slot].prefix.agrees(prefix, at.end);
}

// Memory.

template <class Address>
result<void> lpm_table<Address>::make_room(bool for_group) {
  if (n_prefixes_ + n_unlinked_slots_ >= prefixes_max_) {
    return fail(errc::no_room, "",
                "the table has " + std::to_string(prefixes_max_) + " prefixes, its maximum");
  }
  if (free_slot_ == 0 && slots_used_ == slots_.size()) {
    if (auto grown = slots_.grow(); !grown) return grown;
    keep_vectors_if(slots_.size() <= slots_.near_size());
  }
  if (!for_group || free_group_ != 0) return {};
  if (groups_used_ == groups_max) {
    return fail(errc::no_room, "", "the table has 2^27 groups, its maximum");
  }
  if (groups_used_ >= groups_.size()) {
    if (auto grown = groups_.grow(); !grown) return grown;
    keep_vectors_if(groups_.size() <= groups_.near_size());
  }
  if (representative_.size() < groups_.size()) {
    try {
      representative_.resize(groups_.size());
    } catch (const std::bad_alloc&) {
      return fail(errc::no_memory, "", "there is no memory for the groups' representatives");
    }
  }
  return {};
}

template <class Address>
lpm_slot lpm_table<Address>::take_slot(Address prefix, unsigned length, lpm_handle handle,
                                       lpm_slot parent) {
  lpm_slot slot = free_slot_;
  if (slot != 0) {
    free_slot_ = slots_[slot].parent;
  } else {
    slot = static_cast<lpm_slot>(slots_used_++);
  }
  slots_[slot] = {prefix, parent, slot_data::word_of(length, handle)};
  ++n_prefixes_;
  return slot;
}

template <class Address>
std::uint32_t lpm_table<Address>::take_group() {
  std::uint32_t group = free_group_;
  if (group != 0) {
    free_group_ = groups_[group].entries[0];
  } else {
    group = static_cast<std::uint32_t>(groups_used_++);
  }
  ++n_groups_;
  return group;
}

template <class Address>
void lpm_table<Address>::free_later(lpm_slot slot) {
  --n_prefixes_;
  ++n_unlinked_slots_;
  reclaim_.defer([this, slot] {
    slots_[slot].parent = free_slot_;
    free_slot_ = slot;
    --n_unlinked_slots_;
  });
}

template <class Address>
void lpm_table<Address>::free_group_later(std::uint32_t group) {
  --n_groups_;
  ++n_unlinked_groups_;
  reclaim_.defer([this, group] {
    groups_[group].entries[0] = free_group_;
    free_group_ = group;
    --n_unlinked_groups_;
  });
}

template <class Address>
lpm_stats lpm_table<Address>::stats() const {
  return {.prefixes = n_prefixes_,
          .groups = n_groups_,
          .unlinked = n_unlinked_slots_ + n_unlinked_groups_,
          .bytes = sizeof *this + root_memory_.bytes_mapped() + slots_.bytes() + groups_.bytes() +
                   representative_.capacity() * sizeof(lpm_slot),
          .has_vectors = vectors_.load(std::memory_order_relaxed) != nullptr};
}

template class lpm_table<ipv4_number>;
template class lpm_table<ipv6_number>;

}  // namespace coua::pipeline
