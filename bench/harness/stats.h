// SPDX-License-Identifier: Apache-2.0
//
// The statistics of a benchmark on a machine that is never quite idle: medians, because a
// disturbance is an outlier and not a shift, and the median absolute deviation as their spread.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace coua::bench {

/// Middle value; the mean of the two middle ones for an even count; 0 for none.
double median(std::span<const double> values);

/// Median absolute deviation from the median; 0 for fewer than two values.
double median_absolute_deviation(std::span<const double> values);

struct summary {
  double median = 0;
  /// Median absolute deviation, as a share of the median; nothing of fewer than two values.
  std::optional<double> spread;
};
summary summarise(std::span<const double> values);

/// Ratios with[i] / without[i] of windows that ran next to each other: what slowly changes on the
/// machine (clock, neighbours) hits both and cancels. Pairs with a zero are left out.
summary paired_ratio(std::span<const double> with, std::span<const double> without);

}  // namespace coua::bench
