// SPDX-License-Identifier: Apache-2.0
//
// Rules as values, and the linear list of rules that a classifier must agree with.
#pragma once

#include <coua/classifier.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace coua::test {

using byte_string = std::vector<std::uint8_t>;

struct rule {
  byte_string key, mask;
  std::uint32_t priority = 0, value = 0;

  bool is_same(const rule& other) const {
    return key == other.key && mask == other.mask && priority == other.priority;
  }
  bool matches(const std::uint8_t* packet) const {
    for (std::size_t i = 0; i < key.size(); ++i) {
      if ((packet[i] & mask[i]) != key[i]) return false;
    }
    return true;
  }
};

/// What a classifier does, done in the plainest way.
class linear_rules {
 public:
  /// True when it is new.
  bool add(const rule& added) {
    for (rule& one : rules_) {
      if (!one.is_same(added)) continue;
      one.value = added.value;
      return false;
    }
    rules_.push_back(added);
    return true;
  }
  bool remove(const rule& removed) {
    return std::erase_if(rules_, [&](const rule& one) { return one.is_same(removed); }) != 0;
  }
  const std::vector<rule>& all() const { return rules_; }
  /// The same but for its value; null if there is none.
  const rule* find(const rule& wanted) const {
    for (const rule& one : rules_) {
      if (one.is_same(wanted)) return &one;
    }
    return nullptr;
  }
  std::optional<std::uint32_t> best_priority(const std::uint8_t* packet) const {
    std::optional<std::uint32_t> best;
    for (const rule& one : rules_) {
      if ((!best || one.priority > *best) && one.matches(packet)) best = one.priority;
    }
    return best;
  }
  bool has(const std::uint8_t* packet, const coua_classifier_answer& answer) const {
    for (const rule& one : rules_) {
      if (one.priority == answer.priority && one.value == answer.value && one.matches(packet)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<rule> rules_;
};

}  // namespace coua::test
