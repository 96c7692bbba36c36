// SPDX-License-Identifier: Apache-2.0
//
// How a table that would fall to the classifier is split into tables of cheaper templates (ESWITCH,
// SIGCOMM 2016, section 3: flow table decomposition).
//
//   the paper   takes the column with the fewest keys, branches on it, goes on with the rest of the
//               columns in each branch; rules that do not ask for the column are copied into every
//               branch. The smallest split is hard to find, so it is greedy
//   here        the columns (a field under one mask) that all rules but a few ask for are branched
//               on at once: one exact look-up. What rules ask besides is compared in the branch,
//               all at once. The few are not copied: they are looked up, too
//
//   ip_src=10/8,    ip_dst=s1, tcp_dst=80  --> 1   |   exact                direct
//   ip_src=10.1/16, ip_dst=s1, tcp_dst=80  --> 2   |   ip_dst, tcp_dst      ip_src
//                   ip_dst=s1, tcp_dst=80  --> 3   |     s1, 80  -------->    10/8, 10.1/16, any
//   ip_src=11/8,    ip_dst=s2, tcp_dst=22  --> 1   |     s2, 22  -------->    11/8, any
//                   ip_dst=s2, tcp_dst=22  --> 3   |
//   in_port=7                              --> 4   |   apart: in_port=7
//
// Columns are taken by the number of rules that ask for them, the most first, while few rules lack
// one of those taken: these are apart, an eighth of all and 16 at most. A further column makes sets
// smaller and costs nothing while nobody lacks it, so as many are taken as can be. Then every set
// must have 16 rules at most, or its rules must be what the lpm template takes: prefixes of one
// field of addresses, a longer one above every shorter one in priority. So the routes of many
// virtual routers, of both IP versions, can stand in one table:
//
//   metadata=1, ip_dst=10/8                --> 1   |   exact                lpm
//   metadata=1, ip_dst=10.1/16             --> 2   |   metadata, eth_type   ip_dst
//   ... 10,000 more                                |     1, IPv4  --------->  10/8, 10.1/16 ...
//   metadata=1, ipv6_dst=2001:db8::/32     --> 3   |     1, IPv6  --------->  2001:db8::/32 ...
//   metadata=2, ip_dst=10/8                --> 4   |     2, IPv4  --------->  10/8 ...
//
// Sets that are compared with and those apart have room for twice as many, so that a table is not
// split anew at each change. One level is enough: branching again within a set of 16 rules would
// cost a look-up, and comparing with all of them costs less.
//
// Where some set must be looked up as prefixes, all are that can be, also those of values that come
// later: a set that grows needs nothing anew. Such a set takes some 40 KiB for itself, so of small
// ones there are lpm_sets_max at most, and the others are compared with. A few rules of a set of
// prefixes may be none, or ask for more: they are apart, too.
//
// Meaning. A packet's set and the rules that are apart hold every rule that can match it: a rule
// that asks for other values of the columns does not. Of the two the one that ranks higher counts,
// by priority and then by age. So no rule is in two places: there is no growth to bound, a rule has
// its counters once, and a change touches one set.
//
// Cost, in ns a packet of a pipeline that is one table; fitted to tables of 100 to 160,000 rules
// with 1,000 to a million flows (AMD EPYC, Zen 4, 1 MiB of second-level cache):
//
//   sets         45 + lines of an average set * 2, or * 12 where all sets together are larger than
//                the second-level cache, + 4 for each 8 rules that are apart
//   prefixes     instead of the lines 25, + 25 where they are larger than the cache; of sets of
//   both
//                kinds, in proportion to their rules
//   classifier   45 + 15 * masks, twelve at most, + 50 where its entries are larger than the cache:
//                a rule with others of other masks above it has them all asked
//
// A table that is split is asked again from time to time (choose_template.h): its sets may have
// grown until the classifier would be faster. It stays split until that is so by more than an
// eighth; so where both cost about the same it does not go back and forth.
//
//   rules of a set * sets, masks      measured: sets    classifier
//   4 * 1,000, 3 masks                51 to 61          75 to 84
//   9 * 1,000, 9 masks                63 to 95          173 to 217
//   16 * 1,000, 16 masks              63 to 75          200 to 244
//   16 * 10,000, 3 masks              106 to 319        66 to 201     stays with the classifier
//   1 * 40,000 and 3 apart            58 to 101         112 to 462
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/compiler/table_shape.h"
#include "pipeline/datapath/key_layout.h"
#include "pipeline/model/rule_table.h"

namespace coua::pipeline {

/// Bits of a field that a table is split by.
struct split_column {
  field which;
  value128 mask;
  bool operator==(const split_column&) const = default;
};

struct hash_of_match {
  std::size_t operator()(const match& one) const { return one.hash(); }
};

struct decomposition {
  static constexpr std::size_t set_rules_max = 16;
  /// Of sets that could be compared with as well.
  static constexpr std::size_t lpm_sets_max = 4096;
  /// Of so many rules.
  static std::size_t apart_max(std::size_t n_rules) {
    return std::clamp<std::size_t>(n_rules / 8, 2, 16);
  }

  std::vector<split_column> columns;  // by field, rising
  /// Of addresses, one for an IP version at most: sets of its prefixes are looked up as such. None:
  /// no set is.
  std::vector<field> prefixes;
  key_layout values;             // of what rules ask of them
  key_layout whole;              // of all that rules ask, but for those that are apart
  key_words known;               // as masks: the bits of `whole` that `values` decides
  std::uint32_t words_left = 0;  // words of `whole` with other bits

  /// What the rule asks of the columns. None: it does not ask for all of them, so it is apart.
  std::optional<match> values_of(const match& rule) const;
  /// The one of `prefixes` of which the rule, which is not apart, is one and asks nothing else
  /// besides; of length 0, too. None: there is none.
  std::optional<field> prefix_of(const match& rule) const;
  /// "ipv4_dst, tcp_dst"; what these fields presuppose is not named.
  std::string to_string() const;
};

/// The rules of a set, as prefixes.
class prefixes_of_set {
 public:
  void add(const decomposition& by, const rule& one);

  std::size_t n_rules() const { return n_rules_; }
  /// To be compared with: some rules take two.
  std::size_t n_rows() const { return n_rows_; }
  bool is_large() const { return n_rules_ > decomposition::set_rules_max; }
  /// Of which field most are prefixes, and how many; none: no rule is one.
  struct most {
    const prefix_shape* of = nullptr;
    std::size_t n = 0;
  };
  most find_most() const;
  std::size_t n_others() const { return n_rules_ - find_most().n; }

 private:
  struct part {
    prefix_shape shape;
    std::size_t n = 0;
  };
  std::vector<part> parts_;  // by field
  std::size_t n_rules_ = 0, n_rows_ = 0;
};
using sets_as_prefixes = std::unordered_map<match, prefixes_of_set, hash_of_match>;

struct decompose_answer {
  std::shared_ptr<const decomposition> found;
  std::string why_not;  // if there is none
};

/// Goes over the rules, which take `n_masks` different sets of bits. A table that is split already,
/// into parts that hold its rules, keeps them as long as they do not lose by too much.
decompose_answer decompose(const rule_table& rules, std::size_t n_masks,
                           std::shared_ptr<const decomposition> has = nullptr);

}  // namespace coua::pipeline
