// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/overlap.h"

#include "bench/rules/flows.h"
#include "bench/rules/mask_index.h"

namespace coua::bench {
namespace {

template <typename Rule>
result<overlap> sample(const rule_set<Rule>& set, std::uint64_t flows, std::uint64_t seed) {
  const result<flow_list> sampled = make_flows(set, {flows, 0, seed});
  if (!sampled) return tl::unexpected(sampled.error());
  const mask_index<Rule> index(set.rules);
  std::uint64_t by_many = 0, matches = 0;
  for (std::uint64_t i = 0; i < flows; ++i) {
    typename Rule::key_type key;
    get_key(sampled->key(i), key);
    std::uint64_t found = 0;
    index.for_matches(key, [&](std::size_t) { ++found; });
    found -= set.ends_in_default ? 1 : 0;
    by_many += found > 1 ? 1 : 0;
    matches += found;
  }
  const auto all = static_cast<double>(flows);
  return overlap{flows, static_cast<double>(by_many) / all, static_cast<double>(matches) / all};
}

}  // namespace

result<overlap> sample_overlap(const five_tuple_set& set, std::uint64_t flows, std::uint64_t seed) {
  return sample(set, flows, seed);
}

result<overlap> sample_overlap(const wide_set& set, std::uint64_t flows, std::uint64_t seed) {
  return sample(set, flows, seed);
}

}  // namespace coua::bench
