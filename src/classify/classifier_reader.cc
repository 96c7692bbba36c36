// SPDX-License-Identifier: Apache-2.0
#include "classify/classifier_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/cpu.h"

namespace coua {
namespace {

unsigned take_lowest(std::uint32_t& keys) noexcept {
  const auto i = static_cast<unsigned>(std::countr_zero(keys));
  keys &= keys - 1;
  return i;
}
std::uint32_t all_of(unsigned n) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
}
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
      n_words_(owner.n_words()),
      hash_(owner.settings().key),
      probe_(simd::select_flow_probes(active_isa())),
      ranked_(owner.n_ids_max()),
      rank_of_(owner.n_ids_max()),
      candidates_(group_size * ((owner.n_ids_max() + 63) / 64)),
      ids_(std::bit_ceil((owner.n_ids_max() + 63) / 64)),
      recent_(owner.n_ids_max()),
      hits_(owner.n_ids_max()),
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
  for (std::size_t at = 0; at < n; at += group_size) {
    const auto size = static_cast<unsigned>(std::min<std::size_t>(group_size, n - at));
    const std::uint32_t found = lookup_group(keys + at * key_bytes_, size);
    n_found += static_cast<unsigned>(std::popcount(found));
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

std::uint32_t classifier_reader::lookup_group(bytes_in keys, unsigned n) noexcept {
  for (unsigned i = 0; i <= max_repeats; ++i) {
    if (attempt(keys, n)) return group_.found;
    count(counts_.repeats, 1);
  }
  return settle_group(keys, n);
}

/// Key by key: less time for updates to fall into.
std::uint32_t classifier_reader::settle_group(bytes_in keys, unsigned n) noexcept {
  simd::flow_probe_value best[group_size];
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

/// False: updates overtook it, and the answers may be wrong.
bool classifier_reader::attempt(bytes_in keys, unsigned n) noexcept {
  const std::uint64_t before = owner_.version();
  const subtable_list& list = *owner_.list();
  if (list.order != order_seen_) follow(list);
  group_.n = n;
  group_.found = 0;
  for (unsigned i = 0; i < n; ++i) {
    load_words(keys + i * key_bytes_, key_bytes_, group_.words + i * n_words_);
    group_.asked[i] = 0;
    group_.tried[i] = subtable_list::no_place;
  }
  const bool with_hints = switch_.is_on();
  const std::uint32_t open = with_hints ? take_hints(list) : all_of(n);
  if (open != 0) search(list, open);
  const std::uint64_t after = owner_.version();
  if ((after + 1) / 2 - before / 2 >= 2) return false;
  if (with_hints) {
    for (std::uint32_t left = group_.found; left != 0;) {
      const unsigned i = take_lowest(left);
      if (group_.winner[i] != group_.hints[i]) {
        distributor_.remember(group_.flows[i], group_.winner[i]);
      }
    }
  }
  count_group(list, n);
  return true;
}

// Probes.

/// The key under a mask of `N` words, 0: any number, and its hash.
template <unsigned N, class Hash>
[[gnu::always_inline]] inline void classifier_reader::enqueue_as(const subtable_face& face,
                                                                 unsigned key,
                                                                 const Hash& hash) noexcept {
  const unsigned at = queue_.n++;
  const std::uint64_t* whole = group_.words + key * n_words_;
  std::uint64_t* words = queue_.words + at * wide_words::max;
  if constexpr (N == 0) {
    face.mask.take(whole, words);
  } else {
    for (unsigned i = 0; i < N; ++i) words[i] = whole[face.mask.at(i)] & face.mask.bits(i);
  }
  queue_.probes[at] = {&face.view, words, hash(words)};
  simd::fetch_probe(queue_.probes[at]);
  queue_.key[at] = static_cast<std::uint8_t>(key);
  queue_.id[at] = face.id;
}

void classifier_reader::enqueue(const subtable_face& face, unsigned key) noexcept {
  const unsigned n_words = face.mask.n();
  const auto hash = [&](const std::uint64_t* words) { return hash_(words, n_words); };
  if (n_words == 1) return enqueue_as<1>(face, key, hash);
  if (n_words == 2) return enqueue_as<2>(face, key, hash);
  enqueue_as<0>(face, key, hash);
}

void classifier_reader::enqueue_all(const subtable_face& face, std::uint32_t keys) noexcept {
  switch (const unsigned n_words = face.mask.n(); n_words) {
    case 1: {
      const keyed_hash::of<1> hash(hash_);
      while (keys != 0) enqueue_as<1>(face, take_lowest(keys), hash);
      break;
    }
    case 2: {
      const keyed_hash::of<2> hash(hash_);
      while (keys != 0) enqueue_as<2>(face, take_lowest(keys), hash);
      break;
    }
    default: {
      const auto hash = [&](const std::uint64_t* words) { return hash_(words, n_words); };
      while (keys != 0) enqueue_as<0>(face, take_lowest(keys), hash);
    }
  }
}

std::uint32_t classifier_reader::run_queue() noexcept {
  const unsigned n = queue_.n;
  std::uint32_t matched = 0;
  for (std::uint64_t left = probe_(queue_.probes, n, queue_.values); left != 0; left &= left - 1) {
    const auto j = static_cast<unsigned>(std::countr_zero(left));
    const unsigned i = queue_.key[j];
    const simd::flow_probe_value& value = queue_.values[j];
    const std::uint32_t bit = std::uint32_t{1} << i;
    matched |= bit;
    if ((group_.found & bit) != 0 &&
        priority_of(group_.best[i].words[0]) >= priority_of(value.words[0])) {
      continue;
    }
    group_.found |= bit;
    group_.best[i] = value;
    group_.winner[i] = queue_.id[j];
  }
  for (unsigned j = 0; j < n; ++j) ++group_.asked[queue_.key[j]];
  queue_.n = 0;
  return matched;
}

// Hints.

/// Returns the keys that must be searched for.
std::uint32_t classifier_reader::take_hints(const subtable_list& list) noexcept {
  const unsigned n = group_.n;
  for (unsigned i = 0; i < n; ++i) {
    group_.flows[i] = distributor_.flow_of(list.all, group_.words + i * n_words_);
    distributor_.fetch(group_.flows[i]);
  }
  distributor_.find(group_.flows, n, group_.hints);
  std::uint32_t hinted = 0;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint16_t place = list.find(group_.hints[i]);
    if (place == subtable_list::no_place) continue;
    group_.tried[i] = place;
    hinted |= std::uint32_t{1} << i;
    enqueue(*list.places[place].face, i);
  }
  const std::uint32_t matched = run_queue();
  std::uint32_t proven = 0, contested = 0;
  for (std::uint32_t left = matched; left != 0;) {
    const unsigned i = take_lowest(left);
    const rival_set rivals(group_.best[i].words[1]);
    const std::uint32_t unproven =
        list.places[group_.tried[i]].face->unproven_below->load(std::memory_order_acquire);
    if (rivals.is_many() || priority_of(group_.best[i].words[0]) < unproven) continue;
    (rivals.word() == 0 ? proven : contested) |= std::uint32_t{1} << i;
  }
  if (contested != 0) ask_rivals(list, contested);
  count(counts_.hinted, static_cast<unsigned>(std::popcount(hinted)));
  count(counts_.final_hints, static_cast<unsigned>(std::popcount(proven)));
  count(counts_.checked_hints, static_cast<unsigned>(std::popcount(matched & ~proven)));
  count(counts_.false_hints, static_cast<unsigned>(std::popcount(hinted & ~matched)));
  return all_of(n) & ~(proven | contested);
}

/// Only these subtables hold rules that could count instead of the one found.
std::uint32_t classifier_reader::ask_rivals(const subtable_list& list,
                                            std::uint32_t keys) noexcept {
  std::uint32_t matched = 0;
  while (keys != 0) {
    const unsigned i = take_lowest(keys);
    if (queue_.n + rival_set::max > simd::flow_probe::max) matched |= run_queue();
    for (std::uint64_t left = group_.best[i].words[1]; left != 0; left >>= 16) {
      const std::uint16_t place = list.find(static_cast<std::uint16_t>((left & 0xffff) - 1));
      if (place != subtable_list::no_place) enqueue(*list.places[place].face, i);
    }
  }
  return matched | run_queue();
}

// Search.

/// The keys for which a rule of this priority would count.
std::uint32_t classifier_reader::still_open(std::uint32_t keys,
                                            std::uint32_t highest) const noexcept {
  for (std::uint32_t left = keys & group_.found; left != 0;) {
    const unsigned i = take_lowest(left);
    if (priority_of(group_.best[i].words[0]) >= highest) keys &= ~(std::uint32_t{1} << i);
  }
  return keys;
}

void classifier_reader::search(const subtable_list& list, std::uint32_t keys) noexcept {
  if (list.candidates != nullptr) {
    search_candidates(list, keys);
  } else {
    search_all(list, keys);
  }
}

/// Takes the lowest rank from a key's list; a number beyond all ranks when it is empty.
std::size_t classifier_reader::next_rank(unsigned key, std::size_t n_words) noexcept {
  std::uint64_t* words = candidates_.data() + key * n_words;
  for (std::size_t w = 0; w < n_words; ++w) {
    if (words[w] == 0) continue;
    const auto bit = static_cast<std::size_t>(std::countr_zero(words[w]));
    words[w] &= words[w] - 1;
    return w * 64 + bit;
  }
  return n_words * 64;
}

void classifier_reader::search_candidates(const subtable_list& list, std::uint32_t keys) noexcept {
  const candidate_map& map = *list.candidates;
  const std::size_t n_rank_words = (list.places.size() + 63) / 64;
  for (std::uint32_t left = keys; left != 0;) {
    const unsigned i = take_lowest(left);
    std::uint64_t* ranks = candidates_.data() + i * n_rank_words;
    std::fill_n(ranks, n_rank_words, 0);
    map.find(group_.words + i * n_words_, ids_.data());
    for (std::size_t w = 0; w < map.n_words(); ++w) {
      for (std::uint64_t bits = ids_[w]; bits != 0; bits &= bits - 1) {
        const auto id = static_cast<std::uint16_t>(w * 64 + std::countr_zero(bits));
        const std::uint16_t place = list.find(id);
        if (place == subtable_list::no_place || place == group_.tried[i]) continue;
        ranks[rank_of_[place] / 64] |= std::uint64_t{1} << rank_of_[place] % 64;
      }
    }
  }
  while (keys != 0) {
    for (std::uint32_t left = keys; left != 0;) {
      const unsigned i = take_lowest(left);
      const std::uint32_t bit = std::uint32_t{1} << i;
      const std::size_t rank = next_rank(i, n_rank_words);
      if (rank >= list.places.size()) {
        keys &= ~bit;
        continue;
      }
      const subtable_list::place& place = list.places[ranked_[rank]];
      if ((group_.found & bit) != 0 && priority_of(group_.best[i].words[0]) >= place.highest) {
        keys &= ~bit;
        continue;
      }
      enqueue(*place.face, i);
    }
    if (queue_.n != 0) run_queue();
  }
}

void classifier_reader::search_all(const subtable_list& list, std::uint32_t keys) noexcept {
  const std::size_t n_places = list.places.size();
  std::uint32_t hinted = 0;
  for (unsigned i = 0; i < group_.n; ++i) {
    hinted |= std::uint32_t{group_.tried[i] != subtable_list::no_place} << i;
  }
  std::uint32_t before = ~std::uint32_t{0};
  std::uint32_t fresh = keys;  // not compared with `highest` since they were found
  for (std::size_t rank = 0; rank < n_places && keys != 0; ++rank) {
    const std::uint16_t at = ranked_[rank];
    const subtable_list::place& place = list.places[at];
    if (place.highest != before) fresh = keys;
    before = place.highest;
    keys &= ~(fresh & ~still_open(fresh, place.highest));
    fresh = 0;
    std::uint32_t asked = keys;
    for (std::uint32_t left = keys & hinted; left != 0;) {
      const unsigned i = take_lowest(left);
      if (group_.tried[i] == at) asked &= ~(std::uint32_t{1} << i);
    }
    if (asked == 0) continue;
    enqueue_all(*place.face, asked);
    fresh = run_queue();
  }
}

// Counts and ranks.

void classifier_reader::count_group(const subtable_list& list, unsigned n) noexcept {
  std::uint64_t probes = 0, hit_probes = 0;
  for (unsigned i = 0; i < n; ++i) {
    probes += group_.asked[i];
    if ((group_.found >> i & 1) == 0) continue;
    hit_probes += group_.asked[i];
    const std::uint16_t id = group_.winner[i];
    ++recent_[id];
    count(hits_[id], 1);
  }
  count(counts_.lookups, n);
  count(counts_.hits, static_cast<unsigned>(std::popcount(group_.found)));
  count(counts_.probes, probes);
  count(counts_.hit_probes, hit_probes);
  ++groups_;
  if (groups_ % distributor_switch::sample == 0 && switch_.count(n, saved_probes(list))) {
    distributor_.adapt(counts_.lookups - adapted_.lookups,
                       counts_.false_hints - adapted_.false_hints);
    adapted_ = counts_;
    if (may_choose_) switch_.decide();
    store_relaxed(&shown_saved_, std::bit_cast<std::uint64_t>(switch_.saved()));
    store_relaxed(&shown_switches_, switch_.switches());
    store_relaxed(&shown_on_, std::uint32_t{switch_.is_on()});
    store_relaxed(&shown_flows_, distributor_.flows_in_use());
  }
  if (counts_.lookups - ranked_at_ >= rank_every) rank(list);
}

/// What a search would have asked for a key that matched: the candidates that are ranked before its
/// rule's subtable or hold higher priorities; and what it costs to find them.
std::int64_t classifier_reader::plain_probes(const subtable_list& list, unsigned key) noexcept {
  const std::uint32_t priority = priority_of(group_.best[key].words[0]);
  const std::size_t last = rank_of_[list.find(group_.winner[key])];
  if (list.candidates == nullptr) {
    const auto above = std::partition_point(
        list.places.begin(), list.places.end(),
        [priority](const subtable_list::place& it) { return it.highest > priority; });
    return std::max<std::int64_t>(above - list.places.begin(), static_cast<std::int64_t>(last) + 1);
  }
  std::int64_t n = list.candidates->cost();
  list.candidates->find(group_.words + key * n_words_, ids_.data());
  for (std::size_t w = 0; w < list.candidates->n_words(); ++w) {
    for (std::uint64_t bits = ids_[w]; bits != 0; bits &= bits - 1) {
      const auto id = static_cast<std::uint16_t>(w * 64 + std::countr_zero(bits));
      const std::uint16_t place = list.find(id);
      if (place == subtable_list::no_place) continue;
      n += rank_of_[place] <= last || list.places[place].highest > priority;
    }
  }
  return n;
}

std::int64_t classifier_reader::saved_probes(const subtable_list& list) noexcept {
  std::int64_t saved = 0;
  const auto n_found = std::popcount(group_.found);
  if (n_found == 0) return 0;
  if (switch_.is_on()) {
    // Of one key in each group, for all: a count of candidates takes as long as some look-ups.
    const auto i = static_cast<unsigned>(std::countr_zero(group_.found));
    const std::int64_t searched =
        list.candidates != nullptr && group_.asked[i] > 1 ? list.candidates->cost() : 0;
    return (plain_probes(list, i) - group_.asked[i] - searched) * n_found;
  }
  const int cost = list.candidates != nullptr ? static_cast<int>(list.candidates->cost()) : 0;
  for (std::uint32_t left = group_.found; left != 0;) {
    const unsigned i = take_lowest(left);
    const rival_set rivals(group_.best[i].words[1]);
    if (rivals.is_many()) continue;
    const int others = static_cast<int>((std::bit_width(rivals.word()) + 15) / 16);
    saved += std::max(0, group_.asked[i] + cost - 1 - others);
  }
  return saved;
}

/// The list has another order: its own, until the next ranking.
void classifier_reader::follow(const subtable_list& list) noexcept {
  const std::size_t n = list.places.size();
  std::iota(ranked_.begin(), ranked_.begin() + static_cast<std::ptrdiff_t>(n), 0);
  std::iota(rank_of_.begin(), rank_of_.begin() + static_cast<std::ptrdiff_t>(n), 0);
  order_seen_ = list.order;
}

void classifier_reader::rank(const subtable_list& list) noexcept {
  const auto begin = ranked_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(list.places.size());
  std::sort(begin, end, [&](std::uint16_t a, std::uint16_t b) {
    const auto &first = list.places[a], &second = list.places[b];
    if (first.highest != second.highest) return first.highest > second.highest;
    return recent_[first.face->id] > recent_[second.face->id];
  });
  for (auto it = begin; it != end; ++it) {
    rank_of_[*it] = static_cast<std::uint16_t>(it - begin);
    recent_[list.places[*it].face->id] /= 2;
  }
  ranked_at_ = counts_.lookups;
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
