// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "base/prefetch.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/datapath/executor_asked.h"

namespace coua::pipeline {

/// The rules of those that were asked, by their heads; of others none. True: all meet one. Nearly
/// always the newest record of each counts, and no branch is taken; of the others `find(i)` says
/// what does. Counters are fetched in a loop of their own: the first records are there when the
/// last counters have been asked for.
template <class HeadAt, class Find>
bool executor::find_rules(const packet_list& list, const asked& which, met_rules& found,
                          HeadAt head_at, Find find) const noexcept {
  const action_record* const records = &(*follows_.records)[0];
  const version_no version = version_;
  const unsigned n = which.n();
  unsigned n_missed = 0;
  const auto counts = [version](const action_record& one) {
    return (one.from <= version) & (one.shape != nullptr);
  };
  const auto each = [&](auto place) {
    for (unsigned i = 0; i < n; ++i) {
      const rule_head head = head_at(i);
      const action_record* const newest = records + head.record;  // 0 is one without a shape
      __builtin_prefetch(newest);
      found.put(place(i), {newest, head.counters});
    }
    for (unsigned i = 0; i < n; ++i) {
      prefetch_to_write(counts_.place(found.counters[place(i)]));
    }
    bool all_count = true;
    for (unsigned i = 0; i < n; ++i) all_count &= counts(*found.records[place(i)]);
    if (all_count) [[likely]]
      return;
    for (unsigned i = 0; i < n; ++i) {
      if (counts(*found.records[place(i)])) continue;
      const met_rule one = find(i);
      n_missed += one.record == nullptr;
      found.put(place(i), one);
    }
  };
  if (n == list.n) [[likely]] {
    each([](unsigned i) { return i; });
    return n_missed == 0;
  }
  found.clear(list.n);
  each([&which](unsigned i) { return which.which(i); });
  return false;
}

/// With its counter on the way.
inline met_rule executor::to_count(const met_rule& one) const noexcept {
  if (one.record != nullptr) [[likely]]
    prefetch_to_write(counts_.place(one.counters));
  return one;
}

void executor::take_catch_alls(const packet_list& list, met_rules& found) const noexcept {
  for (unsigned k = 0; k < list.n; ++k) {
    if (found.records[k] != nullptr) continue;
    const table_stage& of = *plan_->tables[table_[list.at[k]]];
    const record_id head = of.catch_all.load(std::memory_order_acquire);
    found.put(k, met_rule::of(follows_.records->at(head, version_)));
  }
}

void executor::look_up(const table_stage& of, const packet_list& list, met_rules& found) noexcept {
  switch (of.kind) {
    case table_template::direct: return look_up_direct(of, list, found);
    case table_template::exact: return look_up_exact(of, list, found);
    case table_template::lpm:
      return of.prefixes->is_ipv4() ? look_up_prefixes<ipv4_number>(of, list, found)
                                    : look_up_prefixes<ipv6_number>(of, list, found);
    case table_template::decomposed: return look_up_decomposed(of, list, found);
    case table_template::classifier: return look_up_wildcard(of, list, found);
  }
}

std::uint64_t executor::find_rows(const direct_table& table, const asked& which,
                                  std::uint64_t* matched) noexcept {
  const bool is_one = table.is_of_port && is_one_port_;
  COUA_ASSERT(!is_one || which.n() != 0);  // whoever is of ports takes all packets
  const unsigned n = is_one ? 1 : which.n();
  const std::size_t stride = table.layout.n_words();
  table.layout.take(packets_, which.slots_or_first(), n, keys_, stride);
  if (table.rows.n_words != 0) {
    match_rows_(table.rows, keys_, stride, n, matched);
  } else {
    std::fill_n(matched, n, ~std::uint64_t{0} >> (64 - table.n_rules));
  }
  if (is_one) {
    std::fill_n(matched + 1, which.n() - 1, matched[0]);
    return matched[0];
  }
  std::uint64_t any = 0;
  for (unsigned i = 0; i < n; ++i) any |= matched[i];
  return any;
}

const action_record* executor::record_of(const direct_table& table, unsigned rule) const noexcept {
  return follows_.records->at(table.heads[rule].load(std::memory_order_acquire), version_);
}

void executor::look_up_direct(const table_stage& of, const packet_list& list,
                              met_rules& found) noexcept {
  const direct_table& table = *of.direct.load(std::memory_order_acquire);
  const asked which(list, packets_, table.layout.needs());
  std::uint64_t matched[burst_max];
  find_rows(table, which, matched);
  if (which.n() != list.n) found.clear(list.n);
  // Counters of so few rules are near: nothing is fetched.
  const auto take = [&](auto record) {
    for (unsigned i = 0; i < which.n(); ++i) {
      const action_record* one = nullptr;
      for (std::uint64_t rows = matched[i]; rows != 0; rows &= rows - 1) {
        one = record(static_cast<unsigned>(std::countr_zero(rows)));
        if (one != nullptr) [[likely]]
          break;
      }
      found.put(which.which(i), met_rule::of(one));
    }
  };
  const auto of_row = [&](unsigned row) { return record_of(table, table.rule_of[row]); };
  if (which.n() < table.n_rows) return take(of_row);
  const action_record* all[direct_table::rows_max];
  for (unsigned row = 0; row < table.n_rows; ++row) all[row] = of_row(row);
  take([&all](unsigned row) { return all[row]; });
}

void executor::look_up_exact(const table_stage& of, const packet_list& list,
                             met_rules& found) noexcept {
  const exact_store& store = *of.exact;
  const asked which(list, packets_, store.layout().needs());
  if (!list.is_mixed) {
    store.take(packets_, which.slots_or_first(), which.n(), keys_, of.table);
  } else {
    store.take(packets_, which.slots_or_first(), which.n(), keys_,
               [&](std::size_t i) { return table_[which.slots()[i]]; });
  }
  std::uint64_t heads[burst_max];
  const std::uint64_t hits = store.look_up(worker_, keys_, which.n(), heads);
  for (std::uint64_t missed = first_bits(which.n()) & ~hits; missed != 0; missed &= missed - 1) {
    heads[std::countr_zero(missed)] = 0;
  }
  const auto head_at = [&heads](unsigned i) { return rule_head::of(heads[i]); };
  const bool has_all = find_rules(list, which, found, head_at, [&](unsigned i) {
    return follows_.records->at(head_at(i), version_);
  });
  look_up_rest(of, list, found, has_all);
}

template <class Address>
void executor::look_up_prefixes(const table_stage& of, const packet_list& list,
                                met_rules& found) noexcept {
  const lpm_table<Address>* tables[burst_max];
  Address addresses[burst_max];
  lpm_slot slots[burst_max];
  lpm_handle heads[burst_max];
  if (!list.is_mixed) {
    const prefix_table& prefixes = *of.prefixes;
    const asked which(list, packets_, {prefixes.place.needs, 0});
    if (!prefixes.rest) [[likely]] {
      for (unsigned i = 0; i < which.n(); ++i) {
        addresses[i] = prefixes.address<Address>(packets_[which.at(i)]);
      }
      prefixes.of<Address>()->lookup(addresses, which.n(), slots, heads);
      std::fill_n(tables, which.n(), prefixes.of<Address>());
      return take_prefixes(of, list, which, tables, slots, heads, found);
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
  lpm_table<Address>::lookup(tables, addresses, which.n(), slots, heads);
  take_prefixes(of, list, which, tables, slots, heads, found);
}

/// Where a prefix does not count at this version, a shorter one may.
template <class Address>
[[gnu::noinline, gnu::cold]] static met_rule shorter_prefix(const action_records& all,
                                                            const lpm_table<Address>& table,
                                                            lpm_slot slot,
                                                            version_no version) noexcept {
  met_rule found;
  while (found.record == nullptr && slot != 0) {
    slot = table.parent(slot);
    if (slot != 0) found = all.at(rule_head::of_short(table.handle(slot)), version);
  }
  return found;
}

/// Of what a look-up found.
template <class Address>
static met_rule longest_prefix(const action_records& all, const lpm_table<Address>& table,
                               lpm_slot slot, lpm_handle head, version_no version) noexcept {
  const met_rule one = all.at(rule_head::of_short(head), version);
  if (one.record == nullptr && slot != 0) [[unlikely]]
    return shorter_prefix(all, table, slot, version);
  return one;
}

template <class Address>
void executor::take_prefixes(const table_stage& of, const packet_list& list, const asked& which,
                             const lpm_table<Address>* const* tables, const lpm_slot* slots,
                             const lpm_handle* heads, met_rules& found) noexcept {
  const auto head_at = [heads](unsigned i) { return rule_head::of_short(heads[i]); };
  const bool has_all = find_rules(list, which, found, head_at, [&](unsigned i) {
    return longest_prefix(*follows_.records, *tables[i], slots[i], heads[i], version_);
  });
  if (which.n() != list.n) [[unlikely]]
    take_for_all(list, found);
  look_up_rest(of, list, found, has_all);
}

/// Of the packets of a list that have no address.
void executor::take_for_all(const packet_list& list, met_rules& found) const noexcept {
  for (unsigned k = 0; k < list.n; ++k) {
    const packet_state& from = packets_[list.at[k]];
    const prefix_table& prefixes = *plan_->tables[table_[list.at[k]]]->prefixes;
    if (!from.layers.has(prefixes.place.needs)) found.put(k, met_without(prefixes, from));
  }
}

/// Of a packet without the address.
met_rule executor::met_without(const prefix_table& prefixes,
                               const packet_state& from) const noexcept {
  if (!prefixes.may_match_without(from)) return {};
  return follows_.records->at(rule_head::of_short(prefixes.for_all()), version_);
}

/// The best rule so far; without one, the rank is 0.
struct executor::ranked {
  met_rule met;
  rule_rank rank;
};

/// Of the rows that match, the first that counts, if it is above the rule before.
executor::ranked executor::best_of(const direct_table& table, std::uint64_t rows,
                                   ranked so_far) const noexcept {
  for (; rows != 0; rows &= rows - 1) {
    const unsigned rule = table.rule_of[std::countr_zero(rows)];
    if (table.ranks[rule] < so_far.rank) break;
    const action_record* const found = record_of(table, rule);
    if (found != nullptr) return {met_rule::of(found), table.ranks[rule]};
  }
  return so_far;
}

/// Packets whose values lead to prefixes.
struct executor::in_prefixes {
  asked which;
  const prefix_table* to[burst_max];
  unsigned n_ipv4 = 0;  // the others are of IPv6

  void add(unsigned k, slot packet, const prefix_table* table) noexcept {
    to[which.n()] = table;
    which.add(k, packet);
    n_ipv4 += table->is_ipv4() ? 1 : 0;
  }
};

/// Of those that lead to addresses of this kind.
template <class Address>
void executor::look_up_sets_of_prefixes(const in_prefixes& those, bool are_ranked,
                                        ranked* best) noexcept {
  const lpm_table<Address>* tables[burst_max];
  Address addresses[burst_max];
  lpm_slot slots[burst_max];
  lpm_handle heads[burst_max];
  asked which;
  const action_records& all = *follows_.records;
  const auto ranked_of = [&](const met_rule& one) {
    return ranked{one, are_ranked && one.record != nullptr ? rank_of(all, one) : 0};
  };
  for (unsigned i = 0; i < those.which.n(); ++i) {
    const prefix_table& to = *those.to[i];
    const packet_state& from = packets_[those.which.at(i)];
    const lpm_table<Address>* const table = to.of<Address>();
    if (table == nullptr) continue;
    if (!from.layers.has(to.place.needs)) [[unlikely]] {
      best[those.which.which(i)] = ranked_of(met_without(to, from));
      continue;
    }
    tables[which.n()] = table;
    addresses[which.n()] = to.address<Address>(from);
    which.add(those.which.which(i), those.which.at(i));
  }
  if (which.n() == 0) return;
  lpm_table<Address>::lookup(tables, addresses, which.n(), slots, heads);
  for (unsigned i = 0; i < which.n(); ++i) {
    __builtin_prefetch(&all[rule_head::of_short(heads[i]).record]);
  }
  for (unsigned i = 0; i < which.n(); ++i) {
    best[which.which(i)] = ranked_of(longest_prefix(all, *tables[i], slots[i], heads[i], version_));
  }
}

void executor::look_up_sets(const table_stage& of, const packet_list& list, bool are_ranked,
                            ranked* best) noexcept {
  const decomposed_table& table = *of.decomposed;
  const exact_store& store = *table.by_value;
  const asked which(list, packets_, store.layout().needs());
  store.take(packets_, which.slots_or_first(), which.n(), keys_, of.table);
  std::uint64_t values[burst_max], sets[burst_max];
  std::uint64_t hits = store.look_up(worker_, keys_, which.n(), values);
  const layer_needs needs = table.rest.needs();
  const unsigned n_words = table.rest.n_words();
  asked hit;
  in_prefixes of_prefixes;
  for (; hits != 0; hits &= hits - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(hits));
    if (const prefix_table* const prefixes = prefixes_of(values[i])) {
      __builtin_prefetch(prefixes);
      of_prefixes.add(which.which(i), which.at(i), prefixes);
      continue;
    }
    if (!needs.are_in(packets_[which.at(i)].layers)) continue;
    rule_set::prefetch(values[i], n_words);
    sets[hit.n()] = values[i];
    hit.add(which.which(i), which.at(i));
  }
  if (const unsigned n = of_prefixes.which.n(), n_ipv4 = of_prefixes.n_ipv4; n != 0) {
    if (n_ipv4 != 0) look_up_sets_of_prefixes<ipv4_number>(of_prefixes, are_ranked, best);
    if (n_ipv4 != n) look_up_sets_of_prefixes<ipv6_number>(of_prefixes, are_ranked, best);
    if (hit.n() == 0) return;
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
      best[hit.which(i)] = {met_rule::of(found), row.rank};
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
inline void executor::look_up_rest(const table_stage& of, const packet_list& list, met_rules& found,
                                   bool has_all) noexcept {
  if (plan_->has_apart[of.table] && !list.is_mixed) [[unlikely]] {
    if (const direct_table* apart = of.rules_apart()) look_up_beside(*apart, list, found);
  }
  if (!has_all) take_catch_alls(list, found);
}

void executor::look_up_beside(const direct_table& table, const packet_list& list,
                              met_rules& found) noexcept {
  const asked which(list, packets_, table.layout.needs());
  std::uint64_t matched[burst_max];
  if (find_rows(table, which, matched) == 0) return;
  for (unsigned i = 0; i < which.n(); ++i) {
    if (matched[i] == 0) continue;
    const unsigned k = which.which(i);
    const met_rule so_far = found.at(k);
    const rule_rank rank = so_far.record != nullptr ? rank_of(*follows_.records, so_far) : 0;
    const ranked best = best_of(table, matched[i], {so_far, rank});
    if (best.met.record != so_far.record) found.put(k, best.met);
  }
}

void executor::look_up_decomposed(const table_stage& of, const packet_list& list,
                                  met_rules& found) noexcept {
  ranked best[burst_max];
  std::fill_n(best, list.n, ranked{{}, 0});
  const direct_table& apart = *of.decomposed->apart->load(std::memory_order_acquire);
  look_up_sets(of, list, apart.n_rules != 0, best);
  if (apart.n_rules != 0) look_up_apart(apart, list, best);
  for (unsigned k = 0; k < list.n; ++k) found.put(k, to_count(best[k].met));
}

void executor::look_up_wildcard(const table_stage& of, const packet_list& list,
                                met_rules& found) noexcept {
  const wildcard_table& table = *of.wildcard;
  const std::size_t stride = table.stride();
  const asked which(list, packets_, table.layout().needs());
  table.layout().take(packets_, which.slots_or_first(), which.n(), keys_, stride);
  record_id heads[burst_max];
  std::uint32_t ranks[burst_max];
  table.look_up(worker_, keys_, which.n(), heads, ranks);
  const action_records& all = *follows_.records;
  for (unsigned i = 0; i < which.n(); ++i) __builtin_prefetch(&all[heads[i]]);
  if (which.n() != list.n) found.clear(list.n);
  for (unsigned i = 0; i < which.n(); ++i) {
    const action_record* one = all.at(heads[i], version_);
    for (record_id head = heads[i]; one == nullptr && head != 0;) {
      head = table.look_up_below(worker_, keys_ + i * stride, ranks[i]);
      one = all.at(head, version_);
    }
    found.put(which.which(i), to_count(met_rule::of(one)));
  }
}

}  // namespace coua::pipeline
