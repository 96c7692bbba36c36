// SPDX-License-Identifier: Apache-2.0
//
// The wildcard classifier, its writer's side: tuple space search, one exact-match table for each
// mask (a subtable), in a list that readers follow (classifier_reader.h).
//
//   rule -> subtable of its mask -> entry {priority, value, rivals}
//
// Proofs. A reader that finds a rule by a hint must know that no rule of a higher priority matches
// the key. The writer finds out beforehand (rule.h, "rivals"): when a rule r of subtable t comes,
//
//   1. each rule of a lower priority, in another subtable, that overlaps r gets the rival t;
//   2. then r is stored, with its own rivals: the subtables with a rule of a higher priority that
//      overlaps it.
//
// And when r goes, it is removed first, and then those rules are proven anew. So at any moment an
// entry names at least the rivals that it has: a reader that reads an entry before step 1 of an
// update was there before its step 2. Rules of one mask never need a proof among themselves: those
// that overlap have one key, and one entry.
//
// Comparing costs time: subtables with no rule of a lower (in step 1) or higher (in step 2)
// priority are passed by, so rules of one priority cost nothing; the others are compared rule by
// rule (overlap.h) within a budget. Past it, r's rivals are "many", and of a subtable that was not
// compared, no rule with a priority below r's is proven from then on.
//
// Consistency. A look-up goes through several subtables while the writer changes them. If one
// update overlaps it in time, its answer is the one before or the one after. With two, it could
// miss a rule that came first and see one that came second: an answer that was never right. So the
// version is odd while an update is under way, and a reader that overlapped two looks up again.
//
//   writer   version 2k - 1; the stores of update k (release); version 2k
//   reader   v0 = version; its loads (acquire); v1 = version
//            updates that overlapped: (v1 + 1) / 2 - v0 / 2, rounded down
//
// Who missed a store of update k had not loaded the version 2k, so v0 / 2 < k. Who saw one of
// update k + 1 loads at least 2k + 1 afterwards, so (v1 + 1) / 2 > k: two updates.
//
// Pruning. With eight subtables and more, a map tells by the bytes of a key which of them can hold
// a match at all (candidate_map.h); its bits are set before a rule is stored, and cleared after.
//
// Memory that readers may hold goes to a reclaimer (base/reclaimer.h); updates never wait. All that
// an update takes memory for, it takes before readers see anything of it (prepare): so one that
// finds none has changed nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/qsbr.h"
#include "base/reclaimer.h"
#include "base/result.h"
#include "classify/candidate_map.h"
#include "classify/overlap.h"
#include "classify/subtable.h"
#include "classify/subtable_list.h"

namespace coua {

class classifier_reader;

/// Checked parameters, defaults filled in.
struct classifier_settings {
  std::uint32_t key_bytes = 0;
  std::uint32_t masks_max = 0;
  std::uint64_t rules_max = 0;
  enum coua_classifier_distributor distributor = COUA_DISTRIBUTOR_AUTO;
  std::uint32_t flows = 0;
  std::uint32_t proof_budget = 0;
  bool pruned = true;
  hash_key key{};

  /// Errors: invalid, with the parameter's name; io.
  static result<classifier_settings> check(const coua_classifier_params& params);
};

class classifier {
 public:
  using bytes_in = const std::uint8_t*;

  static result<std::unique_ptr<classifier>> create(const coua_classifier_params& params);
  ~classifier();
  classifier(const classifier&) = delete;
  classifier& operator=(const classifier&) = delete;

  // Writer. Results and errors as in coua/classifier.h.
  int add(bytes_in key, bytes_in mask, std::uint32_t priority, std::uint32_t value);
  int remove(bytes_in key, bytes_in mask, std::uint32_t priority);
  int get(bytes_in key, bytes_in mask, std::uint32_t priority, std::uint32_t* value) const;
  template <class Each>
  int each(Each rule) const;
  std::size_t reclaim();
  void get_stats(coua_classifier_stats& stats) const;
  bool get_mask(std::size_t index, coua_classifier_mask& mask) const;

  // Readers.
  const classifier_settings& settings() const { return settings_; }
  unsigned n_words() const { return n_words_; }
  /// Ids of subtables are below: more than masks, since those that are gone keep theirs until
  /// readers have left them.
  std::size_t n_ids_max() const { return std::size_t{settings_.masks_max} + 256; }
  result<qsbr::reader> enter() { return domain_.register_reader(); }
  const subtable_list* list() const noexcept { return list_.load(std::memory_order_acquire); }
  std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }
  void attach(const classifier_reader* reader);
  void detach(const classifier_reader* reader);

 private:
  using mask_index = std::unordered_map<std::string, subtable*>;

  explicit classifier(classifier_settings settings);

  /// False: the key has bits outside the mask, or a pointer is null.
  bool take_rule(bytes_in key, bytes_in mask, std::uint32_t priority, whole_rule& rule) const;
  subtable* find(const wide_words& mask) const;
  static subtable::position locate(const subtable& table, const whole_rule& rule);
  /// Null and `error` when there is no room for another mask.
  subtable* find_or_create(const wide_words& mask, int& error);
  int add_new(subtable& table, const whole_rule& rule, std::uint32_t value);
  /// A subtable whose last rule has gone.
  void drop(mask_index::iterator mask);
  /// One that never had a rule: no reader knows it.
  void forget_new(subtable& table);

  /// The version is odd while it lives.
  class update {
   public:
    explicit update(std::atomic<std::uint64_t>& version) : version_(version) { count(); }
    ~update() { count(); }
    update(const update&) = delete;
    update& operator=(const update&) = delete;

   private:
    void count() {  // one writer
      version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }
    std::atomic<std::uint64_t>& version_;
  };

  /// Step 2 of the proofs.
  rival_set prove(const whole_rule& rule, const subtable& own, compare_budget& budget);
  /// Step 1.
  void announce(const whole_rule& rule, const subtable& own, compare_budget& budget);
  /// After a rule of the subtable `gone` has gone.
  void prove_again(const whole_rule& rule, subtable_id gone, compare_budget& budget);
  whole_rule whole(const subtable& table, subtable::position at) const;

  /// Makes the map of candidates anew, if there are enough subtables and it is too small for them.
  /// Without memory for it, searches are slower until there is.
  void renew_candidates();
  void forget_candidates(subtable& table);

  /// What the next publish(), and all that an update retires, take memory for. Throws bad_alloc.
  void prepare();
  /// Makes the list anew; after prepare().
  void publish() noexcept;
  void retire(subtable_table old);
  std::uint64_t hits(subtable_id id) const;

  const classifier_settings settings_;
  const unsigned n_words_;
  std::atomic<const subtable_list*> list_;
  std::unique_ptr<subtable_list> owned_list_;
  std::unique_ptr<subtable_list> next_list_;           // with room for all; null: none yet
  std::unique_ptr<candidate_map> candidates_;          // null: none yet
  std::unique_ptr<candidate_map> retired_candidates_;  // until the list without it is published
  std::size_t candidates_made_for_ = 0;                // subtables
  bool candidates_short_ = false;                      // of bytes that a new mask takes
  std::atomic<std::uint64_t> version_{0};
  std::uint64_t order_ = 0;

  std::vector<std::unique_ptr<subtable>> by_id_;  // null: free
  std::vector<subtable_id> free_ids_;
  mask_index by_mask_;
  std::vector<subtable*> ordered_;  // that have rules; by highest priority, falling
  std::uint64_t n_rules_ = 0;
  std::uint64_t added_ = 0, updated_ = 0, removed_ = 0, refused_ = 0, given_up_ = 0;
  std::uint64_t rebuilds_of_gone_ = 0;

  mutable std::mutex readers_mutex_;
  std::vector<const classifier_reader*> readers_;
  std::vector<std::uint64_t> hits_of_gone_;  // by subtable's id, of readers that are gone
  std::vector<std::uint64_t> hits_before_;   // by subtable's id: those of its predecessors

  qsbr domain_;
  reclaimer reclaimer_{domain_};  // last: its actions use the rest
};

template <class Each>
int classifier::each(Each rule) const {
  for (const subtable* table : ordered_) {
    for (std::size_t at = 0; at < table->n_rules(); ++at) {
      const auto position = static_cast<subtable::position>(at);
      const whole_rule one = whole(*table, position);
      if (const int stop = rule(one, table->value(position)); stop != 0) return stop;
    }
  }
  return 0;
}

}  // namespace coua
