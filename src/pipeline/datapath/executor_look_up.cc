// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "base/prefetch.h"
#include "pipeline/datapath/executor.h"

namespace coua::pipeline {

const action_record* executor::catch_all_of(slot at) const noexcept {
  const table_stage& of = *plan_->tables[slots_[at].table];
  return follows_.records->at(of.catch_all.load(std::memory_order_acquire), version_);
}

void executor::look_up(const table_stage& of, const packet_list& list,
                       const action_record** records) noexcept {
  switch (of.kind) {
    case table_template::direct: return look_up_direct(of, list, records);
    case table_template::exact: return look_up_exact(of, list, records);
    case table_template::lpm:
      return of.prefixes->is_ipv4() ? look_up_prefixes<ipv4_number>(list, records)
                                    : look_up_prefixes<ipv6_number>(list, records);
    case table_template::classifier: return look_up_wildcard(of, list, records);
  }
}

void executor::look_up_direct(const table_stage& of, const packet_list& list,
                              const action_record** records) noexcept {
  const direct_table& table = *of.direct.load(std::memory_order_acquire);
  std::uint8_t asked[burst_max];
  unsigned n = 0;
  const std::size_t stride = table.layout.n_words();
  for (unsigned k = 0; k < list.n; ++k) {
    records[k] = nullptr;
    const packet_state& p = packets_[list.at[k]];
    if (!table.layout.may_match(p.layers)) continue;
    table.layout.take(p, keys_ + n * stride);
    asked[n++] = static_cast<std::uint8_t>(k);
  }
  std::uint64_t matched[burst_max];
  if (table.rows.n_words != 0) {
    match_rows_(table.rows, keys_, stride, n, matched);
  } else {
    std::fill_n(matched, n, ~std::uint64_t{0} >> (64 - table.n_rules));
  }
  for (unsigned i = 0; i < n; ++i) {
    const action_record* found = nullptr;
    for (std::uint64_t rows = matched[i]; rows != 0 && found == nullptr; rows &= rows - 1) {
      const auto& head = table.heads[table.rule_of[std::countr_zero(rows)]];
      found = follows_.records->at(head.load(std::memory_order_acquire), version_);
    }
    records[asked[i]] = found;
  }
}

void executor::look_up_exact(const table_stage& of, const packet_list& list,
                             const action_record** records) noexcept {
  const exact_store& store = *of.exact;
  std::uint8_t asked[burst_max];
  unsigned n = 0;
  const std::size_t stride = store.stride();
  for (unsigned k = 0; k < list.n; ++k) {
    const packet_state& p = packets_[list.at[k]];
    records[k] = nullptr;
    if (!store.layout().may_match(p.layers)) continue;
    store.layout().take(p, keys_ + n * stride);
    store.mark(keys_ + n * stride, slots_[list.at[k]].table);
    asked[n++] = static_cast<std::uint8_t>(k);
  }
  record_id heads[burst_max];
  store.look_up(worker_, keys_, n, heads);
  for (unsigned i = 0; i < n; ++i) {
    if (heads[i] != 0) __builtin_prefetch(&(*follows_.records)[heads[i]]);
  }
  for (unsigned i = 0; i < n; ++i) {
    const action_record* found = follows_.records->at(heads[i], version_);
    if (found != nullptr) prefetch_to_write(counts_.place(found->counters));
    records[asked[i]] = found;
  }
  for (unsigned k = 0; k < list.n; ++k) {
    if (records[k] == nullptr) records[k] = catch_all_of(list.at[k]);
  }
}

namespace {

/// The heads of the longest prefixes, and where none of a table counts at the version, of shorter
/// ones.
template <class Address, class Lpm>
void walk_prefixes(const Lpm* const* tables, const Address* addresses, unsigned n,
                   const action_records& all, version_no version,
                   const action_record** found) noexcept {
  lpm_slot slots[executor::burst_max];
  record_id heads[executor::burst_max];
  Lpm::lookup(tables, addresses, n, slots);
  for (unsigned i = 0; i < n; ++i) {
    heads[i] = slots[i] == 0 ? 0 : tables[i]->handle(slots[i]);
    if (heads[i] != 0) __builtin_prefetch(&all[heads[i]]);
  }
  for (unsigned i = 0; i < n; ++i) {
    found[i] = all.at(heads[i], version);
    for (lpm_slot slot = slots[i]; found[i] == nullptr && slot != 0;) {
      slot = tables[i]->parent(slot);
      if (slot != 0) found[i] = all.at(tables[i]->handle(slot), version);
    }
  }
}

}  // namespace

template <class Address>
void executor::look_up_prefixes(const packet_list& list, const action_record** records) noexcept {
  std::uint8_t asked[burst_max];
  unsigned n = 0;
  const lpm_table<Address>* tables[burst_max] = {};
  Address addresses[burst_max];
  for (unsigned k = 0; k < list.n; ++k) {
    const packet_state& p = packets_[list.at[k]];
    const prefix_table& of = *plan_->tables[slots_[list.at[k]].table]->prefixes;
    records[k] = nullptr;
    if (!of.may_match(p)) continue;
    tables[n] = of.of<Address>();
    addresses[n] = of.address<Address>(p);
    asked[n++] = static_cast<std::uint8_t>(k);
  }
  const action_record* found[burst_max];
  walk_prefixes(tables, addresses, n, *follows_.records, version_, found);
  for (unsigned i = 0; i < n; ++i) records[asked[i]] = found[i];
  for (unsigned k = 0; k < list.n; ++k) {
    if (records[k] == nullptr) records[k] = catch_all_of(list.at[k]);
  }
}

void executor::look_up_wildcard(const table_stage& of, const packet_list& list,
                                const action_record** records) noexcept {
  const wildcard_table& table = *of.wildcard;
  std::uint8_t asked[burst_max];
  unsigned n = 0;
  const std::size_t stride = table.stride();
  for (unsigned k = 0; k < list.n; ++k) {
    const packet_state& p = packets_[list.at[k]];
    records[k] = nullptr;
    if (!table.layout().may_match(p.layers)) continue;
    table.layout().take(p, keys_ + n * stride);
    asked[n++] = static_cast<std::uint8_t>(k);
  }
  record_id heads[burst_max];
  std::uint32_t ranks[burst_max];
  table.look_up(worker_, keys_, n, heads, ranks);
  for (unsigned i = 0; i < n; ++i) {
    if (heads[i] != 0) __builtin_prefetch(&(*follows_.records)[heads[i]]);
  }
  for (unsigned i = 0; i < n; ++i) {
    record_id head = heads[i];
    const action_record* found = follows_.records->at(head, version_);
    while (found == nullptr && head != 0) {
      head = table.look_up_below(worker_, keys_ + i * stride, ranks[i]);
      found = follows_.records->at(head, version_);
    }
    records[asked[i]] = found;
  }
}

}  // namespace coua::pipeline
