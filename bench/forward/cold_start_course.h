// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/harness/report.h"

namespace coua::bench {

/// What a switch says of itself at some moment.
struct snapshot {
  double seconds = 0;  // since the start
  double packets = 0;  // that left
  double misses = 0;   // that its slow path had to look at
};

/// A look takes time, and packets go on: what was there at `seconds` exactly, on the straight line
/// between two looks around it.
snapshot at_end(const snapshot& before, const snapshot& after, double seconds);

/// The start and the ends of so many windows of `seconds`. `looks` begin with the start, one comes
/// after each end at the earliest, and their times ascend: of the two around an end, as an answer
/// may take longer than a window.
std::vector<snapshot> at_ends(const std::vector<snapshot>& looks, unsigned windows, double seconds);

/// A switch from its first packet on, once for each time that it was started.
struct cold_course {
  std::string name;
  std::vector<std::vector<snapshot>> turns{};  // each as of at_ends()
  std::vector<double> cpu_seconds{};           // that its workers had in all windows, by turn
};

/// A row for each window, of medians over the turns, with the ratio to each peer: of packets so
/// far, turn by turn. All have the same turns, at least one, and windows.
std::vector<row> make_rows(const cold_course&, const std::vector<cold_course>& peers,
                           const json& params, unsigned workers);

}  // namespace coua::bench
