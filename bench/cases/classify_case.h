// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/use_case.h"

namespace coua::bench {

/// One table with as many masks as rules: the set of bench/rules/mask_set.h, all of it TCP. Packets
/// come in by port 1 and leave by port 2.
///
/// With an attack, the flows are of two kinds. Most are of popular masks: one in a hundred masks,
/// of which a switch learns that they come first. The attack's are spread over all other masks, so
/// that none of them becomes popular, and a search that asks masks in any order has asked half of
/// them. In the bits that its rule leaves open, but other masks take, each differs from all others:
/// nothing that a switch remembers of one of them tells the mask of another.
class classify_case final : public use_case {
 public:
  explicit classify_case(case_params params) : use_case(std::move(params)) {}

  unsigned n_ports() const override { return 2; }
  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  /// All of them have a mask of their own, the same one.
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  case_flow flow(std::uint64_t i) const override;

 private:
  /// Which mask a flow is of, and whether it is one of the attack.
  struct aim {
    std::uint64_t mask;
    bool attacks;
  };
  aim aim_of(std::uint64_t flow) const;
};

}  // namespace coua::bench
