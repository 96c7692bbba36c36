// SPDX-License-Identifier: Apache-2.0
//
// The look-up side of the classifier, for one thread. Keys are taken in groups of 32:
//
//   distributor on   1. flows are hashed, both buckets of each fetched
//                    2. hints are read, the keys hashed under the hinted masks, buckets fetched
//                    3. probed: a rule without rivals is the answer (rule.h); with up to four, the
//                       rivals' subtables are probed as well; with more, a search asks those that
//                       may be rivals
//   off              the same with the reader's favourite subtable (subtable_ranking.h) as the hint
//                    for every key, if it has one
//   search           for the other keys (subtable_search.h); the distributor remembers what it
//   finds
//
// Two or more updates during a group could make its answers wrong (classifier.h, "Consistency"):
// then it is looked up again; when that goes on, key by key, and each key up to 16 times.
#pragma once

#include <cstdint>
#include <memory>

#include "classify/below_search.h"
#include "classify/classifier.h"
#include "classify/distributor.h"
#include "classify/distributor_switch.h"
#include "classify/lookup_group.h"
#include "classify/probe_queue.h"
#include "classify/subtable_ranking.h"
#include "classify/subtable_search.h"

namespace coua {

class classifier_reader {
 public:
  using bytes_in = const std::uint8_t*;

  /// Errors: no_memory, no_room (256 readers), io.
  static result<std::unique_ptr<classifier_reader>> create(classifier& owner);
  ~classifier_reader();

  std::size_t lookup(bytes_in keys, std::size_t n, coua_classifier_answer* answers,
                     std::uint64_t* hits) noexcept;
  /// The best rule with a priority below the given one; false: there is none. As consistent as
  /// lookup(); slow: it asks every subtable that could have it.
  bool lookup_below(bytes_in key, std::uint32_t priority, coua_classifier_answer& answer) noexcept;

  // Any thread.
  void get_stats(coua_classifier_reader_stats& stats) const;
  std::uint64_t hits_of(subtable_id id) const { return ranking_.hits_of(id); }

 private:
  static constexpr unsigned max_repeats = 3;  // of a group, then key by key
  static constexpr unsigned max_repeats_key = 16;

  struct counts {
    std::uint64_t lookups = 0, hits = 0, probes = 0, hit_probes = 0, hinted = 0, final_hints = 0,
                  checked_hints = 0, false_hints = 0, repeats = 0, unsettled = 0;
  };

  classifier_reader(classifier& owner, qsbr::reader grace, distributor hints);

  std::uint32_t look_up_group(bytes_in keys, unsigned n) noexcept;
  std::uint32_t settle_group(bytes_in keys, unsigned n) noexcept;
  bool is_overtaken(std::uint64_t since) const noexcept;
  bool attempt(bytes_in keys, unsigned n) noexcept;
  std::uint32_t take_hints(const subtable_list& list) noexcept;
  std::uint32_t ask_favourite(const subtable_list& list) noexcept;
  std::uint32_t prove(const subtable_list& list, std::uint32_t matched) noexcept;
  void ask_rivals(const subtable_list& list, std::uint32_t keys) noexcept;
  void remember_winners() noexcept;
  void count_group(const subtable_list& list) noexcept;
  void judge_distributor(const subtable_list& list) noexcept;
  std::int64_t saved_probes(const subtable_list& list) noexcept;
  static std::int64_t cost_of_search(const subtable_list& list) noexcept;
  std::int64_t cost_of_proof(const subtable_list& list, unsigned key,
                             std::int64_t searched) const noexcept;
  std::int64_t cost_without(const subtable_list& list, unsigned key) noexcept;

  classifier& owner_;
  qsbr::reader grace_;
  distributor distributor_;
  distributor_switch switch_;
  const bool may_choose_;
  const std::uint32_t key_bytes_;
  lookup_group group_;
  std::uint64_t flows_[lookup_group::max];
  std::uint16_t hints_[lookup_group::max];  // id of a subtable, as the distributor said
  probe_queue queue_;
  subtable_ranking ranking_;
  subtable_search search_;
  below_search below_;
  std::uint64_t groups_ = 0, ranked_at_ = 0;
  counts counts_;
  counts adapted_;  // as they were when the distributor was judged last
  // What others read of the switch.
  std::uint64_t shown_saved_ = 0, shown_switches_ = 0;
  std::uint32_t shown_on_ = 0, shown_flows_ = 0;
};

}  // namespace coua
