// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/forward/paced_source.h"
#include "bench/harness/report.h"
#include "bench/harness/time_histogram.h"

namespace coua::bench {

/// What was seen of a switch at one rate, window by window, and the row that comes of it.
class latency_entrant {
 public:
  explicit latency_entrant(std::string name) : name_(std::move(name)) {}

  /// A window at `mops`, which is a share of the peak. Returns whether a packet came back: one in
  /// which none did has no times, but all of its packets are lost.
  bool add(const paced_source::flood_result& peak, double mops, const paced_result& seen);
  /// A window in which, at the same rate, packets went from ring to ring without being switched.
  void add_raw(const paced_result& seen);

  const std::string& name() const { return name_; }
  /// A window has had times.
  bool has_times() const { return times_.count() != 0; }
  /// Median of its windows, in us.
  double mean_us() const;
  /// That without what raw I/O takes. Empty: one of the two was not measured.
  std::optional<double> datapath_us() const;
  /// Of its last window.
  double offered_mops() const { return offered_.back(); }

  /// With the parameters and the ratios to each peer; has_times().
  row make_row(const json& params, const std::vector<latency_entrant>& peers) const;

 private:
  std::string name_;
  // A number for each window; of the times only where there are any.
  std::vector<double> peak_, peak_refused_, offered_, received_mops_, mean_, p99_, p999_, raw_mean_;
  // Of all windows together.
  time_histogram times_;
  std::uint64_t sent_ = 0, received_ = 0, late_ = 0, not_sent_ = 0;
  std::uint64_t empty_windows_ = 0;
};

}  // namespace coua::bench
