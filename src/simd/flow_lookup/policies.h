// SPDX-License-Identifier: Apache-2.0
//
// What look-ups and writer of the flow table are put together from: when to look into a second
// bucket (prune), whether entries expire, and who runs at the same time (sync). Concepts check
// them.
#pragma once

#include <concepts>

#include "simd/flow_lookup/line.h"

namespace coua::simd {

/// `trace` is what the filter of the primary bucket may hold of a key. `via` tells from both which
/// function leads to the second bucket that the key may be in; 0: it is in none. `other` is that
/// bucket; it leads back, too.
template <typename Prune>
concept prune_policy = requires(std::uint64_t word, fingerprint print, unsigned via) {
  { Prune::trace(print) } -> std::same_as<std::uint64_t>;
  { Prune::via(word, word) } -> std::same_as<unsigned>;
  { Prune::other(word, print, via, word) } -> std::same_as<std::uint64_t>;
  { Prune::filters } -> std::convertible_to<bool>;
  { Prune::fetch_both } -> std::convertible_to<bool>;
};

struct one_alternative {
  [[gnu::always_inline]] static std::uint64_t other(std::uint64_t bucket, fingerprint print,
                                                    unsigned, std::uint64_t n_buckets) {
    return mirrored(bucket, print, n_buckets);
  }
};

/// Cuckoo++, with three bits of 64 instead of two: a bucket has one or two guests, for which three
/// let a quarter of the false positives through. From bits that do not decide the primary bucket.
struct bloom : one_alternative {
  static constexpr bool filters = true, fetch_both = false;
  static constexpr unsigned n_functions = 1;
  [[gnu::always_inline]] static constexpr std::uint64_t trace(fingerprint print) {
    return std::uint64_t{1} << (print & 63) | std::uint64_t{1} << (print >> 6 & 63) |
           std::uint64_t{1} << (print >> 16 & 63);
  }
  [[gnu::always_inline]] static constexpr unsigned via(std::uint64_t filter, std::uint64_t trace) {
    return (~filter & trace) == 0;
  }
  static constexpr std::uint64_t with(std::uint64_t filter, fingerprint print, unsigned) {
    return filter | trace(print);
  }
};

struct optimistic : one_alternative {
  static constexpr bool filters = false, fetch_both = false;
  static constexpr unsigned n_functions = 1;
  [[gnu::always_inline]] static constexpr std::uint64_t trace(fingerprint) { return 0; }
  [[gnu::always_inline]] static constexpr unsigned via(std::uint64_t, std::uint64_t) { return 1; }
  static constexpr std::uint64_t with(std::uint64_t filter, fingerprint, unsigned) {
    return filter;
  }
};

struct pessimistic : optimistic {
  static constexpr bool fetch_both = true;
};

/// Horton: the key picks one of 21 remap entries; its value is the function of all entries that
/// picked it and are not at home.
struct horton {
  static constexpr bool filters = true, fetch_both = false;
  static constexpr unsigned n_functions = 7;
  static constexpr unsigned n_remaps = 21;
  /// The place of the entry, in bits.
  [[gnu::always_inline]] static constexpr std::uint64_t trace(fingerprint print) {
    return 3 * ((print >> 16) * n_remaps >> 16);
  }
  [[gnu::always_inline]] static constexpr unsigned via(std::uint64_t filter, std::uint64_t trace) {
    return static_cast<unsigned>(filter >> trace & 7);
  }
  static constexpr std::uint64_t with(std::uint64_t filter, fingerprint print, unsigned via) {
    return filter | std::uint64_t{via} << trace(print);
  }
  /// Odd multipliers permute the fingerprints, each function in its own way; the shift carries the
  /// upper bits, which a product leaves out of the lower ones, to where they count.
  [[gnu::always_inline]] static std::uint64_t other(std::uint64_t bucket, fingerprint print,
                                                    unsigned via, std::uint64_t n_buckets) {
    std::uint32_t x = print * (0x9e3779b1u * (2 * via + 1));
    x = (x ^ x >> 15) * 0x85ebca6bu;
    return mirrored(bucket, x, n_buckets);
  }
};

static_assert(prune_policy<bloom> && prune_policy<optimistic> && prune_policy<pessimistic> &&
              prune_policy<horton>);

template <typename Expiry>
concept expiry_policy = requires(std::uint32_t pair, std::uint64_t now) {
  { Expiry::timed } -> std::convertible_to<bool>;
  { Expiry::visible(pair, now) } -> std::same_as<bool>;
};

struct no_expiry {
  static constexpr bool timed = false;
  [[gnu::always_inline]] static bool visible(std::uint32_t, std::uint64_t) { return true; }
};
struct timer {
  static constexpr bool timed = true;
  [[gnu::always_inline]] static bool visible(std::uint32_t pair, std::uint64_t now) {
    return units_left(pair, now) != 0;
  }
};
static_assert(expiry_policy<no_expiry> && expiry_policy<timer>);

/// `load` and `store` are for words that readers and the writer share.
template <typename Sync>
concept sync_policy = requires(std::uint64_t* word) {
  { Sync::concurrent } -> std::convertible_to<bool>;
  { Sync::load(word) } -> std::same_as<std::uint64_t>;
  Sync::store(word, std::uint64_t{});
};

struct single {
  static constexpr bool concurrent = false;
  template <typename Word>
  [[gnu::always_inline]] static Word load(const Word* word) {
    return *word;
  }
  template <typename Word>
  [[gnu::always_inline]] static void store(Word* word, Word value) {
    *word = value;
  }
};
/// Every load acquires and every store releases: who sees one store sees all before it.
struct one_writer {
  static constexpr bool concurrent = true;
  template <typename Word>
  [[gnu::always_inline]] static Word load(const Word* word) {
    return load_acquire(word);
  }
  template <typename Word>
  [[gnu::always_inline]] static void store(Word* word, Word value) {
    store_release(word, value);
  }
};
static_assert(sync_policy<single> && sync_policy<one_writer>);

}  // namespace coua::simd
