// SPDX-License-Identifier: Apache-2.0
#include "classify/below_search.h"

#include <algorithm>
#include <bit>

namespace coua {
namespace {

constexpr unsigned n_together = 8;  // subtables whose buckets travel at once

}  // namespace

std::optional<std::uint64_t> below_search::run(const subtable_list& list,
                                               const std::uint64_t* words,
                                               std::uint32_t priority) const noexcept {
  std::optional<std::uint64_t> best;
  const auto take = [&](std::uint64_t answer) {
    if (!best || priority_of(answer) > priority_of(*best)) best = answer;
  };
  for (std::size_t first = 0; first < list.places.size(); first += n_together) {
    // The others are no higher.
    if (best && list.places[first].highest <= priority_of(*best)) break;
    std::uint64_t keys[n_together][compact_mask::max];
    simd::flow_probe probes[n_together];
    simd::flow_probe_value values[n_together];
    const auto n =
        static_cast<unsigned>(std::min<std::size_t>(n_together, list.places.size() - first));
    for (unsigned i = 0; i < n; ++i) {
      const subtable_face& face = *list.places[first + i].face;
      face.mask.take(words, keys[i]);
      probes[i] = {&face.view, keys[i], hash_(keys[i], face.mask.n())};
      simd::fetch_probe(probes[i]);
    }
    for (std::uint64_t left = probe_(probes, n, values); left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      const std::uint64_t shown = values[i].words[0];
      if (priority_of(shown) < priority) {
        take(shown);
      } else if (const auto hidden = list.places[first + i].face->hidden->best_below(
                     keys[i], probes[i].hash, priority)) {
        take(*hidden);
      }
    }
  }
  return best;
}

}  // namespace coua
