// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "base/prefetch.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/executor_asked.h"

namespace coua::pipeline {

/// The records of those that were asked; of others none. True: all have one.
template <class Find>
bool executor::find_records(const packet_list& list, const asked& which,
                            const action_record** records, Find find) const noexcept {
  const unsigned n = which.n();
  const worker_counts::cell* const counters = counts_.place(0);
  unsigned n_missed = 0;
  const auto each = [&](auto place) {
    for (unsigned i = 0; i < n; ++i) {
      const action_record* found = find(i);
      if (found != nullptr) [[likely]] {
        prefetch_to_write(&counters[found->counters]);
      } else {
        ++n_missed;
      }
      records[place(i)] = found;
    }
  };
  if (n == list.n) [[likely]] {
    each([](unsigned i) { return i; });
    return n_missed == 0;
  }
  std::fill_n(records, list.n, nullptr);
  each([&which](unsigned i) { return which.which(i); });
  return false;
}

void executor::take_catch_alls(const packet_list& list,
                               const action_record** records) const noexcept {
  for (unsigned k = 0; k < list.n; ++k) {
    if (records[k] != nullptr) continue;
    const table_stage& of = *plan_->tables[table_[list.at[k]]];
    records[k] = follows_.records->at(of.catch_all.load(std::memory_order_acquire), version_);
  }
}

void executor::look_up(const table_stage& of, const packet_list& list,
                       const action_record** records) noexcept {
  switch (of.kind) {
    case table_template::direct: return look_up_direct(of, list, records);
    case table_template::exact: return look_up_exact(of, list, records);
    case table_template::lpm:
      return of.prefixes->is_ipv4() ? look_up_prefixes<ipv4_number>(of, list, records)
                                    : look_up_prefixes<ipv6_number>(of, list, records);
    case table_template::decomposed: return look_up_decomposed(of, list, records);
    case table_template::classifier: return look_up_wildcard(of, list, records);
  }
}

void executor::find_rows(const direct_table& table, const asked& which,
                         std::uint64_t* matched) noexcept {
  const std::size_t stride = table.layout.n_words();
  table.layout.take(packets_, which.slots_or_first(), which.n(), keys_, stride);
  if (table.rows.n_words != 0) {
    match_rows_(table.rows, keys_, stride, which.n(), matched);
  } else {
    std::fill_n(matched, which.n(), ~std::uint64_t{0} >> (64 - table.n_rules));
  }
}

const action_record* executor::record_of(const direct_table& table, unsigned rule) const noexcept {
  return follows_.records->at(table.heads[rule].load(std::memory_order_acquire), version_);
}

void executor::look_up_direct(const table_stage& of, const packet_list& list,
                              const action_record** records) noexcept {
  const direct_table& table = *of.direct.load(std::memory_order_acquire);
  const asked which(list, packets_, table.layout.needs());
  std::uint64_t matched[burst_max];
  find_rows(table, which, matched);
  if (which.n() != list.n) std::fill_n(records, list.n, nullptr);
  // Counters of so few rules are near: nothing is fetched.
  const auto take = [&](auto record) {
    for (unsigned i = 0; i < which.n(); ++i) {
      const action_record* found = nullptr;
      for (std::uint64_t rows = matched[i]; rows != 0; rows &= rows - 1) {
        found = record(static_cast<unsigned>(std::countr_zero(rows)));
        if (found != nullptr) [[likely]]
          break;
      }
      records[which.which(i)] = found;
    }
  };
  const auto of_row = [&](unsigned row) { return record_of(table, table.rule_of[row]); };
  if (which.n() < table.n_rows) return take(of_row);
  const action_record* all[direct_table::rows_max];
  for (unsigned row = 0; row < table.n_rows; ++row) all[row] = of_row(row);
  take([&all](unsigned row) { return all[row]; });
}

void executor::look_up_exact(const table_stage& of, const packet_list& list,
                             const action_record** records) noexcept {
  const exact_store& store = *of.exact;
  const asked which(list, packets_, store.layout().needs());
  store.layout().take(packets_, which.slots_or_first(), which.n(), keys_, store.stride());
  if (!list.is_mixed) {
    store.mark(keys_, which.n(), [table = of.table](std::size_t) { return table; });
  } else {
    store.mark(keys_, which.n(), [&](std::size_t i) { return table_[which.slots()[i]]; });
  }
  std::uint64_t heads[burst_max];
  const std::uint64_t hits = store.look_up(worker_, keys_, which.n(), heads);
  const action_records& all = *follows_.records;
  for (unsigned i = 0; i < which.n(); ++i) {
    heads[i] = (hits >> i & 1) != 0 ? heads[i] : 0;
    __builtin_prefetch(&all[static_cast<record_id>(heads[i])]);
  }
  const auto find = [&](unsigned i) { return all.at(static_cast<record_id>(heads[i]), version_); };
  const bool has_all = find_records(list, which, records, find);
  look_up_rest(of, list, records, has_all);
}

template <class Address>
void executor::look_up_prefixes(const table_stage& of, const packet_list& list,
                                const action_record** records) noexcept {
  const lpm_table<Address>* tables[burst_max];
  Address addresses[burst_max];
  lpm_slot slots[burst_max];
  record_id heads[burst_max];
  if (!list.is_mixed) {
    const prefix_table& prefixes = *of.prefixes;
    const asked which(list, packets_, {prefixes.place.needs, 0});
    if (!prefixes.rest) [[likely]] {
      for (unsigned i = 0; i < which.n(); ++i) {
        addresses[i] = prefixes.address<Address>(packets_[which.at(i)]);
      }
      prefixes.of<Address>()->lookup(addresses, which.n(), slots, heads, &(*follows_.records)[0]);
      std::fill_n(tables, which.n(), prefixes.of<Address>());
      return take_prefixes(of, list, which, tables, slots, heads, records);
    }
  }
  const auto prefixes_at = [&](slot at) -> const prefix_table& {
    return *plan_->tables[table_[at]]->prefixes;
  };
  const asked which(list, [&](slot at) { return prefixes_at(at).may_match(packets_[at]); });
  for (unsigned i = 0; i < which.n(); ++i) {
    const prefix_table& prefixes = prefixes_at(which.at(i));
    tables[i] = prefixes.of<Address>();
    addresses[i] = prefixes.address<Address>(packets_[which.at(i)]);
  }
  lpm_table<Address>::lookup(tables, addresses, which.n(), slots, heads, &(*follows_.records)[0]);
  take_prefixes(of, list, which, tables, slots, heads, records);
}

/// Where a prefix does not count at this version, a shorter one may.
template <class Address>
[[gnu::noinline, gnu::cold]] static const action_record* shorter_prefix(
    const action_records& all, const lpm_table<Address>& table, lpm_slot slot,
    version_no version) noexcept {
  const action_record* found = nullptr;
  while (found == nullptr && slot != 0) {
    slot = table.parent(slot);
    if (slot != 0) found = all.at(table.handle(slot), version);
  }
  return found;
}

template <class Address>
void executor::take_prefixes(const table_stage& of, const packet_list& list, const asked& which,
                             const lpm_table<Address>* const* tables, const lpm_slot* slots,
                             const record_id* heads, const action_record** records) noexcept {
  const action_records& all = *follows_.records;
  const version_no version = version_;
  const auto find = [&](unsigned i) {
    const action_record* found = all.at(heads[i], version);
    return found != nullptr || slots[i] == 0 ? found
                                             : shorter_prefix(all, *tables[i], slots[i], version);
  };
  const bool has_all = find_records(list, which, records, find);
  look_up_rest(of, list, records, has_all);
}

/// The best rule so far; without one, the rank is 0.
struct executor::ranked {
  const action_record* record;
  rule_rank rank;
};

/// Of the rows that match, the first that counts, if it is above the rule before.
executor::ranked executor::best_of(const direct_table& table, std::uint64_t rows,
                                   ranked so_far) const noexcept {
  for (; rows != 0; rows &= rows - 1) {
    const unsigned rule = table.rule_of[std::countr_zero(rows)];
    if (table.ranks[rule] < so_far.rank) break;
    const action_record* const found = record_of(table, rule);
    if (found != nullptr) return {found, table.ranks[rule]};
  }
  return so_far;
}

void executor::look_up_sets(const table_stage& of, const packet_list& list, ranked* best) noexcept {
  const decomposed_table& table = *of.decomposed;
  const exact_store& store = *table.by_value;
  const asked which(list, packets_, store.layout().needs());
  store.layout().take(packets_, which.slots_or_first(), which.n(), keys_, store.stride());
  store.mark(keys_, which.n(), [id = of.table](std::size_t) { return id; });
  std::uint64_t values[burst_max], sets[burst_max];
  std::uint64_t hits = store.look_up(worker_, keys_, which.n(), values);
  const layer_needs needs = table.rest.needs();
  const unsigned n_words = table.rest.n_words();
  asked hit;
  for (; hits != 0; hits &= hits - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(hits));
    if (!needs.are_in(packets_[which.at(i)].layers)) continue;
    rule_set::prefetch(values[i], n_words);
    sets[hit.n()] = values[i];
    hit.add(which.which(i), which.at(i));
  }
  table.rest.take(packets_, hit.slots(), hit.n(), keys_, n_words);
  std::uint32_t matched[burst_max];
  table.match(n_words, keys_, n_words, sets, hit.n(), matched);
  const action_records& all = *follows_.records;
  for (unsigned i = 0; i < hit.n(); ++i) {
    if (matched[i] == 0) continue;
    const auto* answers = rule_set::answers(sets[i], n_words);
    __builtin_prefetch(&all[answers[std::countr_zero(matched[i])].head]);
  }
  for (unsigned i = 0; i < hit.n(); ++i) {
    const auto* answers = rule_set::answers(sets[i], n_words);
    for (std::uint32_t rows = matched[i]; rows != 0; rows &= rows - 1) {
      const rule_set::answer& row = answers[std::countr_zero(rows)];
      const action_record* found = all.at(row.head, version_);
      if (found == nullptr) continue;
      best[hit.which(i)] = {found, row.rank};
      break;
    }
  }
}

void executor::look_up_apart(const direct_table& table, const packet_list& list,
                             ranked* best) noexcept {
  const asked which(list, packets_, table.layout.needs());
  std::uint64_t matched[burst_max];
  find_rows(table, which, matched);
  for (unsigned i = 0; i < which.n(); ++i) {
    ranked& so_far = best[which.which(i)];
    so_far = best_of(table, matched[i], so_far);
  }
}

/// What is beside entries and prefixes. Tables that are looked up together have no rules apart.
inline void executor::look_up_rest(const table_stage& of, const packet_list& list,
                                   const action_record** records, bool has_all) noexcept {
  if (plan_->has_apart[of.table] && !list.is_mixed) [[unlikely]] {
    if (const direct_table* apart = of.rules_apart()) look_up_beside(*apart, list, records);
  }
  if (!has_all) take_catch_alls(list, records);
}

void executor::look_up_beside(const direct_table& table, const packet_list& list,
                              const action_record** records) noexcept {
  const asked which(list, packets_, table.layout.needs());
  std::uint64_t matched[burst_max];
  find_rows(table, which, matched);
  for (unsigned i = 0; i < which.n(); ++i) {
    const action_record*& so_far = records[which.which(i)];
    const rule_rank rank = so_far != nullptr ? rank_of(*so_far) : 0;
    so_far = best_of(table, matched[i], {so_far, rank}).record;
  }
}

void executor::look_up_decomposed(const table_stage& of, const packet_list& list,
                                  const action_record** records) noexcept {
  ranked best[burst_max];
  std::fill_n(best, list.n, ranked{nullptr, 0});
  look_up_sets(of, list, best);
  const direct_table& apart = *of.decomposed->apart->load(std::memory_order_acquire);
  if (apart.n_rules != 0) look_up_apart(apart, list, best);
  for (unsigned k = 0; k < list.n; ++k) {
    records[k] = best[k].record;
    if (records[k] != nullptr) prefetch_to_write(counts_.place(records[k]->counters));
  }
}

void executor::look_up_wildcard(const table_stage& of, const packet_list& list,
                                const action_record** records) noexcept {
  const wildcard_table& table = *of.wildcard;
  const std::size_t stride = table.stride();
  const asked which(list, packets_, table.layout().needs());
  table.layout().take(packets_, which.slots_or_first(), which.n(), keys_, stride);
  record_id heads[burst_max];
  std::uint32_t ranks[burst_max];
  table.look_up(worker_, keys_, which.n(), heads, ranks);
  const action_records& all = *follows_.records;
  for (unsigned i = 0; i < which.n(); ++i) __builtin_prefetch(&all[heads[i]]);
  (void)find_records(list, which, records, [&](unsigned i) {
    const action_record* found = all.at(heads[i], version_);
    for (record_id head = heads[i]; found == nullptr && head != 0;) {
      head = table.look_up_below(worker_, keys_ + i * stride, ranks[i]);
      found = all.at(head, version_);
    }
    return found;
  });
}

}  // namespace coua::pipeline
