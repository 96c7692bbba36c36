// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/table_shape.h"

#include <algorithm>

#include "pipeline/datapath/key_layout.h"

namespace coua::pipeline {
namespace {

/// The field whose value says where another one stands in a packet (datapath/field_place.h).
std::optional<field> placed_by(field which) {
  switch (which) {
    case field::ip_dscp:
    case field::ip_ecn:
    case field::ip_ttl: return field::eth_type;
    case field::nd_target: return field::icmpv6_type;
    default: return std::nullopt;
  }
}

value128 place_value(const match& what, const match_term& term) {
  const auto by = placed_by(term.which);
  return by ? what.exact_value(*by).value_or(0) : 0;
}

void count_in(by_match<same_mask>& counts, const match& what, bool added) {
  // Where all are of one mask, as in most tables, it takes no hash to find it.
  const bool is_only = counts.size() == 1 && same_mask()(counts.begin()->first, what);
  const auto at = is_only ? counts.begin() : counts.find(what);
  if (at == counts.end()) {
    counts.emplace(what, 1);
  } else if (added) {
    ++at->second;
  } else if (--at->second == 0) {
    counts.erase(at);
  }
}

/// The first term from there on that is not of the field.
auto skip(std::vector<match_term>::const_iterator at, const match& of, field which) {
  return at != of.terms().end() && at->which == which ? at + 1 : at;
}

}  // namespace

std::size_t same_mask::operator()(const match& what) const {
  word_mixer mixed;
  for (const match_term& term : what.terms()) {
    mixed.add(std::uint64_t{index_of(term.which)});
    mixed.add(term.mask);
    mixed.add(place_value(what, term));
  }
  return mixed.hash();
}

bool same_mask::operator()(const match& a, const match& b) const {
  return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(),
                    [&](const match_term& left, const match_term& right) {
                      return left.which == right.which && left.mask == right.mask &&
                             place_value(a, left) == place_value(b, right);
                    });
}

std::size_t same_but_for::operator()(const match& what) const {
  const match_term* term = what.find(which);
  return term == nullptr ? what.hash() : what.hash() - hash_of(*term);
}

bool same_but_for::operator()(const match& a, const match& b) const {
  auto left = skip(a.terms().begin(), a, which), right = skip(b.terms().begin(), b, which);
  while (left != a.terms().end() && right != b.terms().end()) {
    if (!(*left == *right)) return false;
    left = skip(left + 1, a, which);
    right = skip(right + 1, b, which);
  }
  return left == a.terms().end() && right == b.terms().end();
}

std::optional<unsigned> prefix_length(value128 mask, unsigned n_bits) {
  const value128 rest = ~mask & ones(n_bits);
  if ((rest & (rest + 1)) != 0) return std::nullopt;  // zeros are not all at the end
  unsigned length = n_bits;
  for (value128 left = rest; left != 0; left >>= 1) --length;
  return length;
}

void prefix_shape::count(const rule& one, std::size_t n_rows, bool added) {
  const auto change = [added](std::size_t& n, std::size_t by) { n += added ? by : 0 - by; };
  const match_term* term = one.match.find(which_);
  change(n_rows_, n_rows);
  if (term != nullptr) change(n_matching_, 1);
  group* const of = group_of(one.match, added);
  if (of == nullptr) return change(n_more_, 1);
  const auto length = term == nullptr ? 0U : prefix_length(term->mask, info(which_).n_bits);
  change(of->n_rules, 1);
  if (length) {
    change(of->n_prefixes, 1);
    change(of->n_rows, n_rows);
    priority_counts& priorities = of->by_length[*length];
    if (added) {
      priorities.add(one.priority);
    } else {
      priorities.remove(one.priority);
      if (priorities.empty()) of->by_length.erase(*length);
    }
  }
  if (of->n_rules == 0) groups_.erase(one.match);
}

/// Null: it is one of the others. A group whose first rule is one of these has all of its rules
/// there until they are gone.
prefix_shape::group* prefix_shape::group_of(const match& what, bool added) {
  const auto at = groups_.find(what);
  if (at != groups_.end()) return &at->second;
  if (!added || n_more_ > 0 || groups_.size() == groups_max) return nullptr;
  return &groups_[what];
}

std::optional<main_rules> prefix_shape::find_main(std::size_t most_others) const {
  if (groups_.empty() || groups_.size() + n_more_ > most_others + 1) return std::nullopt;
  const auto main =
      std::max_element(groups_.begin(), groups_.end(), [](const auto& left, const auto& right) {
        return left.second.n_prefixes < right.second.n_prefixes;
      });
  if (!has_prefixes(main->second)) return std::nullopt;
  return main_rules{&main->first, n_rows_ - main->second.n_rows};
}

std::optional<prefix_shape::overlap> prefix_shape::find_overlap(const group& in) {
  unsigned shorter = 0;
  int highest = -1;  // of the lengths before
  for (const auto& [length, priorities] : in.by_length) {
    if (priorities.lowest() <= highest) {
      return overlap{shorter, length, highest, priorities.lowest()};
    }
    highest = priorities.highest();
    shorter = length;
  }
  return std::nullopt;
}

bool prefix_shape::stays_ordered_with(const match& what, std::uint16_t priority) const {
  const auto group = groups_.find(what);
  if (group == groups_.end()) return true;
  const match_term* term = what.find(which_);
  const auto length = term == nullptr ? 0U : prefix_length(term->mask, info(which_).n_bits);
  const auto& by_length = group->second.by_length;
  return length && std::all_of(by_length.begin(), by_length.end(), [&](const auto& each) {
           const auto& [other, priorities] = each;
           if (other == *length) return true;
           return other < *length ? priorities.highest() < priority
                                  : priority < priorities.lowest();
         });
}

std::string prefix_shape::text_of(const overlap& found) const {
  return "a rule of priority " + std::to_string(found.of_shorter) + " for a /" +
         std::to_string(found.shorter) + " of " + info(which_).name +
         " is not below one of priority " + std::to_string(found.of_longer) + " for a /" +
         std::to_string(found.longer);
}

std::string prefix_shape::why_unordered(const main_rules& of) const {
  const auto found = find_overlap(groups_.at(*of.of));
  return found ? text_of(*found) : "";
}

std::string prefix_shape::why_not_all() const {
  const std::string name = info(which_).name;
  if (groups_.size() > 1 || n_more_ > 0) return "rules differ in more than " + name;
  if (groups_.empty()) return {};
  const group& all = groups_.begin()->second;
  if (all.n_prefixes != all.n_rules)
    return "rules have a mask of " + name + " that is not a prefix";
  const auto found = find_overlap(all);
  return found ? text_of(*found) : "";
}

std::optional<main_rules> table_shape::find_main(std::size_t most_others) const {
  if (by_mask_.empty() || by_mask_.size() > most_others + 1) return std::nullopt;
  if (by_mask_.size() == 1) return main_rules{&by_mask_.begin()->first, 0};
  const auto main = std::max_element(
      by_mask_.begin(), by_mask_.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; });
  std::size_t n_apart = 0;
  for (const auto& [what, n] : by_mask_) n_apart += n * most_ways(what);
  return main_rules{&main->first, n_apart - main->second * most_ways(main->first)};
}

void table_shape::add(const rule& one) {
  ++n_rules_;
  newest_ = std::max(newest_, one.id);
  const std::size_t n_rows = most_ways(one.match);
  n_rows_ += n_rows;
  if (one.match.is_any()) {
    catch_alls_.add(one.priority);
    return;
  }
  others_.add(one.priority);
  count_in(by_mask_, one.match, true);
  for (prefix_shape& each : prefixes_) each.add(one, n_rows);
}

void table_shape::remove(const rule& one) {
  --n_rules_;
  const std::size_t n_rows = most_ways(one.match);
  n_rows_ -= n_rows;
  if (one.match.is_any()) {
    catch_alls_.remove(one.priority);
    return;
  }
  others_.remove(one.priority);
  count_in(by_mask_, one.match, false);
  for (prefix_shape& each : prefixes_) each.remove(one, n_rows);
}

}  // namespace coua::pipeline
