// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/decompose.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/cpu.h"
#include "net/ethernet.h"
#include "pipeline/compiler/other_rules.h"
#include "pipeline/compiler/table_shape.h"
#include "pipeline/datapath/exact_store.h"
#include "pipeline/datapath/rule_rank.h"
#include "simd/set_match/kernels.h"

namespace coua::pipeline {
namespace {

using rule_list = std::vector<const rule*>;

rule_list rules_of(const rule_table& rules) {
  rule_list all;
  all.reserve(rules.size());
  each_other_rule(rules, [&](const rule_table::entry& one) { all.push_back(one.rule.get()); });
  return all;
}

bool has(const match& one, const split_column& column) {
  const match_term* term = one.find(column.which);
  return term != nullptr && term->mask == column.mask;
}

/// Terms by how many rules have them, the most first. What a field presupposes is before it: every
/// rule that has the field has that, too, and its number is lower.
std::vector<split_column> columns_by_use(const rule_list& rules) {
  std::map<std::pair<field, value128>, std::size_t> uses;
  for (const rule* each : rules) {
    for (const match_term& term : each->match.terms()) ++uses[{term.which, term.mask}];
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
std::size_t n_common(const rule_list& rules, const std::vector<split_column>& columns) {
  std::vector<std::size_t> ends(columns.size() + 1);  // rules that lack column i and none before it
  for (const rule* each : rules) {
    std::size_t i = 0;
    while (i < columns.size() && has(each->match, columns[i])) ++i;
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

constexpr std::size_t bytes_of_rule = 48;

// The model of decompose.h: what comes on top of the look-up of the values.
double ns_of_lines(std::size_t n_lines, std::size_t n_sets) {
  const double ns_of_line = is_cached(n_lines * simd::set_match::line_bytes) ? 2 : 12;
  return static_cast<double>(n_lines) / static_cast<double>(std::max<std::size_t>(n_sets, 1)) *
         ns_of_line;
}
double ns_of_prefixes(std::size_t n_rules) { return is_cached(n_rules * bytes_of_rule) ? 25 : 50; }
unsigned ns_of_classifier(std::size_t n_rules, std::size_t n_masks) {
  const auto n_asked = static_cast<unsigned>(std::min<std::size_t>(n_masks, 12));
  return 45 + 15 * n_asked + (is_cached(n_rules * bytes_of_rule) ? 0 : 50);
}

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
  bool is_large(const match& values) const {
    const auto at = sizes.find(values);
    return at != sizes.end() && at->second > decomposition::set_rules_max;
  }

  key_layout layout;
  std::unordered_map<match, std::size_t, hash_of_match> sizes;
  std::size_t n_rules = 0, largest = 0;
  std::unordered_set<std::string> kinds;
  std::vector<match> examples;  // of each kind
  match example;                // of values
};

/// Of the rules that are not apart.
leaves sets_of(const decomposition& by, const rule_list& rules) {
  std::vector<leaves> all;
  for (const rule* each : rules) {
    std::optional<match> values = by.values_of(each->match);
    if (!values) continue;
    const key_layout layout = key_layout::of({&*values, 1});
    auto at = std::find_if(all.begin(), all.end(),
                           [&](const leaves& one) { return one.layout == layout; });
    if (at == all.end()) at = all.insert(at, leaves(layout));
    at->add(each->match, std::move(*values));
  }
  if (all.empty()) return leaves({});
  return std::move(*std::max_element(all.begin(), all.end(), [](const leaves& a, const leaves& b) {
    return a.n_rules < b.n_rules;
  }));
}

bool is_ipv4(field address) { return address == field::ipv4_src || address == field::ipv4_dst; }
std::uint16_t type_of(field address) {
  return is_ipv4(address) ? net::ethertype_ipv4 : net::ethertype_ipv6;
}

/// All that prefixes may ask of a packet, so that any of them can be compared with, too, and trains
/// are told apart by it: one of length 0 asks for the type alone.
void add_prefix_examples(const decomposition& by, std::vector<match>& examples) {
  for (const field each : by.prefixes) {
    const match_term type = exact(field::eth_type, type_of(each));
    for (auto& terms : {std::vector{type}, std::vector{type, exact(each, 0)}}) {
      auto made = match::make(terms);
      COUA_CHECK(made.has_value());
      examples.push_back(std::move(*made));
    }
  }
}

/// False: their values take more than a flow table's key has.
bool set_layouts(const leaves& of, decomposition& by) {
  if (!exact_store::takes(of.layout)) return false;
  by.values = of.layout;
  std::vector<match> examples = of.examples;
  add_prefix_examples(by, examples);
  by.whole = key_layout::of(examples, key_layout::width::fields);
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
  std::size_t n_groups = 0, n_compared = 0, in_prefixes = 0;
  for (const auto& [values, size] : sets.sizes) {
    if (!by.prefixes.empty() && size > decomposition::set_rules_max) {
      in_prefixes += size;
      continue;
    }
    n_groups += (size + simd::set_match::group - 1) / simd::set_match::group;
    ++n_compared;
  }
  const auto n_words = static_cast<unsigned>(std::popcount(by.words_left));
  const double share =
      sets.n_rules == 0 ? 0 : static_cast<double>(in_prefixes) / static_cast<double>(sets.n_rules);
  const double ns = 45 + share * ns_of_prefixes(in_prefixes) +
                    (1 - share) * ns_of_lines(n_groups * (n_words + 1), n_compared);
  const std::size_t n_apart = n_rules - sets.n_rules;
  return {static_cast<unsigned>(ns) + 4 * static_cast<unsigned>((n_apart + 7) / 8),
          ns_of_classifier(n_rules, n_masks)};
}

/// The address that a rule has a mask of; none: it has none, or one that is a column.
std::optional<field> address_of(const match& of, const decomposition& by) {
  for (const field each : {field::ipv4_dst, field::ipv4_src, field::ipv6_dst, field::ipv6_src}) {
    const match_term* const term = of.find(each);
    if (term != nullptr && std::find(by.columns.begin(), by.columns.end(),
                                     split_column{each, term->mask}) == by.columns.end()) {
      return each;
    }
  }
  return std::nullopt;
}

/// The first of the rules that have masks of addresses say of which, and rather those of large
/// sets.
void choose_prefixes(const rule_list& rules, const leaves& sets, decomposition& by) {
  for (const bool of_large : {true, false}) {
    for (const rule* each : rules) {
      const auto address = address_of(each->match, by);
      if (!address) continue;
      const bool is_chosen = std::any_of(by.prefixes.begin(), by.prefixes.end(), [&](field one) {
        return is_ipv4(one) == is_ipv4(*address);
      });
      if (is_chosen) continue;
      const std::optional<match> values = by.values_of(each->match);
      if (!values || !sets.sizes.contains(*values)) continue;
      if (sets.is_large(*values) || !of_large) by.prefixes.push_back(*address);
    }
  }
}

/// Whether sets that are too large to be compared with are prefixes, but for a few rules; `by` gets
/// of what. Empty: they are.
std::string why_no_prefixes(const rule_list& rules, const leaves& sets, std::size_t n_apart,
                            decomposition& by) {
  choose_prefixes(rules, sets, by);
  sets_as_prefixes large;
  for (const rule* each : rules) {
    std::optional<match> values = by.values_of(each->match);
    if (values && sets.is_large(*values)) large[std::move(*values)].add(by, *each);
  }
  const auto too_large = [&](std::size_t n_rules, const std::string& why = {}) {
    return number(n_rules) + " rules have the same " + by.to_string() +
           (why.empty() ? "" : ", and " + why);
  };
  if (std::any_of(rules.begin(), rules.end(),
                  [](const rule* each) { return each->id >= recorded_ids; })) {
    return too_large(sets.largest, "too many were added to tell which is older");
  }
  const auto most_others = std::max_element(
      large.begin(), large.end(),
      [](const auto& a, const auto& b) { return a.second.n_others() < b.second.n_others(); });
  for (const auto& [values, set] : large) n_apart += set.n_others();
  if (n_apart > decomposition::apart_max(rules.size())) {
    by.prefixes.clear();
    return too_large(most_others->second.n_rules());
  }
  for (const auto& [values, set] : large) {
    const auto most = set.find_most();
    const std::string why =
        most.of == nullptr ? "none is a prefix of an address" : most.of->why_not_all();
    if (!why.empty()) return too_large(set.n_rules(), why);
  }
  return {};
}

/// Empty: it is good, with its layouts.
std::string why_not(const rule_list& rules, std::size_t n_masks, decomposition& by) {
  const leaves sets = sets_of(by, rules);
  const std::size_t n_apart = rules.size() - sets.n_rules;
  if (n_apart > decomposition::apart_max(rules.size())) {
    return number(n_apart) + " rules are apart of " + by.to_string();
  }
  if (sets.largest > decomposition::set_rules_max) {
    if (std::string why = why_no_prefixes(rules, sets, n_apart, by); !why.empty()) return why;
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
bool still_pays(const rule_list& rules, std::size_t n_masks, const decomposition& by) {
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

std::optional<field> decomposition::prefix_of(const match& rule) const {
  const auto type = rule.exact_value(field::eth_type);
  if (!type) return std::nullopt;
  const auto which = std::find_if(prefixes.begin(), prefixes.end(),
                                  [&](field each) { return *type == type_of(each); });
  if (which == prefixes.end()) return std::nullopt;
  const bool asks_more =
      std::any_of(rule.terms().begin(), rule.terms().end(), [&](const match_term& term) {
        if (term.which == field::eth_type) return false;
        if (term.which == *which) return !prefix_length(term.mask, info(*which).n_bits);
        return std::find(columns.begin(), columns.end(), split_column{term.which, term.mask}) ==
               columns.end();
      });
  return asks_more ? std::nullopt : std::optional(*which);
}

void prefixes_of_set::add(const decomposition& by, const rule& one) {
  ++n_rules_;
  const std::size_t n_rows = most_ways(one.match);
  n_rows_ += n_rows;
  const std::optional<field> which = by.prefix_of(one.match);
  if (!which) return;
  auto at = std::find_if(parts_.begin(), parts_.end(),
                         [&](const part& each) { return each.shape.which() == *which; });
  if (at == parts_.end()) at = parts_.insert(at, {prefix_shape(*which)});
  at->shape.add(one, n_rows);
  ++at->n;
}

prefixes_of_set::most prefixes_of_set::find_most() const {
  most found;
  for (const part& each : parts_) {
    if (each.n > found.n) found = {&each.shape, each.n};
  }
  return found;
}

std::string decomposition::to_string() const {
  const auto is_presupposed = [this](field which) {
    if (which != field::eth_type && which != field::ip_proto) return false;
    const prerequisite least = which == field::eth_type ? prerequisite::mpls : prerequisite::tcp;
    return std::any_of(columns.begin(), columns.end(), [least](const split_column& each) {
      return info(each.which).needs >= least;
    });
  };
  std::string text;
  for (const split_column& each : columns) {
    if (is_presupposed(each.which)) continue;
    text += (text.empty() ? "" : ", ") + std::string(info(each.which).name);
  }
  return text;
}

decompose_answer decompose(const rule_table& rules, std::size_t n_masks,
                           std::shared_ptr<const decomposition> has) {
  const rule_list all = rules_of(rules);
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
  std::string why = by.columns.empty() ? "" : why_not(all, n_masks, by);
  if (only_types && by.prefixes.empty()) {
    return {nullptr, why_no_columns(by.columns, decomposition::apart_max(all.size()))};
  }
  if (!why.empty()) return {nullptr, std::move(why)};
  return {std::make_shared<const decomposition>(std::move(by)), {}};
}

}  // namespace coua::pipeline
