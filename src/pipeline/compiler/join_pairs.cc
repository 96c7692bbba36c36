// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/join_pairs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include "net/ethernet.h"
#include "pipeline/model/conjunction.h"

namespace coua::pipeline {
namespace {

bool is_plain(const action& one) {
  return std::visit(overloaded{
                        [](const act::output& a) { return is_standard_port(a.port); },
                        [](const act::set_field&) { return true; },
                        [](const act::push_vlan&) { return true; },
                        [](const act::pop_vlan&) { return true; },
                        [](const auto&) { return false; },
                    },
                    one);
}
bool are_plain(const std::optional<action_list>& list) {
  return !list || std::all_of(list->begin(), list->end(), is_plain);
}

/// It leads on, and another table sees of the packet what it can see now, but for what is set.
bool may_be_first(const rule& one) {
  const instructions& what = one.instructions;
  const bool pushes =
      what.apply && std::any_of(what.apply->begin(), what.apply->end(), [](const action& each) {
        return std::holds_alternative<act::push_vlan>(each);
      });
  return what.goto_table && !what.meter && !what.write && !what.clear_actions && !what.metadata &&
         !pushes && are_plain(what.apply);
}
bool may_be_second(const rule& one) {
  const instructions& what = one.instructions;
  return !what.meter && are_plain(what.apply) && are_plain(what.write);
}

/// Behind more tags than are followed stands the type of a tag; with one tag less, another one.
bool is_seen_through_tags(const match& asked) {
  const match_term* const type = asked.find(field::eth_type);
  return type == nullptr ||
         (type->mask == full_mask(field::eth_type) && type->value != net::ethertype_vlan &&
          type->value != net::ethertype_qinq);
}

/// Some action changes what the match asks for.
bool changes(const action_list& list, const match& asked) {
  return std::any_of(list.begin(), list.end(), [&asked](const action& one) {
    if (const auto* set = std::get_if<act::set_field>(&one)) {
      return asked.find(set->which) != nullptr;
    }
    return std::holds_alternative<act::pop_vlan>(one) &&
           (asked.find(field::vlan_vid) != nullptr || asked.find(field::vlan_pcp) != nullptr ||
            !is_seen_through_tags(asked));
  });
}

/// Of packets that both take. None: there are none.
std::optional<match> both(const match& one, const match& other) {
  std::vector<match_term> terms = one.terms();
  for (const match_term& term : other.terms()) {
    const auto same = std::find_if(terms.begin(), terms.end(), [&term](const match_term& each) {
      return each.which == term.which;
    });
    if (same == terms.end()) {
      terms.push_back(term);
      continue;
    }
    if (((same->value ^ term.value) & same->mask & term.mask) != 0) return std::nullopt;
    same->value |= term.value;
    same->mask |= term.mask;
  }
  auto made = match::make(std::move(terms));
  return made ? std::optional(std::move(*made)) : std::nullopt;
}

/// Of two matches that take the same bits, and do not ask for the same, no packet is of both.
using bits_taken = std::vector<std::pair<field, value128>>;
bits_taken bits_of(const match& what) {
  bits_taken made;
  for (const match_term& term : what.terms()) made.emplace_back(term.which, term.mask);
  return made;
}

/// With what a match says of where they stand.
using places_taken = std::pair<bits_taken, std::array<std::optional<value128>, 2>>;
places_taken places_of(const match& what) {
  return {bits_of(what), {what.exact_value(field::eth_type), what.exact_value(field::icmpv6_type)}};
}

/// The rules of a table, apart by whether their matches take the bits that most of them take.
struct sorted_rules {
  std::vector<const rule*> alike;   // of those with one match the highest
  std::vector<const rule*> others;  // whatever they are
};

std::vector<const rule*> rules_of(const rule_table& table) {
  std::vector<const rule*> made;
  table.each([&](const rule_table::entry& one) { made.push_back(one.rule.get()); });
  return made;
}

sorted_rules sort(const std::vector<const rule*>& rules) {
  std::map<bits_taken, std::vector<const rule*>> by_bits;
  for (const rule* one : rules) by_bits[bits_of(one->match)].push_back(one);
  const auto most = std::max_element(by_bits.begin(), by_bits.end(), [](auto& a, auto& b) {
    return a.second.size() < b.second.size();
  });
  sorted_rules made;
  struct hash {
    std::size_t operator()(const match* of) const { return of->hash(); }
  };
  struct equal {
    bool operator()(const match* a, const match* b) const { return *a == *b; }
  };
  std::unordered_map<const match*, const rule*, hash, equal> highest;
  for (auto& [bits, some] : by_bits) {
    if (&some != &most->second) {
      made.others.insert(made.others.end(), some.begin(), some.end());
      continue;
    }
    for (const rule* one : some) {  // the first of those that count alike is the older one
      const auto [at, is_new] = highest.try_emplace(&one->match, one);
      if (is_new) made.alike.push_back(one);
    }
  }
  return made;
}

/// A rule that may count instead of this one, of another match.
bool may_be_above(const rule& other, const rule& one) {
  return &other != &one && other.priority >= one.priority;
}

bool has_clauses(const std::vector<const rule*>& rules) {
  return std::any_of(rules.begin(), rules.end(), [](const rule* one) { return is_clause(*one); });
}

class pair_finder {
 public:
  pair_finder(const bridge& of, const std::function<bool(table_id)>& is_exact)
      : of_(of), is_exact_(is_exact) {}

  std::vector<joined_pair> run() {
    const std::vector<const rule*> first = rules_of(of_.tables()[0]);
    if (has_clauses(first)) return {};
    for (const rule* one : first) {
      if (!may_be_first(*one)) continue;
      std::vector<const rule*> above;
      for (const rule* other : first) {
        if (may_be_above(*other, *one) && other->match.overlaps(one->match)) above.push_back(other);
      }
      if (above.size() <= join_limits::above_max) join_with_next(*one, above);
    }
    const auto most = std::max_element(found_.begin(), found_.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    return most == found_.end() ? std::vector<joined_pair>() : std::move(most->second);
  }

 private:
  /// Rules of a table that may be second ones, none of which has another one above itself. They are
  /// looked for once.
  const std::vector<const rule*>& next_rules(table_id id) {
    const auto [at, is_new] = next_.try_emplace(id);
    const rule_table& table = of_.tables()[id];
    if (!is_new || !is_exact_(id) || !try_some(join_limits::tries_of_rule * table.size())) {
      return at->second;
    }
    const std::vector<const rule*> rules = rules_of(table);
    if (has_clauses(rules)) return at->second;
    sorted_rules sorted = sort(rules);
    if (sorted.others.size() > join_limits::above_max) return at->second;
    std::erase_if(sorted.alike, [&sorted](const rule* one) {
      return !may_be_second(*one) ||
             std::any_of(sorted.others.begin(), sorted.others.end(), [one](const rule* other) {
               return may_be_above(*other, *one) && other->match.overlaps(one->match);
             });
    });
    at->second = std::move(sorted.alike);
    return at->second;
  }
  bool try_some(std::size_t n) {
    if (n > join_limits::tries_max - n_tried_) return false;
    n_tried_ += n;
    return true;
  }

  void join_with_next(const rule& first, const std::vector<const rule*>& above) {
    const std::vector<const rule*>& next = next_rules(*first.instructions.goto_table);
    if (!try_some(next.size())) return;
    std::vector<const rule*> some;
    for (const rule* then : next) {
      if (first.match.overlaps(then->match)) some.push_back(then);
    }
    if (some.size() > join_limits::pairs_max - n_) return;
    if (!try_some(join_limits::tries_of_rule * some.size())) return;
    std::vector<joined_pair> pairs;
    for (const rule* then : some) {
      if (first.instructions.apply && changes(*first.instructions.apply, then->match)) continue;
      std::optional<match> made = both(first.match, then->match);
      if (!made) continue;
      const bool is_below = std::any_of(above.begin(), above.end(), [&made](const rule* other) {
        return other->match.overlaps(*made);
      });
      if (!is_below) pairs.push_back({&first, then, std::move(*made)});
    }
    n_ += pairs.size();
    for (joined_pair& each : pairs) found_[places_of(each.match)].push_back(std::move(each));
  }

  const bridge& of_;
  const std::function<bool(table_id)>& is_exact_;
  std::map<table_id, std::vector<const rule*>> next_;
  std::map<places_taken, std::vector<joined_pair>> found_;
  std::size_t n_ = 0, n_tried_ = 0;
};

}  // namespace

bool may_be_joined(const bridge& of) {
  const std::size_t n = of.tables()[0].size();
  return n != 0 && n <= join_limits::first_max;
}

std::vector<joined_pair> pairs_to_join(const bridge& of,
                                       const std::function<bool(table_id)>& is_exact) {
  return may_be_joined(of) ? pair_finder(of, is_exact).run() : std::vector<joined_pair>();
}

instructions join(const instructions& first, const instructions& then) {
  instructions made = then;
  if (first.apply) {
    made.apply = *first.apply;
    if (then.apply) made.apply->insert(made.apply->end(), then.apply->begin(), then.apply->end());
  }
  return made;
}

}  // namespace coua::pipeline
