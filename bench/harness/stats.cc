// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/stats.h"

#include <algorithm>
#include <cmath>

namespace coua::bench {

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

double median_absolute_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::fabs(value - centre));
  return median(deviations);
}

summary summarise(std::span<const double> values) {
  const double centre = median(values);
  if (values.size() < 2) return {centre, std::nullopt};
  return {centre, centre == 0 ? 0 : median_absolute_deviation(values) / std::fabs(centre)};
}

summary paired_ratio(std::span<const double> with, std::span<const double> without) {
  std::vector<double> ratios;
  const std::size_t pairs = std::min(with.size(), without.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    if (without[i] > 0 && with[i] > 0) ratios.push_back(with[i] / without[i]);
  }
  return summarise(ratios);
}

}  // namespace coua::bench
