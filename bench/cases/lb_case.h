// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/use_case.h"

namespace coua::bench {

/// The web load balancer: clients behind port 1, back ends behind ports 2 and 3. A back end takes
/// the packets of a service as they are, and answers in its name.
class lb_case final : public use_case {
 public:
  explicit lb_case(case_params params) : use_case(std::move(params)) {}

  unsigned n_ports() const override { return 3; }
  void each_rule(const std::function<void(pipeline::rule_mod)>& call) const override;
  pipeline::rule_mod spare_rule(std::uint64_t i) const override;
  /// From clients.
  case_flow flow(std::uint64_t i) const override;
};

}  // namespace coua::bench
