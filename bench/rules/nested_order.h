// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/harness/population.h"
#include "bench/rules/mask_index.h"

namespace coua::bench {

/// Brings the rules into a random order in which no rule comes before one that it contains, so that
/// every rule could be the best match of some key as far as the rules above it that contain it are
/// concerned; then numbers them, and gives the first the highest priority.
///
/// Every rule draws a place; from the narrowest to the broadest, each pushes those that contain it
/// behind its own.
template <typename Rule>
void order_nested(std::vector<Rule>& rules, random_words& random) {
  struct place {
    std::uint64_t at;
    double breadth;
    std::size_t rule;
  };
  std::vector<place> places;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    places.push_back({random() >> 1, rules[i].breadth(), i});
  }
  std::vector<std::size_t> narrow_first(rules.size());
  std::iota(narrow_first.begin(), narrow_first.end(), std::size_t{0});
  std::stable_sort(narrow_first.begin(), narrow_first.end(), [&](std::size_t a, std::size_t b) {
    return places[a].breadth < places[b].breadth;
  });
  const mask_index<Rule> index(rules);
  for (const std::size_t inner : narrow_first) {
    index.for_containers(rules[inner], [&](std::size_t outer) {
      places[outer].at = std::max(places[outer].at, places[inner].at);
    });
  }
  std::stable_sort(places.begin(), places.end(), [](const place& a, const place& b) {
    return a.at != b.at ? a.at < b.at : a.breadth < b.breadth;
  });
  std::vector<Rule> ordered;
  for (const place& each : places) ordered.push_back(rules[each.rule]);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    ordered[i].number = static_cast<std::uint32_t>(i);
    ordered[i].priority = static_cast<std::uint32_t>(ordered.size() - i);
  }
  rules = std::move(ordered);
}

}  // namespace coua::bench
