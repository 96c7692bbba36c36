// SPDX-License-Identifier: Apache-2.0
//
// All rules of one mask: the exact-match table that readers look into, and the writer's own list of
// the rules.
//
//   list    dense arrays: keys under the mask, priorities, values, rivals. Read in order by the
//           search for overlapping rules; a hash leads from a key to its rules.
//   table   one entry for each key: the rule with the highest priority of those with that key
//   hidden  the others, for readers that want the next best match (hidden_rules.h)
//   face    what readers know of the table. A table that is full is built anew, twice as large, and
//           gets a new face; the owner publishes it and keeps the old pair until readers left it.
//           So is one with less than a rule a bucket, of eight slots: a quarter as large.
//
// Thread rules: the writer's, but for what `face` leads to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "classify/compact_mask.h"
#include "classify/hidden_rules.h"
#include "classify/rule.h"
#include "flow/flow_table.h"

namespace coua {

/// What readers know of a subtable.
struct subtable_face {
  simd::flow_view view;
  compact_mask mask;
  subtable_id id;
  // Rules of a lower priority than this have no proof, whatever their rivals say.
  const std::atomic<std::uint32_t>* unproven_below;
  const hidden_rules* hidden;
};

/// A table and its face, which go together when readers have left them.
struct subtable_table {
  std::unique_ptr<flow_table> table;
  std::unique_ptr<subtable_face> face;
};

class subtable {
 public:
  using position = std::uint32_t;  // in the list; changes when a rule is removed
  static constexpr position none = ~position{0};

  /// Errors: no_memory.
  static result<std::unique_ptr<subtable>> create(const wide_words& mask, unsigned n_words,
                                                  subtable_id id, const hash_key& key,
                                                  reclaimer& reclaim);

  subtable_id id() const { return id_; }
  const compact_mask& mask() const { return mask_; }
  const wide_words& whole_mask() const { return whole_mask_; }
  const subtable_face& face() const { return *current_.face; }
  std::size_t n_rules() const { return priorities_.size(); }
  std::uint32_t highest() const { return by_priority_.rbegin()->first; }
  std::uint32_t lowest() const { return by_priority_.begin()->first; }
  std::uint64_t bytes() const;
  std::uint64_t rebuilds() const { return rebuilds_; }

  // Of one rule.
  const std::uint64_t* key(position at) const { return keys_.data() + at * mask_.n(); }
  std::uint32_t priority(position at) const { return priorities_[at]; }
  std::uint32_t value(position at) const { return values_[at]; }
  rival_set rivals(position at) const { return rivals_[at]; }

  /// `key` is under the mask.
  position find(const std::uint64_t* key, std::uint32_t priority) const;
  /// The rule with this key that readers see; none where there is none.
  position top(const std::uint64_t* key) const;
  bool is_top(position at) const { return top(key(at)) == at; }

  /// The rule is new. When the table had to grow, `old` receives what it was: the owner publishes
  /// the new face and retires it. Errors: no_memory, with nothing changed.
  result<position> add(const std::uint64_t* key, std::uint32_t priority, std::uint32_t value,
                       rival_set rivals, subtable_table& old);
  void set_value(position at, std::uint32_t value);
  void set_rivals(position at, rival_set rivals);
  /// `below` are the rivals of the rule with the next lower priority of the same key, if there is
  /// one (`next_below`): readers see that one then. `old` and errors as above; the reclaimer has
  /// room for two.
  result<void> remove(position at, rival_set below, subtable_table& old);
  position next_below(position at) const;

  /// True when half as many rules were removed as there are (64 at least) since it was true last.
  bool forget_later() {
    if (++n_forgotten_ < std::max<std::size_t>(64, n_rules() / 2)) return false;
    n_forgotten_ = 0;
    return true;
  }

  /// No rule of a lower priority is proven any more.
  void give_up_below(std::uint32_t priority);

 private:
  subtable(const wide_words& mask, unsigned n_words, subtable_id id, const hash_key& key,
           reclaimer& reclaim)
      : whole_mask_(mask),
        mask_(mask, n_words),
        id_(id),
        hash_key_(key),
        hidden_(mask_.n(), reclaim) {}

  std::uint64_t hash(const std::uint64_t* key) const;
  bool same_key(position at, const std::uint64_t* key) const;
  result<subtable_table> make_table(std::uint64_t n_buckets) const;
  /// Writes what readers see of a key; grows the table if it must.
  /// Nothing has changed where that fails.
  result<void> show(const std::uint64_t* key, std::uint64_t answer, rival_set rivals,
                    subtable_table& old);
  result<void> grow(subtable_table& old);
  void shrink(subtable_table& old);
  result<bool> rebuild(std::uint64_t n_buckets, subtable_table& old);
  void hide(position at);
  position enlist(const std::uint64_t* key, std::uint32_t priority, std::uint32_t value,
                  rival_set rivals);
  void forget(position at);

  const wide_words whole_mask_;
  const compact_mask mask_;
  const subtable_id id_;
  const hash_key hash_key_;
  keyed_hash hash_{hash_key_};
  subtable_table current_;
  std::uint64_t n_buckets_ = 2;
  std::uint64_t rebuilds_ = 0;
  std::size_t n_forgotten_ = 0;
  std::atomic<std::uint32_t> unproven_below_{0};
  hidden_rules hidden_;

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> priorities_, values_;
  std::vector<rival_set> rivals_;
  std::unordered_multimap<std::uint64_t, position> by_key_;  // by hash
  std::map<std::uint32_t, std::size_t> by_priority_;         // how many
};

}  // namespace coua
