// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/use_case.h"

namespace coua::bench {

/// A switch whose addresses are rules: hosts behind port 1 send to those behind port 2.
class l2_case final : public use_case {
 public:
  explicit l2_case(case_params params) : use_case(std::move(params)) {}

  unsigned n_ports() const override { return 2; }
  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  case_flow flow(std::uint64_t i) const override;
};

}  // namespace coua::bench
