// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/use_case.h"

namespace coua::bench {

/// One table with as many masks as rules: the set of bench/rules/mask_set.h, all of it TCP. Packets
/// come in by port 1 and leave by port 2.
class classify_case final : public use_case {
 public:
  explicit classify_case(case_params params) : use_case(std::move(params)) {}

  unsigned n_ports() const override { return 2; }
  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  /// All of them have a mask of their own, the same one.
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  case_flow flow(std::uint64_t i) const override;
};

}  // namespace coua::bench
