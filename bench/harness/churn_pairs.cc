// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/churn_pairs.h"

#include <algorithm>

#include "base/clock.h"

namespace coua::bench {
namespace {

constexpr double most_pair_seconds = 0.1;

}  // namespace

json churn_pairs::fields() const {
  const summary ratio = paired_ratio(with, without);
  return {{"ratio_to_none", ratio.median},
          {"ratio_spread", or_null(ratio.spread)},
          {"none_mops", median(without)},
          {"updates_per_s", updates_per_s},
          {"pairs", with.size()}};
}

double pair_seconds(const run_options& run) { return std::min(run.seconds, most_pair_seconds); }

result<churn_pairs> run_churn_pairs(churn& writer, unsigned pairs, const std::string& owner,
                                    const std::function<void(unsigned)>& prepare,
                                    const std::function<result<double>()>& window) {
  churn_pairs out;
  std::uint64_t updates = 0;
  double updated_s = 0;
  for (unsigned pair = 0; pair < pairs; ++pair) {
    prepare(pair);
    // Which one comes first alternates too.
    for (const bool on : {pair % 2 == 0, pair % 2 != 0}) {
      if (on) writer.start();
      const std::uint64_t before = writer.done(), start = now_ns();
      const result<double> rate = window();
      if (on) {
        updates += writer.done() - before;
        updated_s += static_cast<double>(now_ns() - start) / 1e9;
        writer.pause();
      }
      if (!rate) return tl::unexpected(rate.error());
      (on ? out.with : out.without).push_back(*rate);
    }
  }
  if (writer.failed() != 0) {
    return fail(errc::no_room, owner,
                std::to_string(writer.failed()) + " inserts or erases were refused or lost");
  }
  out.updates_per_s = static_cast<double>(updates) / updated_s;
  return out;
}

}  // namespace coua::bench
