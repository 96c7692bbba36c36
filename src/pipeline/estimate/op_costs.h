// SPDX-License-Identifier: Apache-2.0
//
// Which atoms the instructions of a rule are (calibration.h), and how often each of them is met:
// buckets of a select group are met by a share of the packets.
#pragma once

#include <array>
#include <map>
#include <string>

#include "pipeline/estimate/calibration.h"
#include "pipeline/model/bridge.h"

namespace coua::pipeline {

class op_costs {
 public:
  using counts = std::array<double, n_atoms>;

  /// The groups and ports are those of the bridge, which must stay as it is.
  explicit op_costs(const bridge& in) : in_(in) {}

  counts of(const instructions& what);

 private:
  /// `n_sent`: copies that the packet has been sent to before.
  void add(counts& to, const action_list& list, double& n_sent);
  void add_applied(counts& to, const action_list& list, double& n_sent);
  void add_outputs(counts& to, double n, double& n_sent) const;
  void add_group(counts& to, group_id id, double& n_sent);

  const bridge& in_;
  std::map<group_id, counts> groups_;
};

}  // namespace coua::pipeline
