// SPDX-License-Identifier: Apache-2.0
//
// The look-up side of the classifier, for one thread. Keys are taken in groups of 32:
//
//   distributor on   1. flows are hashed, both buckets of each fetched
//                    2. hints are read, the keys hashed under the hinted masks, buckets fetched
//                    3. probed: a rule without rivals is the answer (rule.h); with up to four, the
//                       rivals' subtables are probed as well; else, and after a false hint:
//   search           subtable by subtable, those with the highest priorities first and among equals
//                    the most used first, for all keys of the group that may still find a better
//                    rule there
//
// With a map of candidates (candidate_map.h), each key has its own list of subtables, and the keys
// of a group go through their lists side by side.
//
// A search stops for a key when no subtable that is left has a higher priority than the rule found.
// What a search finds is remembered by the distributor.
//
// Two or more updates during a group could make its answers wrong (classifier.h, "Consistency"):
// then it is looked up again; when that goes on, key by key, and each key up to 16 times.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "classify/classifier.h"
#include "classify/distributor.h"
#include "classify/distributor_switch.h"
#include "simd/flow_lookup/probes.h"

namespace coua {

class classifier_reader {
 public:
  using bytes_in = const std::uint8_t*;

  /// Errors: no_memory, no_room (256 readers), io.
  static result<std::unique_ptr<classifier_reader>> create(classifier& owner);
  ~classifier_reader();

  std::size_t lookup(bytes_in keys, std::size_t n, coua_classifier_answer* answers,
                     std::uint64_t* hits) noexcept;

  // Any thread.
  void get_stats(coua_classifier_reader_stats& stats) const;
  std::uint64_t hits_of(subtable_id id) const { return load_relaxed(&hits_[id]); }

 private:
  static constexpr unsigned group_size = 32;
  static constexpr unsigned max_repeats = 3;  // of a group, then key by key
  static constexpr unsigned max_repeats_key = 16;
  static constexpr std::uint64_t rank_every = 1 << 16;  // look-ups

  /// Keys that are looked up together, and what is known of each.
  struct group {
    unsigned n;
    std::uint32_t found;  // bit i: key i matches a rule, so far best[i]
    std::uint64_t words[group_size * wide_words::max];
    std::uint64_t flows[group_size];
    std::uint16_t hints[group_size];   // id of a subtable, as the distributor said
    std::uint16_t tried[group_size];   // place of that subtable
    std::uint16_t winner[group_size];  // id of the subtable of best[i]
    std::uint16_t asked[group_size];   // subtables
    simd::flow_probe_value best[group_size];
  };
  /// Probes that are fetched, and not yet looked into.
  struct probe_queue {
    unsigned n = 0;
    simd::flow_probe probes[simd::flow_probe::max];
    std::uint8_t key[simd::flow_probe::max];
    std::uint16_t id[simd::flow_probe::max];
    std::uint64_t words[simd::flow_probe::max * wide_words::max];
    simd::flow_probe_value values[simd::flow_probe::max];
  };
  struct counts {
    std::uint64_t lookups = 0, hits = 0, probes = 0, hit_probes = 0, hinted = 0, final_hints = 0,
                  checked_hints = 0, false_hints = 0, repeats = 0, unsettled = 0;
  };

  classifier_reader(classifier& owner, qsbr::reader grace, distributor hints);

  std::uint32_t lookup_group(bytes_in keys, unsigned n) noexcept;
  std::uint32_t settle_group(bytes_in keys, unsigned n) noexcept;
  bool attempt(bytes_in keys, unsigned n) noexcept;
  std::uint32_t take_hints(const subtable_list& list) noexcept;
  std::uint32_t ask_rivals(const subtable_list& list, std::uint32_t keys) noexcept;
  void search(const subtable_list& list, std::uint32_t keys) noexcept;
  void search_all(const subtable_list& list, std::uint32_t keys) noexcept;
  void search_candidates(const subtable_list& list, std::uint32_t keys) noexcept;
  std::size_t next_rank(unsigned key, std::size_t n_words) noexcept;
  std::int64_t plain_probes(const subtable_list& list, unsigned key) noexcept;
  std::uint32_t still_open(std::uint32_t keys, std::uint32_t highest) const noexcept;
  template <unsigned N, class Hash>
  void enqueue_as(const subtable_face& face, unsigned key, const Hash& hash) noexcept;
  void enqueue(const subtable_face& face, unsigned key) noexcept;
  void enqueue_all(const subtable_face& face, std::uint32_t keys) noexcept;
  /// Looks into the tables of the queue, and empties it. Returns the keys that matched.
  std::uint32_t run_queue() noexcept;
  void count_group(const subtable_list& list, unsigned n) noexcept;
  std::int64_t saved_probes(const subtable_list& list) noexcept;
  void follow(const subtable_list& list) noexcept;
  void rank(const subtable_list& list) noexcept;

  classifier& owner_;
  qsbr::reader grace_;
  distributor distributor_;
  distributor_switch switch_;
  const bool may_choose_;
  const std::uint32_t key_bytes_;
  const unsigned n_words_;
  keyed_hash hash_;
  simd::flow_probe_kernel probe_;
  group group_;
  probe_queue queue_;
  std::uint64_t order_seen_ = ~std::uint64_t{0};
  std::vector<std::uint16_t> ranked_;      // places, in the order of the search
  std::vector<std::uint16_t> rank_of_;     // place -> position in ranked_
  std::vector<std::uint64_t> candidates_;  // bits by rank, for each key of a group
  std::vector<std::uint64_t> ids_;         // bits by id, for one key
  std::vector<std::uint32_t> recent_;      // hits by id, halved at each ranking
  std::vector<std::uint64_t> hits_;        // hits by id
  std::uint64_t groups_ = 0, ranked_at_ = 0;
  counts counts_;
  counts adapted_;  // as they were when the distributor was judged last
  // What others read of the switch.
  std::uint64_t shown_saved_ = 0, shown_switches_ = 0;
  std::uint32_t shown_on_ = 0, shown_flows_ = 0;
};

}  // namespace coua
