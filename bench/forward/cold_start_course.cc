// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/cold_start_course.h"

#include <algorithm>
#include <cmath>

#include "bench/harness/peer_field.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

double between(double from, double to, double share) { return from + share * (to - from); }

/// Of window i, a number for each turn.
template <typename Read>
std::vector<double> by_turn(const cold_course& of, std::size_t i, Read read) {
  std::vector<double> out;
  out.reserve(of.turns.size());
  for (const auto& at : of.turns) out.push_back(read(at[i - 1], at[i]));
  return out;
}

double so_far(const snapshot& /*from*/, const snapshot& to) { return to.packets; }

}  // namespace

snapshot at_end(const snapshot& before, const snapshot& after, double seconds) {
  const double apart = after.seconds - before.seconds;
  const double share = apart > 0 ? (seconds - before.seconds) / apart : 1;
  return {seconds, between(before.packets, after.packets, share),
          between(before.misses, after.misses, share)};
}

std::vector<snapshot> at_ends(const std::vector<snapshot>& looks, unsigned windows,
                              double seconds) {
  std::vector<snapshot> made(1);
  for (unsigned i = 1; i <= windows; ++i) {
    const double end = i * seconds;
    const auto after = std::find_if(looks.begin() + 1, looks.end() - 1,
                                    [&](const snapshot& one) { return one.seconds >= end; });
    made.push_back(at_end(*(after - 1), *after, end));
  }
  return made;
}

std::vector<row> make_rows(const cold_course& of, const std::vector<cold_course>& peers,
                           const json& params, unsigned workers) {
  std::vector<row> out;
  const std::size_t ends = of.turns.front().size();
  for (std::size_t i = 1; i < ends; ++i) {
    row made;
    made.name = of.name;
    made.params = params;
    const double end = of.turns.front()[i].seconds;
    made.params["second"] = std::round(end * 1e6) / 1e6;  // 0.9, not 0.8999999
    const summary rate = summarise(by_turn(of, i, [](const snapshot& from, const snapshot& to) {
      return (to.packets - from.packets) / (to.seconds - from.seconds) / 1e6;
    }));
    made.set_rate(rate.median, workers);
    made.spread = rate.spread;
    const std::vector<double> packets = by_turn(of, i, so_far);
    made.more["packets"] = std::round(median(packets));
    for (const cold_course& peer : peers) {
      const summary ratio = paired_ratio(packets, by_turn(peer, i, so_far));
      if (ratio.median <= 0) continue;  // one of the two sent nothing
      const std::string field = peer_field("ratio_to", peer.name);
      made.more[field] = ratio.median;
      made.put(field + "_spread", ratio.spread);
    }
    if (of.name != "coua") {
      made.more["misses"] =
          std::round(median(by_turn(of, i, [](const snapshot& from, const snapshot& to) {
            return to.misses - from.misses;
          })));
    }
    if (i + 1 == ends) made.more["cpu_seconds"] = median(of.cpu_seconds);
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace coua::bench
