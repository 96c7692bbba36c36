// SPDX-License-Identifier: Apache-2.0
//
// Classifiers for tests: handles that destroy themselves, and calls that take rules as values.
#pragma once

#include <coua/classifier.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "linear_rules.h"

namespace coua::test {

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
