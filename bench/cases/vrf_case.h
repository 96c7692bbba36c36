// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/l3_case.h"

namespace coua::bench {

/// Ten virtual routers, told by their VLAN, whose routes stand in one table: to them the routes of
/// one fall in turns.
class vrf_case final : public l3_case {
 public:
  using l3_case::l3_case;

  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  case_flow flow(std::uint64_t i) const override;
};

}  // namespace coua::bench
