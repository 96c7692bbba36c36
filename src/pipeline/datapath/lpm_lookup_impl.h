// SPDX-License-Identifier: Apache-2.0
//
// The look-up of lpm_table.h: all addresses of a batch take a step before any takes the next, so
// that their loads overlap. For lpm_table.cc, which makes the instances.
#pragma once

#include <algorithm>
#include <utility>

#include "pipeline/datapath/lpm_table.h"

namespace coua::pipeline {

/// Some addresses, with the loads that each waits for. `open` lists those that have another step to
/// take. `Tables`: tables[i] is the one of address i.
template <class Address>
template <class Tables>
struct lpm_table<Address>::lookup_batch {
  static constexpr unsigned max = 32;

  lookup_batch(Tables tables_in, const Address* addresses_in, std::size_t n_in,
               lpm_slot* slots_out) noexcept
      : tables(tables_in),
        addresses(addresses_in),
        slots(slots_out),
        n(static_cast<unsigned>(std::min<std::size_t>(n_in, max))) {}

  const Tables tables;
  const Address* const addresses;
  lpm_slot* const slots;
  const unsigned n;

  unsigned n_open = 0;
  std::uint8_t open[max];
  const std::uint32_t* entry[max];
  const slot_data* slot[max];

  [[gnu::always_inline]] void fetch_slot(unsigned i, lpm_slot found) noexcept {
    slots[i] = found;
    slot[i] = &tables[i]->slots_[found];
    __builtin_prefetch(slot[i]);
  }

  /// What the entry leads to.
  [[gnu::always_inline]] void step(unsigned i, const std::uint32_t* from) noexcept {
    const std::uint32_t word = load_acquire(from);
    if (is_group(word)) {
      const group_data& group = tables[i]->groups_[group_of(word)];
      entry[i] = group.entries + addresses[i].byte(byte_of(word));
      __builtin_prefetch(entry[i]);
      open[n_open++] = static_cast<std::uint8_t>(i);
    } else {
      fetch_slot(i, word);
    }
  }

  [[gnu::always_inline]] void descend() noexcept {
    for (unsigned i = 0; i < n; ++i) {
      const lpm_table& table = *tables[i];
      entry[i] = table.root_ + addresses[i].top(table.root_bits_);
      __builtin_prefetch(entry[i]);
    }
    for (unsigned i = 0; i < n; ++i) step(i, entry[i]);
    while (n_open > 0) {
      const unsigned n_before = std::exchange(n_open, 0);
      for (unsigned k = 0; k < n_before; ++k) step(open[k], entry[open[k]]);
    }
  }

  /// To the first of the chain that matches. Slot 0 stands for the prefix of length 0, and ends
  /// every chain: it covers all addresses.
  [[gnu::always_inline]] void climb(unsigned i) noexcept {
    if (slot[i]->covers(addresses[i])) return;
    fetch_slot(i, load_acquire(&slot[i]->parent));
    open[n_open++] = static_cast<std::uint8_t>(i);
  }

  [[gnu::always_inline]] void ascend() noexcept {
    for (unsigned i = 0; i < n; ++i) climb(i);
    while (n_open > 0) {
      const unsigned n_before = std::exchange(n_open, 0);
      for (unsigned k = 0; k < n_before; ++k) climb(open[k]);
    }
  }

  /// What becomes of the addresses that no longer prefix covers, and the handles.
  [[gnu::always_inline]] void finish(lpm_handle* handles) noexcept {
    for (unsigned i = 0; i < n; ++i) {
      if (slots[i] == 0) fetch_slot(i, load_acquire(&tables[i]->default_));
      if (handles != nullptr) handles[i] = slot[i]->handle();
    }
  }
};

template <class Address>
template <class Tables>
[[gnu::always_inline]] inline void lpm_table<Address>::lookup_some(Tables tables,
                                                                   const Address* addresses,
                                                                   std::size_t n, lpm_slot* slots,
                                                                   lpm_handle* handles) noexcept {
  constexpr std::size_t max = lookup_batch<Tables>::max;
  for (std::size_t at = 0; at < n; at += max) {
    lookup_batch<Tables> batch(tables.from(at), addresses + at, n - at, slots + at);
    batch.descend();
    batch.ascend();
    batch.finish(handles == nullptr ? nullptr : handles + at);
  }
}

template <class Address>
void lpm_table<Address>::lookup(const lpm_table* const* tables, const Address* addresses,
                                std::size_t n, lpm_slot* slots, lpm_handle* handles) noexcept {
  lookup_some(many{tables}, addresses, n, slots, handles);
}

template <class Address>
void lpm_table<Address>::lookup(const Address* addresses, std::size_t n, lpm_slot* slots,
                                lpm_handle* handles) const noexcept {
  // A few are as fast one by one.
  constexpr std::size_t worth_vectors = 8;
  if (n >= worth_vectors && n <= simd::lpm_batch_max) {
    const simd::lpm_kernel by_vectors = vectors_.load(std::memory_order_relaxed);
    if (by_vectors != nullptr && by_vectors(view(), addresses, n, slots, handles)) return;
  }
  lookup_some(one{this}, addresses, n, slots, handles);
}

}  // namespace coua::pipeline
