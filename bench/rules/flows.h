// SPDX-License-Identifier: Apache-2.0
//
// Packets that match the rules of a set, as ClassBench's trace generator makes them (Taylor and
// Turner 2007): for each flow a rule is drawn, and a packet that it matches. (Theirs is a corner of
// the region that the rule describes; ours is anywhere in it, since a rule has too few corners for
// a million flows.) The rule is not always the best match. Flows are sent in any order, or with
// locality: in bursts whose lengths have a Pareto distribution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "bench/rules/rule_set.h"
#include "bench/rules/ternary.h"

namespace coua::bench {

inline constexpr std::uint32_t no_rule = UINT32_MAX;
inline constexpr std::uint64_t most_flows = std::uint64_t{1} << 24;

/// Different keys, one after the other, each with the number of a rule that matches it.
class flow_list {
 public:
  flow_list(std::size_t key_bytes, std::uint64_t flows)
      : key_bytes_(key_bytes), keys_(key_bytes * flows), rules_(flows, no_rule) {}

  std::size_t key_bytes() const { return key_bytes_; }
  std::uint64_t size() const { return rules_.size(); }
  const std::uint8_t* key(std::uint64_t i) const { return keys_.data() + i * key_bytes_; }
  const std::uint8_t* keys() const { return keys_.data(); }
  /// The rule that it was made for; no_rule: no rule matches it.
  std::uint32_t rule(std::uint64_t i) const { return rules_[i]; }

  template <typename Key>
  void put(std::uint64_t i, const Key& key, std::uint32_t rule) {
    put_key(key, keys_.data() + i * key_bytes_);
    rules_[i] = rule;
  }

 private:
  std::size_t key_bytes_;
  std::vector<std::uint8_t> keys_;
  std::vector<std::uint32_t> rules_;
};

struct flow_params {
  std::uint64_t flows = 1000;  // 1 to most_flows
  double misses = 0;           // share of them that no rule matches, 0 to 1
  std::uint64_t seed = 1;
};

/// Errors: invalid (a number out of range; misses of a set that ends in a default rule), no_room
/// (the rules match too few different keys, or nearly all).
result<flow_list> make_flows(const five_tuple_set&, const flow_params&);
result<flow_list> make_flows(const wide_set&, const flow_params&);

/// Errors: invalid, for a number that is not 1 to most_flows.
result<void> check_flows(std::uint64_t flows);

/// Of bursts of packets of one flow: their lengths are at most x with the probability
/// 1 - (scale / x) ^ shape. Scale 0: no bursts; ClassBench calls scale 1 with shape 1 high
/// locality.
struct locality {
  double shape = 1, scale = 0;
};

/// The flows of a trace of so many packets, by number, drawn uniformly. Errors: invalid (locality).
result<std::vector<std::uint32_t>> draw_trace(std::uint64_t flows, std::uint64_t packets,
                                              const locality&, std::uint64_t seed);

}  // namespace coua::bench
