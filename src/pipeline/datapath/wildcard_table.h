// SPDX-License-Identifier: Apache-2.0
//
// A table of rules of any kind: the classifier (classify/classifier.h) over the words of a layout.
// Two of its rules may have one priority and both match a packet; then the one that was added first
// counts, so a rule's rank in the classifier is
//
//   priority:16 65535 - (place among those of its priority):16
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "classify/classifier.h"
#include "classify/classifier_reader.h"
#include "pipeline/datapath/action_record.h"
#include "pipeline/datapath/key_layout.h"

namespace coua::pipeline {

class wildcard_table {
 public:
  /// Errors: no_memory, io.
  static result<std::unique_ptr<wildcard_table>> create(const key_layout& layout,
                                                        unsigned n_workers);

  const key_layout& layout() const { return layout_; }
  /// In words, from key to key. Rules that match every packet need no bit of any, but keys have
  /// one.
  unsigned stride() const { return std::max(layout_.n_words(), 1U); }

  // Writer.
  /// Whether there is room for what one rule asks, whose bits the layout has. Errors: no_room.
  result<void> check(const match& what) const;
  /// Adds the rule, or replaces its record. Errors: no_room (masks, rules).
  result<void> put(const match& what, std::uint32_t rank, record_id head);
  void erase(const match& what, std::uint32_t rank);
  /// 0: it is not there.
  record_id head(const match& what, std::uint32_t rank) const;
  classifier& rules() { return *rules_; }
  const classifier& rules() const { return *rules_; }

  // Of worker `worker`, one thread at a time.
  /// At most 64 keys; 0: no rule matches. `ranks` of those that match are written.
  void look_up(unsigned worker, const std::uint64_t* keys, std::size_t n, record_id* heads,
               std::uint32_t* ranks) const noexcept;
  /// The rule that matches next, below a rank.
  record_id look_up_below(unsigned worker, const std::uint64_t* key,
                          std::uint32_t& rank) const noexcept;

 private:
  explicit wildcard_table(const key_layout& layout) : layout_(layout) {}

  const key_layout layout_;
  std::unique_ptr<classifier> rules_;
  std::vector<std::unique_ptr<classifier_reader>> readers_;  // by worker
};

}  // namespace coua::pipeline
