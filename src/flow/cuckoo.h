// SPDX-License-Identifier: Apache-2.0
//
// The flow table: Cuckoo++ and the variants that it is compared with, one writer, lock-free
// readers or none. Here are the writer's calls; below them are
//
//   flow_expiry.h    entries expire; the sweep
//   flow_buckets.h   entries come, move and go; the filters; the proof for readers
//
//   bucket b     one line: tags, timers, filter, version        simd/flow_lookup/line.h
//   slot s       entry 8 b + s: key and value, in words          an array beside the lines
//   placement    table/placement.h
//   look-up      simd/flow_lookup/steps.h
#pragma once

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "flow/flow_expiry.h"
#include "simd/flow_lookup/key_words.h"
#include "table/placement.h"

namespace coua {

template <simd::prune_policy Prune, simd::expiry_policy Expiry, simd::sync_policy Sync>
class flow_cuckoo final : public flow_expiry<Prune, Expiry, Sync> {
  using expiry = flow_expiry<Prune, Expiry, Sync>;

 public:
  using typename expiry::bytes_in;

  flow_cuckoo(const flow_geometry& geometry, const keyed_hash& hash, flow_memory memory,
              std::uint64_t now_ms)
      : expiry(geometry, hash, std::move(memory), now_ms), search_(geometry.search_budget) {}

  int put(put_mode mode, bytes_in key, std::uint8_t* value, std::uint32_t units) override {
    if (!valid_units(units)) return -EINVAL;
    wanted_key wanted;
    take_key(key, wanted);
    return put_key(mode, wanted, value, units);
  }

  long put_batch(put_mode mode, bytes_in keys, const std::uint64_t* hashes, std::uint8_t* values,
                 std::size_t n, std::uint32_t units, std::int8_t* results) override {
    if (!valid_units(units)) {
      if (results != nullptr) std::fill_n(results, n, static_cast<std::int8_t>(-EINVAL));
      return -EINVAL;
    }
    long n_there = 0;
    each_fetched(keys, hashes, n, [&](std::size_t i, const wanted_key& wanted) {
      std::uint8_t* one = values != nullptr ? values + i * geometry_.value_stride : nullptr;
      const int done = put_key(mode, wanted, one, units);
      n_there += done != COUA_FLOW_FULL;
      if (results != nullptr) results[i] = static_cast<std::int8_t>(done);
    });
    return n_there;
  }

  bool erase(bytes_in key, std::uint8_t* value) override {
    wanted_key wanted;
    take_key(key, wanted);
    return erase_key(wanted, value);
  }

  std::size_t erase_batch(bytes_in keys, const std::uint64_t* hashes, std::size_t n) override {
    std::size_t n_erased = 0;
    each_fetched(keys, hashes, n, [&](std::size_t, const wanted_key& wanted) {
      n_erased += erase_key(wanted, nullptr);
    });
    return n_erased;
  }

  bool store_value_word(bytes_in key, unsigned word, std::uint64_t value) override {
    wanted_key wanted;
    take_key(key, wanted);
    slot_position at;
    if (locate(wanted, at) != presence::there) return false;
    Sync::store(entry_at(at) + n_key_words_ + word, value);
    return true;
  }

  int refresh(bytes_in key, std::uint32_t units) override {
    if (!valid_units(units)) return -EINVAL;
    wanted_key wanted;
    take_key(key, wanted);
    slot_position at;
    if (locate(wanted, at) != presence::there) return -ENOENT;
    set_timer(at, units);
    return 0;
  }

  // What placing needs.
  using expiry::fetch_bucket, expiry::free_slot, expiry::guests, expiry::move, expiry::n_others;
  using expiry::n_slots, expiry::other_buckets;

 private:
  static constexpr std::size_t write_group = 32;
  static constexpr unsigned max_tries = 8;  // searches of one insert; Horton alone needs a second

  using expiry::bound_via, expiry::counts_, expiry::cursors_, expiry::entry_at, expiry::fill;
  using expiry::fill_by;
  using expiry::geometry_, expiry::hash_, expiry::leave, expiry::line_at, expiry::n_key_words_;
  using expiry::n_none, expiry::n_value_words_, expiry::next_version, expiry::now, expiry::pair_at;
  using expiry::pair_of, expiry::print_at, expiry::reap, expiry::repair_, expiry::retire;
  using expiry::ring_, expiry::sweep_share, expiry::tell_leave, expiry::usable_slots;
  using expiry::valid_units, expiry::via_at, expiry::via_to, expiry::visible;
  using typename expiry::reaped, typename expiry::seen_entry;

  struct wanted_key {
    std::uint64_t hash, home;
    simd::fingerprint print;
    std::uint64_t words[keyed_hash::max_words];
  };

  // Keys.

  void take_key(bytes_in key, wanted_key& wanted) const {
    take_words(key, wanted);
    take_hash(hash_of(wanted.words), wanted);
  }
  // Two words, the most frequent width, without loops.
  [[gnu::always_inline]] void take_words(bytes_in key, wanted_key& wanted) const {
    if (n_key_words_ == 2) return simd::to_words(key, geometry_.key_bytes, 2, wanted.words);
    simd::to_words(key, geometry_.key_bytes, n_key_words_, wanted.words);
  }
  [[gnu::always_inline]] std::uint64_t hash_of(const std::uint64_t* words) const {
    return n_key_words_ == 2 ? hash_(words, 2) : hash_(words, n_key_words_);
  }
  void take_hash(std::uint64_t hash, wanted_key& wanted) const {
    wanted.hash = hash;
    wanted.home = simd::home_bucket(hash, geometry_.n_buckets);
    wanted.print = simd::fingerprint_of(hash);
  }

  bool has_key(slot_position at, const wanted_key& wanted) const {
    if (print_at(at) != wanted.print) return false;
    const std::uint64_t* words = entry_at(at);
    std::uint64_t differs = 0;
    for (unsigned w = 0; w < n_key_words_; ++w)
      differs |= load_relaxed(words + w) ^ wanted.words[w];
    return differs == 0;
  }
  /// Also an entry that expired.
  bool find_in(std::uint64_t bucket, const wanted_key& wanted, slot_position& at) const {
    std::uint32_t nominated = bucket_slots::with_tag(line_at(bucket), simd::tag_of(wanted.print));
    for (; nominated != 0; nominated &= nominated - 1) {
      at = {bucket, static_cast<unsigned>(__builtin_ctz(nominated))};
      if (has_key(at, wanted)) return true;
    }
    return false;
  }
  bool find_anywhere(const wanted_key& wanted, slot_position& at) const {
    if (find_in(wanted.home, wanted, at)) return true;
    const unsigned via =
        Prune::via(load_relaxed(&line_at(wanted.home).filter), Prune::trace(wanted.print));
    return via != 0 &&
           find_in(Prune::other(wanted.home, wanted.print, via, geometry_.n_buckets), wanted, at);
  }
  /// For the writer: an expired entry with this key is removed, so that its expiry is told before
  /// its key comes again.
  enum class presence { absent, there, held };
  presence locate(const wanted_key& wanted, slot_position& at) {
    for (;;) {
      if (!find_anywhere(wanted, at)) return presence::absent;
      if constexpr (!Expiry::timed) return presence::there;
      const std::uint32_t pair = load_relaxed(pair_at(at));
      if (visible(pair)) return presence::there;
      const reaped done = reap(at, pair);
      if (done != reaped::renewed) {
        return done == reaped::gone ? presence::absent : presence::held;
      }
    }
  }

  /// Calls `act(i, key i)` for each, in order. Groups of keys are fetched for in three steps: the
  /// primary buckets, the entries there or the second buckets, the entries there.
  template <typename Act>
  void each_fetched(bytes_in keys, const std::uint64_t* hashes, std::size_t n, Act act) {
    wanted_key group[write_group];
    const std::size_t stride = geometry_.key_stride;
    for (std::size_t at = 0; at < n; at += write_group) {
      const auto size = static_cast<unsigned>(std::min(n - at, write_group));
      for (unsigned i = 0; i < size; ++i, keys += stride) {
        take_words(keys, group[i]);
        take_hash(hashes != nullptr ? hashes[at + i] : hash_of(group[i].words), group[i]);
        fetch_bucket(group[i].home);
      }
      std::uint8_t go_on[write_group];
      unsigned n_go_on = 0;
      for (unsigned i = 0; i < size; ++i) {
        if (fetch_slot(group[i].home, group[i]) || Prune::n_functions != 1) continue;
        fetch_bucket(second_bucket(group[i]));
        go_on[n_go_on++] = static_cast<std::uint8_t>(i);
      }
      for (unsigned j = 0; j < n_go_on; ++j) {
        fetch_slot(second_bucket(group[go_on[j]]), group[go_on[j]]);
      }
      for (unsigned i = 0; i < size; ++i) act(at + i, group[i]);
    }
  }
  std::uint64_t second_bucket(const wanted_key& wanted) const {
    return Prune::other(wanted.home, wanted.print, 1, geometry_.n_buckets);
  }
  /// The entry that a tag nominates, else the slot that an insert would take. False: neither.
  bool fetch_slot(std::uint64_t bucket, const wanted_key& wanted) const {
    const simd::flow_line& line = line_at(bucket);
    const std::uint32_t nominated = bucket_slots::with_tag(line, simd::tag_of(wanted.print));
    const std::uint32_t candidates =
        nominated != 0 ? nominated : bucket_slots::empty(line) & usable_slots();
    if (candidates == 0) return false;
    prefetch_to_write(entry_at({bucket, static_cast<unsigned>(__builtin_ctz(candidates))}));
    return true;
  }

  // Insert and erase.

  int put_key(put_mode mode, const wanted_key& wanted, std::uint8_t* value, std::uint32_t units) {
    if constexpr (Expiry::timed) sweep_share();
    if (put_at_home(wanted, value, units)) return COUA_FLOW_ADDED;
    return put_anywhere(mode, wanted, value, units);
  }

  /// Most inserts: no tag of the primary bucket is the key's, the filter says that the key is
  /// nowhere else, and a slot is free there. False: not so, and nothing has changed.
  [[gnu::always_inline]] bool put_at_home(const wanted_key& wanted, const std::uint8_t* value,
                                          std::uint32_t units) {
    const simd::flow_line& line = line_at(wanted.home);
    const std::uint32_t nominated = bucket_slots::with_tag(line, simd::tag_of(wanted.print));
    const std::uint32_t free = bucket_slots::empty(line) & usable_slots();
    const unsigned via = Prune::via(load_relaxed(&line.filter), Prune::trace(wanted.print));
    if (nominated != 0 || free == 0 || via != 0) return false;
    fill_by({wanted.home, static_cast<unsigned>(__builtin_ctz(free))}, 0, wanted.print,
            pair_of(wanted.print, units), wanted.words,
            [this, value](unsigned w) { return value_word(value, w); });
    counts_.add(false, 0);
    return true;
  }

  /// Word `w` of a value, the last one padded with zero bits.
  [[gnu::always_inline]] std::uint64_t value_word(const std::uint8_t* value, unsigned w) const {
    if (value == nullptr) return 0;
    const unsigned left = geometry_.value_bytes - 8 * w;
    if (left >= 8) return simd::load_8(value + 8 * w);
    std::uint64_t word = 0;
    std::memcpy(&word, value + 8 * w, left);
    return word;
  }

  [[gnu::noinline]] int put_anywhere(put_mode mode, const wanted_key& wanted, std::uint8_t* value,
                                     std::uint32_t units) {
    std::uint64_t words[simd::max_value_words];
    slot_position at;
    const presence found = locate(wanted, at);
    if (found == presence::held) {
      counts_.refuse();
      return COUA_FLOW_FULL;
    }
    if (found == presence::there) {
      if (mode == put_mode::keep) return COUA_FLOW_PRESENT;
      if (mode == put_mode::find) {
        if (value != nullptr) {
          std::memcpy(value, entry_at(at) + n_key_words_, geometry_.value_bytes);
        }
        set_timer(at, units);
        return COUA_FLOW_PRESENT;
      }
      for (unsigned w = 0; w < n_value_words_; ++w) words[w] = value_word(value, w);
      return update(wanted, at, words, units);
    }
    for (unsigned w = 0; w < n_value_words_; ++w) words[w] = value_word(value, w);
    const placement place = find_room(wanted);
    if (place.answer == room::full) {
      counts_.refuse();
      return COUA_FLOW_FULL;
    }
    const unsigned via = via_to(wanted.home, wanted.print, place.bucket);
    fill(place.at(), via, wanted.print, pair_of(wanted.print, units), wanted.words, words);
    counts_.add(via != 0, place.n_moves);
    return COUA_FLOW_ADDED;
  }

  placement find_room(const wanted_key& wanted) {
    for (unsigned i = 0; i < max_tries; ++i) {
      std::uint64_t seconds[Prune::n_functions];
      const placement place = make_room(*this, search_, wanted.home, [&] {
        return std::span(seconds, second_buckets(wanted, seconds));
      });
      if (place.answer == room::full) return place;
      // A move of a path may have bound the key to another function than the one that led there.
      if (place.answer == room::found &&
          via_to(wanted.home, wanted.print, place.bucket) != n_none) {
        return place;
      }
    }
    return {};
  }

  /// The secondary buckets that a key may go to, the emptiest first.
  std::size_t second_buckets(const wanted_key& wanted, std::uint64_t* buckets) {
    const unsigned bound = bound_via(wanted.home, wanted.print);
    if (bound != 0) {
      buckets[0] = Prune::other(wanted.home, wanted.print, bound, geometry_.n_buckets);
      return 1;
    }
    std::size_t n = 0;
    for (unsigned via = 1; via <= Prune::n_functions; ++via) {
      const std::uint64_t bucket =
          Prune::other(wanted.home, wanted.print, via, geometry_.n_buckets);
      if (std::find(buckets, buckets + n, bucket) != buckets + n) continue;
      fetch_bucket(bucket);
      buckets[n++] = bucket;
    }
    std::uint64_t loads[Prune::n_functions];
    for (std::size_t i = 0; i < n; ++i) loads[i] = load_of(buckets[i]) << 8 | i;
    std::sort(loads, loads + n);
    std::uint64_t sorted[Prune::n_functions];
    for (std::size_t i = 0; i < n; ++i) sorted[i] = buckets[loads[i] & 0xff];
    std::copy_n(sorted, n, buckets);
    return n;
  }
  std::uint64_t load_of(std::uint64_t bucket) const {
    std::uint32_t free = bucket_slots::empty(line_at(bucket));
    if constexpr (Expiry::timed) free |= bucket_slots::invisible(line_at(bucket), now());
    return n_slots - static_cast<unsigned>(std::popcount(free));
  }

  int update(const wanted_key& wanted, slot_position at, const std::uint64_t* value,
             std::uint32_t units) {
    if (!Sync::concurrent || n_value_words_ <= 1) {
      std::uint64_t* words = entry_at(at) + n_key_words_;
      for (unsigned w = 0; w < n_value_words_; ++w) Sync::store(words + w, value[w]);
      set_timer(at, units);
    } else {
      const placement place = find_room(wanted);
      // Making room may have moved the old entry.
      const bool there = locate(wanted, at) == presence::there;
      if (place.answer == room::full) {
        counts_.refuse();
        return COUA_FLOW_FULL;
      }
      const unsigned via = via_to(wanted.home, wanted.print, place.bucket);
      fill(place.at(), via, wanted.print, pair_of(wanted.print, units), wanted.words, value);
      COUA_ASSERT(there);
      if (there) {
        counts_.change_place(via_at(at) != 0, via != 0);
        next_version(wanted.home);
        retire(at, wanted.home, wanted.words, place.bucket);
      }
    }
    counts_.update();
    return COUA_FLOW_UPDATED;
  }

  void set_timer(slot_position at, std::uint32_t units) {
    if constexpr (Expiry::timed) {
      const std::uint32_t pair = load_relaxed(pair_at(at));
      Sync::store(pair_at(at), (pair & 0xffff) | static_cast<std::uint32_t>(now() + units) << 16);
    }
  }

  bool erase_key(const wanted_key& wanted, std::uint8_t* value) {
    sweep_share();
    slot_position at;
    if (locate(wanted, at) != presence::there) return false;
    if (value != nullptr) std::memcpy(value, entry_at(at) + n_key_words_, geometry_.value_bytes);
    const bool was_guest = via_at(at) != 0;
    Sync::store(pair_at(at), std::uint32_t{0});
    if (was_guest) leave(wanted.home, at.bucket);
    counts_.erase(was_guest);
    if (!cursors_.empty()) tell_leave(wanted.words);
    return true;
  }

  unsigned read_bucket(std::uint64_t bucket, seen_entry* entries) const override {
    unsigned n = 0;
    for (unsigned slot = 0; slot < geometry_.n_slots; ++slot) {
      const slot_position at{bucket, slot};
      if (const std::uint32_t pair = load_relaxed(pair_at(at)); pair != 0 && visible(pair)) {
        entries[n++] = seen(at, pair);
      }
    }
    return n;
  }
  bool find(bytes_in key, seen_entry& entry) const override {
    wanted_key wanted;
    take_key(key, wanted);
    slot_position at;
    if (!find_anywhere(wanted, at)) return false;
    const std::uint32_t pair = load_relaxed(pair_at(at));
    entry = seen(at, pair);
    return visible(pair);
  }
  seen_entry seen(slot_position at, std::uint32_t pair) const {
    return {entry_at(at), Expiry::timed ? simd::units_left(pair, now()) : 0};
  }
  void fill_counts(coua_flow_stats& stats) const override {
    counts_.fill(stats);
    stats.bytes = repair_.bytes() + sizeof *this;
    if (ring_ != nullptr) stats.bytes += ring_->bytes();
  }

  path_search search_;
};

}  // namespace coua
