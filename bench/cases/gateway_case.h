// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/routing_table.h"
#include "bench/cases/use_case.h"

namespace coua::bench {

/// The access gateway: users behind port 1, each CE in a VLAN; the network behind port 2.
class gateway_case final : public use_case {
 public:
  explicit gateway_case(const case_params& params)
      : use_case(params), routes_(params.rules, params.seed) {}

  unsigned n_ports() const override { return 2; }
  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  case_flow flow(std::uint64_t i) const override;

 private:
  case_flow up(std::uint64_t i, unsigned ce, std::uint32_t user) const;
  case_flow down(std::uint64_t i, unsigned ce, std::uint32_t user) const;

  routing_table routes_;
};

}  // namespace coua::bench
