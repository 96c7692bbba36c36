// SPDX-License-Identifier: Apache-2.0
#include "bench/classify/rule_source.h"

#include <algorithm>

#include "bench/rules/five_tuple_set.h"
#include "bench/rules/mask_index.h"
#include "bench/rules/mask_set.h"
#include "bench/rules/wide_set.h"

namespace coua::bench {
namespace {

template <typename Rule>
result<void> take(rule_source& out, const rule_set<Rule>& set, const flow_list& flows) {
  out.ternary = expand(set);
  out.n_rules = set.rules.size();
  out.n_masks = distinct_masks(out.ternary);
  out.entries = flows.size();
  out.keys.assign(flows.keys(), flows.keys() + flows.size() * flows.key_bytes());
  const mask_index<Rule> index(set.rules);
  out.priorities.resize(flows.size());
  for (std::uint64_t i = 0; i < flows.size(); ++i) {
    typename Rule::key_type key;
    get_key(flows.key(i), key);
    bool any = false;
    index.for_matches(key, [&](std::size_t rule) {
      any = true;
      out.priorities[i] = std::max(out.priorities[i], set.rules[rule].priority);
    });
    if (any != (flows.rule(i) != no_rule)) {
      return fail(errc::io, "flows", "one matches what it should not: the generator is wrong");
    }
    if (!any) out.priorities[i] = rule_source::miss;
  }
  return {};
}

template <typename Rule>
result<void> make_flows_for(rule_source& out, const rule_set<Rule>& set,
                            const rule_source_params& asked) {
  flow_params params;
  params.flows = asked.flows;
  params.misses = static_cast<double>(asked.miss_percent) / 100;
  params.seed = asked.seed;
  auto flows = make_flows(set, params);
  if (!flows) return tl::unexpected(flows.error());
  return take(out, set, *flows);
}

}  // namespace

void rule_source::make_distinct() {
  ternary_entry broadcast;
  std::fill_n(broadcast.mask.begin(), ternary.key_bytes, 0xff);
  std::fill_n(broadcast.key.begin(), ternary.key_bytes, 0xff);
  broadcast.rule = UINT32_MAX;
  ternary.entries.push_back(broadcast);
  ++n_masks;
}

result<rule_source> make_rule_source(const rule_source_params& asked) {
  rule_source out;
  out.kind = asked.kind;
  out.first_percent = asked.first_percent;
  const rule_set_params rules{asked.size, asked.seed, asked.miss_percent == 0};
  result<void> done;
  if (asked.kind == "openflow") {
    const auto set = make_wide_set(rules);
    if (!set) return tl::unexpected(set.error());
    done = make_flows_for(out, *set, asked);
  } else if (asked.kind == "masks") {
    auto set = make_mask_set(asked.size);
    if (!set) return tl::unexpected(set.error());
    const auto list = make_mask_flows(*set, asked.flows, asked.miss_percent);
    if (!list) return tl::unexpected(list.error());
    for (std::uint32_t i = 0; i < list->size(); ++i) {
      if (list->rule(i) == 0) out.first_flows.push_back(i);
    }
    done = take(out, *set, *list);
    out.five_tuples = std::move(*set);
  } else {
    const seed_figures& figures = asked.kind == "acl"  ? acl_figures()
                                  : asked.kind == "fw" ? fw_figures()
                                                       : ipc_figures();
    auto set = make_five_tuple_set(figures, rules);
    if (!set) return tl::unexpected(set.error());
    done = make_flows_for(out, *set, asked);
    out.five_tuples = std::move(*set);
  }
  if (!done) return tl::unexpected(done.error());
  return out;
}

}  // namespace coua::bench
