// SPDX-License-Identifier: Apache-2.0
//
// The look-up of lpm_table.h: all addresses of a batch take a step before any takes the next, so
// that their loads overlap.
#include <algorithm>

#include "pipeline/datapath/lpm_table.h"

namespace coua::pipeline {

/// Some addresses, with the loads that each waits for. `open` lists those that have another step to
/// take.
template <class Address>
struct lpm_table<Address>::lookup_batch {
  static constexpr unsigned max = 32;

  lookup_batch(const lpm_table* const* tables_in, const Address* addresses_in, std::size_t n_in,
               lpm_slot* slots_out) noexcept
      : tables(tables_in),
        addresses(addresses_in),
        slots(slots_out),
        n(static_cast<unsigned>(std::min<std::size_t>(n_in, max))) {}

  const lpm_table* const* const tables;
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

  [[gnu::always_inline]] void fetch_roots() noexcept {
    for (unsigned i = 0; i < n; ++i) {
      const lpm_table& table = *tables[i];
      entry[i] = table.root_ + addresses[i].top(table.root_bits_);
      __builtin_prefetch(entry[i]);
      open[i] = static_cast<std::uint8_t>(i);
    }
    n_open = n;
  }

  [[gnu::always_inline]] void descend() noexcept {
    while (n_open > 0) {
      unsigned n_left = 0;
      for (unsigned k = 0; k < n_open; ++k) {
        const unsigned i = open[k];
        const std::uint32_t word = load_acquire(entry[i]);
        if (is_group(word)) {
          const group_data& group = tables[i]->groups_[group_of(word)];
          entry[i] = group.entries + addresses[i].byte(byte_of(word));
          __builtin_prefetch(entry[i]);
          open[n_left++] = static_cast<std::uint8_t>(i);
        } else {
          fetch_slot(i, word);
        }
      }
      n_open = n_left;
    }
  }

  /// Slot 0 stands for the prefix of length 0, and ends every chain: it covers all addresses.
  [[gnu::always_inline]] void ascend() noexcept {
    for (unsigned i = 0; i < n; ++i) open[i] = static_cast<std::uint8_t>(i);
    n_open = n;
    while (n_open > 0) {
      unsigned n_left = 0;
      for (unsigned k = 0; k < n_open; ++k) {
        const unsigned i = open[k];
        if (slot[i]->covers(addresses[i])) continue;
        fetch_slot(i, load_acquire(&slot[i]->parent));
        open[n_left++] = static_cast<std::uint8_t>(i);
      }
      n_open = n_left;
    }
    for (unsigned i = 0; i < n; ++i) {
      if (slots[i] == 0) slots[i] = load_acquire(&tables[i]->default_);
    }
  }
};

template <class Address>
void lpm_table<Address>::lookup(const lpm_table* const* tables, const Address* addresses,
                                std::size_t n, lpm_slot* slots) noexcept {
  for (std::size_t at = 0; at < n; at += lookup_batch::max) {
    lookup_batch batch(tables + at, addresses + at, n - at, slots + at);
    batch.fetch_roots();
    batch.descend();
    batch.ascend();
  }
}

template void lpm_table<ipv4_number>::lookup(const lpm_table* const*, const ipv4_number*,
                                             std::size_t, lpm_slot*) noexcept;
template void lpm_table<ipv6_number>::lookup(const lpm_table* const*, const ipv6_number*,
                                             std::size_t, lpm_slot*) noexcept;

}  // namespace coua::pipeline
