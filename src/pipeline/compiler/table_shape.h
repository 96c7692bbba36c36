// SPDX-License-Identifier: Apache-2.0
//
// What the rules of a table have in common: what decides which template may serve it (ESWITCH,
// SIGCOMM 2016, section 3; choose_template.h). Kept up to date rule by rule, so that a table of a
// million rules is not gone over when one changes.
//
//   masks      how many rules take the same bits of the same fields. Rules that match every packet
//              are counted apart: a table may have them below all others.
//   prefixes   for each field of IP addresses: the rules that are the same but for it, how many of
//              them are prefixes, and the priorities of each length
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "pipeline/model/rule.h"

namespace coua::pipeline {

/// How often each priority occurs.
class priority_counts {
 public:
  void add(std::uint16_t priority) { ++counts_[priority]; }
  void remove(std::uint16_t priority) {
    const auto at = counts_.find(priority);
    if (--at->second == 0) counts_.erase(at);
  }
  bool empty() const { return counts_.empty(); }
  std::uint16_t lowest() const { return counts_.begin()->first; }
  std::uint16_t highest() const { return counts_.rbegin()->first; }

 private:
  std::map<std::uint16_t, std::size_t> counts_;
};

// Matches as keys of maps: by the bits that they take in packets, and by what they ask of all
// fields but one.
struct same_mask {
  std::size_t operator()(const match& what) const;
  bool operator()(const match& a, const match& b) const;
};
struct same_but_for {
  field which;
  std::size_t operator()(const match& what) const;
  bool operator()(const match& a, const match& b) const;
};
/// What is known of the rules that are the same in this way; the key is the match of one of them.
template <class Same, class Known = std::size_t>
using by_match = std::unordered_map<match, Known, Same, Same>;

/// What most rules of a table are, as the match of one of them, and how many rows of a direct table
/// the others have.
struct main_rules {
  const match* of;
  std::size_t n_rows_apart;
};

/// The rules of a table as prefixes of one field.
class prefix_shape {
 public:
  explicit prefix_shape(field which)
      : which_(which), groups_(0, same_but_for{which}, same_but_for{which}) {}

  field which() const { return which_; }
  /// `n_rows`: of the rule in a direct table (most_ways).
  void add(const rule& one, std::size_t n_rows) { count(one, n_rows, true); }
  void remove(const rule& one, std::size_t n_rows) { count(one, n_rows, false); }

  /// Some rule takes bits of it.
  bool is_matched() const { return n_matching_ > 0; }
  /// Prefixes of the field, but not all of length 0, that are the same otherwise. None: there are
  /// none, or more than `most_others` other groups.
  std::optional<main_rules> find_main(std::size_t most_others) const;
  /// Longest-prefix match of the field gives the one of them that counts. Empty: it does; else why
  /// it does not.
  std::string why_unordered(const main_rules& of) const;
  bool is_ordered(const main_rules& of) const { return !find_overlap(groups_.at(*of.of)); }
  /// Of all rules, longest-prefix match gives the one that counts: they are the same but for the
  /// field, prefixes of it, and in order. Empty: it does; else why it does not.
  std::string why_not_all() const;
  /// With one prefix more, those of its group stay as they are: in order.
  bool stays_ordered_with(const match& what, std::uint16_t priority) const;
  /// Of rules that are the same but for the field.
  std::size_t n_groups() const { return groups_.size(); }
  /// There were so many groups that of some rules it is not known in which they are.
  bool has_uncounted() const { return n_more_ > 0; }

 private:
  struct group {
    std::size_t n_rules = 0;  // of any kind
    // Of the prefixes among them.
    std::size_t n_prefixes = 0, n_rows = 0;
    std::map<unsigned, priority_counts> by_length{};
  };
  /// A rule of a shorter prefix that is not below one of a longer one.
  struct overlap {
    unsigned shorter, longer;   // bits
    int of_shorter, of_longer;  // priorities
  };

  void count(const rule& one, std::size_t n_rows, bool added);
  group* group_of(const match& what, bool added);
  static bool has_prefixes(const group& one) {
    return !one.by_length.empty() && one.by_length.rbegin()->first > 0;
  }
  static std::optional<overlap> find_overlap(const group& in);
  std::string text_of(const overlap& found) const;

  field which_;
  std::size_t n_matching_ = 0, n_rows_ = 0;
  // Past groups_max, only how many rules there are besides, until these are gone: a table of a
  // million different rules is no table of prefixes, and would take its memory twice.
  static constexpr std::size_t groups_max = 64;
  by_match<same_but_for, group> groups_;
  std::size_t n_more_ = 0;
};

class table_shape {
 public:
  /// The rule is not in it yet.
  void add(const rule& one);
  /// The rule is in it.
  void remove(const rule& one);

  std::size_t n_rules() const { return n_rules_; }
  /// That a direct table has at most: some rules take two (key_layout.h).
  std::size_t n_rows() const { return n_rows_; }
  /// Different sets of bits that rules take, but for those that take none.
  std::size_t n_masks() const { return by_mask_.size(); }
  /// Those that take the same bits. None: there are more masks than one and `most_others`, or none.
  std::optional<main_rules> find_main(std::size_t most_others) const;
  /// Of the rules that were ever added: ids rise.
  rule_id newest() const { return newest_; }
  bool has_catch_all() const { return !catch_alls_.empty(); }
  /// Rules that match every packet are below all others, so that one decides only where no other
  /// matches. Of one priority, the rule that was added first would.
  bool catch_alls_are_last() const {
    return catch_alls_.empty() || others_.empty() || catch_alls_.highest() < others_.lowest();
  }
  const std::array<prefix_shape, 4>& prefixes() const { return prefixes_; }
  /// With one rule more like that, all rules but catch-alls take the same bits, and those are last.
  bool is_uniform_with(const match& what, std::uint16_t priority) const {
    return by_mask_.size() == 1 && same_mask()(by_mask_.begin()->first, what) &&
           (catch_alls_.empty() || catch_alls_.highest() < std::min(priority, others_.lowest()));
  }

 private:
  std::size_t n_rules_ = 0, n_rows_ = 0;
  rule_id newest_ = 0;
  by_match<same_mask> by_mask_;
  priority_counts catch_alls_, others_;
  std::array<prefix_shape, 4> prefixes_{
      prefix_shape(field::ipv4_dst), prefix_shape(field::ipv4_src), prefix_shape(field::ipv6_dst),
      prefix_shape(field::ipv6_src)};
};

/// The length of a mask that is a prefix of so many bits; none: it is not.
std::optional<unsigned> prefix_length(value128 mask, unsigned n_bits);

}  // namespace coua::pipeline
