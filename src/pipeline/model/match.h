// SPDX-License-Identifier: Apache-2.0
//
// Which packets a rule is for: terms {field, value, mask}, all of which must hold. A match that
// exists is valid: make() checks widths, masks, duplicates and prerequisites once.
//
// Two matches are equal when they take the same bits of the same fields: terms are kept in the
// order of their fields, and a term without a mask bit is left out. The hash is the sum of the
// terms' hashes, so that one without a field is known without going over the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/model/field_values.h"
#include "pipeline/model/of_error.h"

namespace coua::pipeline {

struct match_term {
  field which;
  value128 value;
  value128 mask;

  bool operator==(const match_term&) const = default;
};
/// A term that takes the field as a whole.
inline match_term exact(field which, value128 value) { return {which, value, full_mask(which)}; }

/// A hash of words, for tables of the control plane: a finaliser of 64 bits between them.
class word_mixer {
 public:
  void add(std::uint64_t word) {
    hash_ = (hash_ ^ word) * 0xff51'afd7'ed55'8ccd;
    hash_ ^= hash_ >> 32;
  }
  void add(value128 word) {
    add(static_cast<std::uint64_t>(word));
    add(static_cast<std::uint64_t>(word >> 64));
  }
  void add(const match_term& term) {
    add(std::uint64_t{index_of(term.which)});
    add(term.value);
    add(term.mask);
  }
  std::size_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0x9e37'79b9'7f4a'7c15;
};

inline std::size_t hash_of(const match_term& term) {
  word_mixer mixed;
  mixed.add(term);
  return mixed.hash();
}

class match {
 public:
  match() = default;  // every packet
  /// Errors: bad_match_*; they name the field.
  static of_result<match> make(std::vector<match_term> terms);

  const std::vector<match_term>& terms() const { return terms_; }
  /// Null: the match takes no bit of the field.
  const match_term* find(field which) const;
  /// The value, if the match takes every bit of the field.
  std::optional<value128> exact_value(field which) const;
  bool is_any() const { return terms_.empty(); }

  bool matches(const field_values& packet) const;
  /// Every packet of `narrower` is one of this match too: what a loose modify or delete asks.
  bool covers(const match& narrower) const;
  /// Some packet may be of both.
  bool overlaps(const match& other) const;

  bool operator==(const match& other) const { return terms_ == other.terms_; }
  std::size_t hash() const { return hash_; }
  /// "dl_type=0x800,nw_dst=10.0.0.0/255.0.0.0"; "any" for every packet.
  std::string to_string() const;

 private:
  std::vector<match_term> terms_;  // by field, rising; no mask is 0
  std::size_t hash_ = 0;
};

}  // namespace coua::pipeline
