// SPDX-License-Identifier: Apache-2.0
//
// What all controllers of a bridge share: the bridge itself, how it is called, and who is master.
#pragma once

#include <map>
#include <string>

#include "ctl/openflow/roles.h"
#include "ctl/pipeline_control.h"

namespace coua::openflow {

struct bridge_identity {
  std::uint64_t datapath_id = 0;
  ofp::switch_description description;
  std::map<pipeline::table_id, std::string> table_names;
};

struct bridge_view {
  bridge_view(ctl::pipeline_control& of, role_book& with, bridge_identity is)
      : control(of), identity(std::move(is)), roles(with) {}

  ctl::pipeline_control& control;
  const bridge_identity identity;
  role_book& roles;
};

}  // namespace coua::openflow
