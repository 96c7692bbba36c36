// SPDX-License-Identifier: Apache-2.0
#include "classify/classifier_reader.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/cpu.h"

namespace coua {
namespace {

void count(std::uint64_t& counter, std::uint64_t n) noexcept {
  store_relaxed(&counter, counter + n);
}

}  // namespace

result<std::unique_ptr<classifier_reader>> classifier_reader::create(classifier& owner) {
  auto grace = owner.enter();
  if (!grace) return tl::unexpected(grace.error());
  auto hints = distributor::create(owner.settings().flows, active_isa());
  if (!hints) return tl::unexpected(hints.error());
  return std::unique_ptr<classifier_reader>(
      new classifier_reader(owner, std::move(*grace), std::move(*hints)));
}

classifier_reader::classifier_reader(classifier& owner, qsbr::reader grace, distributor hints)
    : owner_(owner),
      grace_(std::move(grace)),
      distributor_(std::move(hints)),
      switch_(owner.settings().distributor == COUA_DISTRIBUTOR_ON),
      may_choose_(owner.settings().distributor == COUA_DISTRIBUTOR_AUTO),
      key_bytes_(owner.settings().key_bytes),
      queue_(group_, owner.settings().key, active_isa()),
      ranking_(owner.n_ids_max()),
      search_(group_, queue_, ranking_, owner.n_ids_max(), active_isa()),
      below_(owner.settings().key, active_isa()),
      shown_on_(switch_.is_on()),
      shown_flows_(distributor_.flows_in_use()) {
  owner_.attach(this);
}

classifier_reader::~classifier_reader() { owner_.detach(this); }

// Batches and groups.

std::size_t classifier_reader::lookup(bytes_in keys, std::size_t n, coua_classifier_answer* answers,
                                      std::uint64_t* hits) noexcept {
  std::size_t n_found = 0;
  std::uint64_t word = 0;
  grace_.online();
  for (std::size_t at = 0; at < n; at += lookup_group::max) {
    const auto size = static_cast<unsigned>(std::min<std::size_t>(lookup_group::max, n - at));
    const std::uint32_t found = look_up_group(keys + at * key_bytes_, size);
    n_found += count_of(found);
    if (answers != nullptr) {
      for (std::uint32_t left = found; left != 0;) {
        const unsigned i = take_lowest(left);
        const std::uint64_t answer = group_.best[i].words[0];
        answers[at + i] = {value_of(answer), priority_of(answer)};
      }
    }
    word |= std::uint64_t{found} << at % 64;
    if (hits != nullptr && (at % 64 != 0 || at + size == n)) {
      hits[at / 64] = word;
      word = 0;
    }
    grace_.quiescent();
  }
  grace_.offline();
  return n_found;
}

std::uint32_t classifier_reader::look_up_group(bytes_in keys, unsigned n) noexcept {
  for (unsigned i = 0; i <= max_repeats; ++i) {
    if (attempt(keys, n)) return group_.found;
    count(counts_.repeats, 1);
  }
  return settle_group(keys, n);
}

/// Key by key: less time for updates to fall into.
std::uint32_t classifier_reader::settle_group(bytes_in keys, unsigned n) noexcept {
  simd::flow_probe_value best[lookup_group::max];
  std::uint32_t found = 0;
  for (unsigned i = 0; i < n; ++i) {
    unsigned repeats = 0;
    while (!attempt(keys + i * key_bytes_, 1) && ++repeats < max_repeats_key) {
    }
    count(counts_.repeats, repeats);
    if (repeats == max_repeats_key) {
      // The list of that attempt may be gone: it is counted without its probes and its mask.
      count(counts_.unsettled, 1);
      count(counts_.lookups, 1);
      count(counts_.hits, group_.found & 1);
    }
    found |= (group_.found & 1) << i;
    best[i] = group_.best[0];
  }
  std::copy_n(best, n, group_.best);
  return found;
}

bool classifier_reader::lookup_below(bytes_in key, std::uint32_t priority,
                                     coua_classifier_answer& answer) noexcept {
  std::uint64_t words[wide_words::max];
  load_words(key, key_bytes_, words);
  std::optional<std::uint64_t> found;
  grace_.online();
  for (unsigned repeats = 0;; ++repeats) {
    const std::uint64_t before = owner_.version();
    found = below_.run(*owner_.list(), words, priority);
    if (!is_overtaken(before)) break;
    if (repeats == max_repeats_key) {
      count(counts_.unsettled, 1);
      break;
    }
    count(counts_.repeats, 1);
  }
  grace_.offline();
  if (found) answer = {value_of(*found), priority_of(*found)};
  return found.has_value();
}

/// Two updates or more since then: what was read meanwhile may never have been there together.
bool classifier_reader::is_overtaken(std::uint64_t since) const noexcept {
  return (owner_.version() + 1) / 2 - since / 2 >= 2;
}

/// False: updates overtook it, and the answers may be wrong.
bool classifier_reader::attempt(bytes_in keys, unsigned n) noexcept {
  const std::uint64_t before = owner_.version();
  const subtable_list& list = *owner_.list();
  ranking_.follow(list);
  group_.start(keys, n, key_bytes_);
  const bool with_hints = switch_.is_on();
  const std::uint32_t open = with_hints ? take_hints(list) : ask_favourite(list);
  if (open != 0) search_.run(list, open);
  if (is_overtaken(before)) return false;
  if (with_hints) remember_winners();
  count_group(list);
  return true;
}

// Hints.

/// Returns the keys that must be searched for.
std::uint32_t classifier_reader::take_hints(const subtable_list& list) noexcept {
  const unsigned n = group_.n;
  for (unsigned i = 0; i < n; ++i) {
    flows_[i] = distributor_.flow_of(list.all, group_.key(i));
    distributor_.fetch(flows_[i]);
  }
  distributor_.find(flows_, n, hints_);
  std::uint32_t hinted = 0;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint16_t place = list.find(hints_[i]);
    if (place == subtable_list::no_place) continue;
    group_.tried[i] = place;
    hinted |= std::uint32_t{1} << i;
    queue_.add(*list.places[place].face, i);
  }
  const std::uint32_t matched = queue_.run();
  const std::uint32_t open = prove(list, matched);
  std::uint32_t final_ones = 0;
  for (std::uint32_t left = matched & ~open; left != 0;) {
    const unsigned i = take_lowest(left);
    final_ones |= std::uint32_t{group_.asked[i] == 1} << i;
  }
  count(counts_.hinted, count_of(hinted));
  count(counts_.final_hints, count_of(final_ones));
  count(counts_.checked_hints, count_of(matched & ~final_ones));
  count(counts_.false_hints, count_of(hinted & ~matched));
  return open;
}

/// The same, with one subtable for all keys.
std::uint32_t classifier_reader::ask_favourite(const subtable_list& list) noexcept {
  const std::uint16_t place = list.find(ranking_.favourite());
  if (place == subtable_list::no_place) return group_.all();
  std::fill_n(group_.tried, group_.n, place);
  queue_.add_all(*list.places[place].face, group_.all());
  return prove(list, queue_.run());
}

/// Of keys that matched a rule in the subtable tried: asks the rivals, where there are few. Returns
/// the keys that must be searched for, of all.
std::uint32_t classifier_reader::prove(const subtable_list& list, std::uint32_t matched) noexcept {
  std::uint32_t proven = 0, contested = 0;
  for (std::uint32_t left = matched; left != 0;) {
    const unsigned i = take_lowest(left);
    const rival_set rivals = group_.rivals(i);
    const std::uint32_t unproven =
        list.places[group_.tried[i]].face->unproven_below->load(std::memory_order_acquire);
    if (group_.priority(i) < unproven) continue;
    group_.limits[i] = rivals;
    if (!rivals.is_listed()) continue;
    (rivals.empty() ? proven : contested) |= std::uint32_t{1} << i;
  }
  if (contested != 0) ask_rivals(list, contested);
  return group_.all() & ~(proven | contested);
}

/// Only these subtables hold rules that could count instead of the one found.
void classifier_reader::ask_rivals(const subtable_list& list, std::uint32_t keys) noexcept {
  while (keys != 0) {
    const unsigned i = take_lowest(keys);
    if (queue_.room() < rival_set::max_listed) queue_.run();
    group_.limits[i].each_listed([&](subtable_id id) {
      const std::uint16_t place = list.find(id);
      if (place != subtable_list::no_place) queue_.add(*list.places[place].face, i);
    });
  }
  queue_.run();
}

void classifier_reader::remember_winners() noexcept {
  for (std::uint32_t left = group_.found; left != 0;) {
    const unsigned i = take_lowest(left);
    if (group_.winner[i] != hints_[i]) distributor_.remember(flows_[i], group_.winner[i]);
  }
}

// Counts.

void classifier_reader::count_group(const subtable_list& list) noexcept {
  std::uint64_t probes = 0, hit_probes = 0;
  for (unsigned i = 0; i < group_.n; ++i) {
    probes += group_.asked[i];
    if (!group_.has_found(i)) continue;
    hit_probes += group_.asked[i];
    ranking_.count_hit(group_.winner[i]);
  }
  count(counts_.lookups, group_.n);
  count(counts_.hits, count_of(group_.found));
  count(counts_.probes, probes);
  count(counts_.hit_probes, hit_probes);
  ++groups_;
  if (groups_ % distributor_switch::sample == 0) judge_distributor(list);
  if (counts_.lookups - ranked_at_ >= subtable_ranking::every) {
    ranking_.rank(list);
    ranked_at_ = counts_.lookups;
  }
}

void classifier_reader::judge_distributor(const subtable_list& list) noexcept {
  if (!switch_.count(group_.n, saved_probes(list))) return;
  distributor_.adapt(counts_.lookups - adapted_.lookups,
                     counts_.false_hints - adapted_.false_hints);
  adapted_ = counts_;
  if (may_choose_) switch_.decide();
  store_relaxed(&shown_saved_, std::bit_cast<std::uint64_t>(switch_.saved()));
  store_relaxed(&shown_switches_, switch_.switches());
  store_relaxed(&shown_on_, std::uint32_t{switch_.is_on()});
  store_relaxed(&shown_flows_, distributor_.flows_in_use());
}

std::int64_t classifier_reader::saved_probes(const subtable_list& list) noexcept {
  std::int64_t saved = 0;
  if (group_.found == 0) return 0;
  const auto took = [&](unsigned i) {
    return group_.asked[i] + ((group_.searched >> i & 1) != 0 ? cost_of_search(list) : 0);
  };
  if (switch_.is_on()) {
    // Of one key in each group, for all: a count of candidates takes as long as some look-ups.
    const auto i = static_cast<unsigned>(std::countr_zero(group_.found));
    return (cost_without(list, i) - took(i)) * count_of(group_.found);
  }
  for (std::uint32_t left = group_.found; left != 0;) {
    const unsigned i = take_lowest(left);
    saved += std::max<std::int64_t>(0, took(i) - cost_of_proof(list, i, group_.asked[i]));
  }
  return saved;
}

std::int64_t classifier_reader::cost_of_search(const subtable_list& list) noexcept {
  return list.candidates != nullptr ? list.candidates->cost() : 0;
}

/// What a key takes whose rule was found at the first subtable asked, in subtables; a search
/// without any hint would ask `searched`.
std::int64_t classifier_reader::cost_of_proof(const subtable_list& list, unsigned key,
                                              std::int64_t searched) const noexcept {
  const rival_set rivals = group_.rivals(key);
  if (rivals.is_listed()) return 1 + rivals.size();
  const double others = static_cast<double>(searched - 1) * rivals.density();
  return 1 + cost_of_search(list) + std::llround(others);
}

/// What a key that matched would take without the distributor.
std::int64_t classifier_reader::cost_without(const subtable_list& list, unsigned key) noexcept {
  const std::int64_t searched = search_.n_asked(list, key);
  const std::uint16_t favourite = ranking_.favourite();
  if (group_.winner[key] == favourite) return cost_of_proof(list, key, searched);
  return searched + cost_of_search(list) + (favourite != subtable_ranking::none);
}

void classifier_reader::get_stats(coua_classifier_reader_stats& stats) const {
  stats.lookups = load_relaxed(&counts_.lookups);
  stats.hits = load_relaxed(&counts_.hits);
  stats.probes = load_relaxed(&counts_.probes);
  stats.hit_probes = load_relaxed(&counts_.hit_probes);
  stats.hinted = load_relaxed(&counts_.hinted);
  stats.final_hints = load_relaxed(&counts_.final_hints);
  stats.checked_hints = load_relaxed(&counts_.checked_hints);
  stats.false_hints = load_relaxed(&counts_.false_hints);
  stats.repeats = load_relaxed(&counts_.repeats);
  stats.unsettled = load_relaxed(&counts_.unsettled);
  stats.switches = load_relaxed(&shown_switches_);
  stats.saved_probes = std::bit_cast<double>(load_relaxed(&shown_saved_));
  stats.distributor_on = load_relaxed(&shown_on_);
  stats.flows = load_relaxed(&shown_flows_);
  stats.simd = distributor_.simd_name();
}

}  // namespace coua
