// SPDX-License-Identifier: Apache-2.0
//
// Classifiers for tests: handles that destroy themselves, rules as values, and the linear list of
// rules that a classifier must agree with.
#pragma once

#include <coua/classifier.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
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
  std::optional<std::uint32_t> best_priority(const std::uint8_t* packet) const {
    std::optional<std::uint32_t> best;
    for (const rule& one : rules_) {
      if (one.matches(packet) && (!best || one.priority > *best)) best = one.priority;
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

struct destroy_classifier {
  void operator()(coua_classifier* classifier) const { coua_classifier_destroy(classifier); }
};
using classifier_ptr = std::unique_ptr<coua_classifier, destroy_classifier>;

inline classifier_ptr make_classifier(const coua_classifier_params& params) {
  coua_classifier* made = nullptr;
  char message[200] = "";
  EXPECT_EQ(coua_classifier_create(&params, &made, message, sizeof message), 0) << message;
  return classifier_ptr(made);
}
inline coua_classifier_params classifier_params(std::uint32_t key_bytes,
                                                enum coua_classifier_distributor distributor) {
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.key_bytes = key_bytes;
  params.distributor = distributor;
  params.flows = 4096;
  return params;
}

/// Of the classifier; destroyed with it.
inline coua_classifier_reader* reader_of(const classifier_ptr& classifier) {
  coua_classifier_reader* reader = nullptr;
  EXPECT_EQ(coua_classifier_reader_create(classifier.get(), &reader), 0);
  return reader;
}

inline int add(const classifier_ptr& classifier, const rule& one) {
  return coua_classifier_add(classifier.get(), one.key.data(), one.mask.data(), one.priority,
                             one.value);
}
inline int remove(const classifier_ptr& classifier, const rule& one) {
  return coua_classifier_remove(classifier.get(), one.key.data(), one.mask.data(), one.priority);
}
inline coua_classifier_stats stats_of(const classifier_ptr& classifier) {
  coua_classifier_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(coua_classifier_get_stats(classifier.get(), &stats), 0);
  return stats;
}
inline coua_classifier_reader_stats stats_of(const coua_classifier_reader* reader) {
  coua_classifier_reader_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(coua_classifier_get_reader_stats(reader, &stats), 0);
  return stats;
}

}  // namespace coua::test
