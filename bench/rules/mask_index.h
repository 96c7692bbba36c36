// SPDX-License-Identifier: Apache-2.0
//
// Finds the rules that match a key, or that contain another rule, without looking at all of them:
// one hash table for each distinct mask. It serves the making and checking of sets and traces,
// where it only has to be fast enough; what it nominates is compared with the rule itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace coua::bench {

/// `Rule` has hashed_mask(), hashed_value(), words_of(key), matches(key), contains(rule) and
/// same_match(rule). The rules must stay where they are, and grow by add() alone.
template <typename Rule>
class mask_index {
 public:
  using words = typename Rule::words;
  using key_type = typename Rule::key_type;

  explicit mask_index(const std::vector<Rule>& rules) : rules_(rules) {
    for (std::size_t i = 0; i < rules.size(); ++i) add(i);
  }

  /// Rule `i` of the vector joins.
  void add(std::size_t i) {
    const words mask = rules_[i].hashed_mask();
    const auto [place, is_new] = numbers_.try_emplace(mask, groups_.size());
    if (is_new) groups_.push_back({mask, {}});
    next_.resize(i + 1, none);
    std::uint32_t& head = groups_[place->second]
                              .heads.try_emplace(hash(rules_[i].hashed_value()), none)
                              .first->second;
    next_[i] = head;
    head = static_cast<std::uint32_t>(i);
  }

  /// Whether a rule of the index has the same match.
  bool has(const Rule& rule) const {
    const auto place = numbers_.find(rule.hashed_mask());
    if (place == numbers_.end()) return false;
    bool found = false;
    visit(groups_[place->second], rule.hashed_value(),
          [&](const Rule& other, std::size_t) { found = found || other.same_match(rule); });
    return found;
  }

  /// Calls use(i) for each rule that matches.
  template <typename Use>
  void for_matches(const key_type& key, Use use) const {
    const words& value = Rule::words_of(key);
    for (const group& each : groups_) {
      visit(each, value, [&](const Rule& rule, std::size_t i) {
        if (rule.matches(key)) use(i);
      });
    }
  }

  /// Calls use(i) for each rule that contains this one, which may be one of them.
  template <typename Use>
  void for_containers(const Rule& inner, Use use) const {
    const words mask = inner.hashed_mask(), value = inner.hashed_value();
    for (const group& each : groups_) {
      bool wider = true;
      for (std::size_t w = 0; w < mask.size(); ++w) wider = wider && (each.mask[w] & ~mask[w]) == 0;
      if (!wider) continue;
      visit(each, value, [&](const Rule& rule, std::size_t i) {
        if (rule.contains(inner)) use(i);
      });
    }
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct group {
    words mask;
    std::unordered_map<std::uint64_t, std::uint32_t> heads;  // of a chain in next_, by hash
  };

  static std::uint64_t hash(const words& value) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : value) {
      sum = (sum ^ word) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 29;
    }
    return sum;
  }

  template <typename Use>
  void visit(const group& within, const words& value, Use use) const {
    words masked = value;
    for (std::size_t w = 0; w < masked.size(); ++w) masked[w] &= within.mask[w];
    const auto head = within.heads.find(hash(masked));
    if (head == within.heads.end()) return;
    for (std::uint32_t i = head->second; i != none; i = next_[i]) use(rules_[i], i);
  }

  const std::vector<Rule>& rules_;
  std::vector<group> groups_;
  std::map<words, std::size_t> numbers_;  // of the groups
  std::vector<std::uint32_t> next_;
};

}  // namespace coua::bench
