// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/decompose.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/cpu.h"
#include "pipeline/compiler/other_rules.h"
#include "pipeline/datapath/exact_store.h"
#include "simd/set_match/kernels.h"

namespace coua::pipeline {
namespace {

std::vector<const match*> matches_of(const rule_table& rules) {
  std::vector<const match*> all;
  all.reserve(rules.size());
  each_other_rule(rules, [&](const rule_table::entry& one) { all.push_back(&one.rule->match); });
  return all;
}

bool has(const match& one, const split_column& column) {
  const match_term* term = one.find(column.which);
  return term != nullptr && term->mask == column.mask;
}

/// Terms by how many rules have them, the most first. What a field presupposes is before it: every
/// rule that has the field has that, too, and its number is lower.
std::vector<split_column> columns_by_use(const std::vector<const match*>& rules) {
  std::map<std::pair<field, value128>, std::size_t> uses;
  for (const match* each : rules) {
    for (const match_term& term : each->terms()) ++uses[{term.which, term.mask}];
  }
  std::vector<std::pair<split_column, std::size_t>> sorted;
  for (const auto& [column, n] : uses) sorted.push_back({{column.first, column.second}, n});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<split_column> columns;
  for (const auto& [column, n] : sorted) columns.push_back(column);
  return columns;
}

/// How many of the columns can be taken from the front, so that few enough rules are apart.
std::size_t n_common(const std::vector<const match*>& rules,
                     const std::vector<split_column>& columns) {
  std::vector<std::size_t> ends(columns.size() + 1);  // rules that lack column i and none before it
  for (const match* each : rules) {
    std::size_t i = 0;
    while (i < columns.size() && has(*each, columns[i])) ++i;
    ++ends[i];
  }
  std::size_t n_apart = 0, n = 0;
  const std::size_t apart_max = decomposition::apart_max(rules.size());
  while (n < columns.size() && n_apart + ends[n] <= apart_max) n_apart += ends[n++];
  return n;
}

std::string number(std::size_t n) { return std::to_string(n); }

bool is_cached(std::size_t n_bytes) {
  static const std::size_t of_machine = second_level_cache_bytes();
  return n_bytes <= (of_machine != 0 ? of_machine : std::size_t{1} << 20);
}

// The model of decompose.h.
unsigned ns_of_sets(std::size_t n_lines, std::size_t n_sets, std::size_t n_apart) {
  const double ns_of_line = is_cached(n_lines * simd::set_match::line_bytes) ? 2 : 12;
  const double lines = static_cast<double>(n_lines) / static_cast<double>(n_sets);
  return static_cast<unsigned>(45 + lines * ns_of_line) +
         4 * static_cast<unsigned>((n_apart + 7) / 8);
}
unsigned ns_of_classifier(std::size_t n_rules, std::size_t n_masks) {
  constexpr std::size_t bytes_of_rule = 48;
  const auto n_asked = static_cast<unsigned>(std::min<std::size_t>(n_masks, 12));
  return 45 + 15 * n_asked + (is_cached(n_rules * bytes_of_rule) ? 0 : 50);
}

struct hash_of_match {
  std::size_t operator()(const match& one) const { return one.hash(); }
};

/// Fields and the values that say where they stand: rules that are alike in these have one layout.
std::string kind_of(const match& one) {
  std::string key;
  for (const match_term& term : one.terms()) {
    key += static_cast<char>(term.which);
    const bool decides = term.which == field::eth_type || term.which == field::icmpv6_type ||
                         term.which == field::vlan_vid;
    if (decides) key += std::to_string(static_cast<std::uint64_t>(term.value));
  }
  return key;
}

/// The sets of rules whose values stand in the same places.
struct leaves {
  explicit leaves(key_layout of_values) : layout(std::move(of_values)) {}

  void add(const match& rule, match values) {
    ++n_rules;
    largest = std::max(largest, ++sizes[values]);
    if (kinds.insert(kind_of(rule)).second) examples.push_back(rule);
    example = std::move(values);
  }
  std::size_t n_groups() const {
    std::size_t n = 0;
    for (const auto& [values, size] : sizes) {
      n += (size + simd::set_match::group - 1) / simd::set_match::group;
    }
    return n;
  }

  key_layout layout;
  std::unordered_map<match, std::size_t, hash_of_match> sizes;
  std::size_t n_rules = 0, largest = 0;
  std::unordered_set<std::string> kinds;
  std::vector<match> examples;  // of each kind
  match example;                // of values
};

/// Of the rules that are not apart.
leaves sets_of(const decomposition& by, const std::vector<const match*>& rules) {
  std::vector<leaves> all;
  for (const match* each : rules) {
    std::optional<match> values = by.values_of(*each);
    if (!values) continue;
    const key_layout layout = key_layout::of({&*values, 1});
    auto at = std::find_if(all.begin(), all.end(),
                           [&](const leaves& one) { return one.layout == layout; });
    if (at == all.end()) at = all.insert(at, leaves(layout));
    at->add(*each, std::move(*values));
  }
  if (all.empty()) return leaves({});
  return std::move(*std::max_element(all.begin(), all.end(), [](const leaves& a, const leaves& b) {
    return a.n_rules < b.n_rules;
  }));
}

/// False: their values take more than a flow table's key has.
bool set_layouts(const leaves& of, decomposition& by) {
  if (!exact_store::takes(of.layout)) return false;
  by.values = of.layout;
  by.whole = key_layout::of(of.examples, key_layout::width::fields);
  // The layers may say to all rules what the values alone ask bits for.
  by.known = by.whole.shared_with(of.example);
  const std::size_t first = by.whole.has_layers() ? 1 : 0;
  by.words_left = static_cast<std::uint32_t>(first);
  for (std::size_t i = 0; i < by.whole.windows().size(); ++i) {
    const bool is_left = (by.whole.windows()[i].mask & ~by.known.mask[first + i]) != 0;
    if (is_left) by.words_left |= 1U << (first + i);
  }
  static_assert(key_words::max <= 32, "a bit for each");
  if (by.words_left == 0) by.words_left = 1;  // kernels compare a word at least
  return true;
}

struct costs {
  unsigned sets, classifier;  // ns a packet

  std::string why_not() const {
    return "at " + number(sets) + " ns a packet it would not be faster than at " +
           number(classifier);
  }
};

costs costs_of(const decomposition& by, const leaves& sets, std::size_t n_rules,
               std::size_t n_masks) {
  const auto n_words = static_cast<unsigned>(std::popcount(by.words_left));
  return {ns_of_sets(sets.n_groups() * (n_words + 1), std::max<std::size_t>(sets.sizes.size(), 1),
                     n_rules - sets.n_rules),
          ns_of_classifier(n_rules, n_masks)};
}

/// Empty: it is good, with its layouts.
std::string why_not(const std::vector<const match*>& rules, std::size_t n_masks,
                    decomposition& by) {
  const leaves sets = sets_of(by, rules);
  const std::size_t n_apart = rules.size() - sets.n_rules;
  if (n_apart > decomposition::apart_max(rules.size())) {
    return number(n_apart) + " rules are apart of " + by.to_string();
  }
  if (sets.largest > decomposition::set_rules_max) {
    return number(sets.largest) + " rules have the same " + by.to_string();
  }
  if (!set_layouts(sets, by)) return "rules take too many bits";
  const costs of = costs_of(by, sets, rules.size(), n_masks);
  return of.sets < of.classifier ? "" : of.why_not();
}

/// There are none but the types of packets, which tell too few sets apart.
std::string why_no_columns(const std::vector<split_column>& types, std::size_t apart_max) {
  std::string names;
  for (const split_column& each : types) {
    names += (names.empty() ? "" : " and ") + std::string(info(each.which).name);
  }
  const std::string all_but = " the same mask in all but " + number(apart_max) + " rules";
  if (names.empty()) return "no field has" + all_but;
  return "no field but " + names + " has" + all_but;
}

/// Whether parts that hold the rules are to stay.
bool still_pays(const std::vector<const match*>& rules, std::size_t n_masks,
                const decomposition& by) {
  const costs of = costs_of(by, sets_of(by, rules), rules.size(), n_masks);
  return of.sets <= of.classifier + of.classifier / 8;
}

}  // namespace

std::optional<match> decomposition::values_of(const match& rule) const {
  std::vector<match_term> terms;
  for (const split_column& each : columns) {
    if (!has(rule, each)) return std::nullopt;
    terms.push_back(*rule.find(each.which));
  }
  auto made = match::make(std::move(terms));
  if (!made) return std::nullopt;
  return std::move(*made);
}

std::string decomposition::to_string() const {
  std::string text;
  for (const split_column& each : columns) {
    if (columns.size() > 1 && (each.which == field::eth_type || each.which == field::ip_proto)) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + std::string(info(each.which).name);
  }
  return text;
}

decompose_answer decompose(const rule_table& rules, std::size_t n_masks,
                           std::shared_ptr<const decomposition> has) {
  const std::vector<const match*> all = matches_of(rules);
  if (has != nullptr && still_pays(all, n_masks, *has)) return {std::move(has), {}};
  const std::vector<split_column> columns = columns_by_use(all);
  decomposition by;
  by.columns.assign(columns.begin(),
                    columns.begin() + static_cast<std::ptrdiff_t>(n_common(all, columns)));
  std::sort(by.columns.begin(), by.columns.end(),
            [](const split_column& a, const split_column& b) { return a.which < b.which; });
  const auto only_types = std::all_of(by.columns.begin(), by.columns.end(), [](const auto& each) {
    return each.which == field::eth_type || each.which == field::ip_proto;
  });
  if (only_types) {
    return {nullptr, why_no_columns(by.columns, decomposition::apart_max(all.size()))};
  }
  std::string why = why_not(all, n_masks, by);
  if (!why.empty()) return {nullptr, std::move(why)};
  return {std::make_shared<const decomposition>(std::move(by)), {}};
}

}  // namespace coua::pipeline
