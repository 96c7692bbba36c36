// SPDX-License-Identifier: Apache-2.0
//
// A classifier beside the linear list of rules that says what it must answer. Every operation runs
// on both and compares; the first difference is kept as failure().
#pragma once

#include <coua/classifier.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "linear_rules.h"

namespace coua::test {

struct classifier_shape {
  const char* name;
  std::uint32_t key_bytes;
  enum coua_classifier_distributor distributor;
  std::uint32_t proof_budget;  // 0: the default
  bool pruned = true;
  std::uint32_t rules_max = 0, masks_max = 0;  // 0: the default
};

enum class classifier_op_kind {
  add,
  remove,
  get,
  invalid,
  look_up,
  look_up_one,
  reclaim,
  new_reader,
};

struct classifier_op {
  classifier_op_kind kind;
  rule subject;
  std::size_t n;  // packets, or which rule of those there are
};
std::ostream& operator<<(std::ostream& out, const classifier_op& op);

/// How many places of a key take part in rules and packets: its first and last byte, and some
/// between.
constexpr std::size_t n_places = 5;
using few_bytes = std::array<std::uint8_t, n_places>;
/// Bytes at these places, the others 0. In short keys several share a place.
byte_string spread(const few_bytes& few, std::uint32_t key_bytes);

class checked_classifier {
 public:
  explicit checked_classifier(const classifier_shape& shape);
  ~checked_classifier();
  checked_classifier(const checked_classifier&) = delete;
  checked_classifier& operator=(const checked_classifier&) = delete;

  /// False when classifier and list differ.
  bool apply(const classifier_op& op);
  /// Packets of which every other is the same in each call, so that hints are used, and every other
  /// one that a rule matches.
  bool look_up(std::size_t n);
  /// Looks packets up once more, and compares all rules.
  bool finish();

  const std::string& failure() const { return failure_; }

 private:
  bool fail(const std::string& what);
  int room_for(const rule& added) const;
  bool add(const rule& added);
  bool remove(const rule& removed);
  bool get(const rule& wanted);
  bool refuses(rule bad);
  bool look_up_one(std::size_t n);
  bool open_reader();
  /// A rule that there is, mostly.
  rule some(const classifier_op& op) const;
  std::vector<std::uint8_t> packets(std::size_t n) const;
  bool check_answer(const std::uint8_t* packet, bool hit, const coua_classifier_answer& answer);
  bool check_counts();
  bool check_reader();
  bool check_rules();

  const classifier_shape shape_;
  coua_classifier* table_ = nullptr;
  coua_classifier_reader* reader_ = nullptr;
  linear_rules list_;
  std::uint64_t added_ = 0, updated_ = 0, removed_ = 0, refused_ = 0;
  std::uint64_t lookups_ = 0, hits_ = 0;  // of the reader
  std::string failure_;
};

}  // namespace coua::test
