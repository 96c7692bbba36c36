// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "bench/rules/rule_set.h"

namespace coua::bench {

/// How many rules match the keys of so many flows; a default rule, which matches all, is not
/// counted.
struct overlap {
  std::uint64_t flows = 0;
  double by_many = 0;  // share of them that more than one rule matches
  double mean = 0;     // rules that match a flow
};

/// Over flows as of make_flows. Errors: its.
result<overlap> sample_overlap(const five_tuple_set&, std::uint64_t flows, std::uint64_t seed);
result<overlap> sample_overlap(const wide_set&, std::uint64_t flows, std::uint64_t seed);

}  // namespace coua::bench
