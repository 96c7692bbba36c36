// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/routing_table.h"
#include "bench/cases/use_case.h"

namespace coua::bench {

/// A router: from port 1 to the next hops behind port 2.
class l3_case : public use_case {
 public:
  explicit l3_case(const case_params& params)
      : use_case(params), routes_(params.rules, params.seed) {}

  unsigned n_ports() const override { return 2; }
  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  case_flow flow(std::uint64_t i) const override;

 protected:
  const routing_table& routes() const { return routes_; }

 private:
  routing_table routes_;
};

}  // namespace coua::bench
