// SPDX-License-Identifier: Apache-2.0
//
// What a writer costs: windows in pairs, one with the writer at work and one without, next to each
// other, so that whatever slowly changes on the machine hits both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/harness/churn.h"
#include "bench/harness/options.h"
#include "bench/harness/report.h"
#include "bench/harness/stats.h"

namespace coua::bench {

struct churn_pairs {
  std::vector<double> with, without;  // rates, by pair
  double updates_per_s = 0;           // while the writer was at work

  summary rate() const { return summarise(with); }
  /// The further fields of a row that has this rate: null is not known.
  json fields() const;
};

/// How long each window of a pair is.
double pair_seconds(const run_options&);

/// `prepare(pair)` goes before each pair, `window()` measures one rate. Errors: of a window;
/// no_room (names `owner`) when the writer's target refused or lost entries.
result<churn_pairs> run_churn_pairs(churn& writer, unsigned pairs, const std::string& owner,
                                    const std::function<void(unsigned)>& prepare,
                                    const std::function<result<double>()>& window);

}  // namespace coua::bench
