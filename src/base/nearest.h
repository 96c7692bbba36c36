// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": the known word that is nearest to a mistyped one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coua {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); j++) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); i++) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

/// The word of `known` nearest to `word`, or an empty text when none is near: at most a third of
/// the letters may differ, at least one and at most three. Words over 64 bytes are never near.
template <typename Words>
std::string nearest(std::string_view word, const Words& known) {
  if (word.size() > 64) return {};
  std::string best;
  std::size_t limit = std::clamp<std::size_t>(word.size() / 3, 1, 3) + 1;
  for (std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < limit) {
      limit = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace coua
