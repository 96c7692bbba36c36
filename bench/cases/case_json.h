// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/cases/use_case.h"
#include "bench/harness/report.h"

namespace coua::bench {

/// What a report says of a case, without its seed.
inline json to_json(const case_params& of) {
  json made = {{"case", of.name}, {"rules", of.rules}, {"flows", of.flows}, {"size", of.size}};
  if (of.name == "classify") made["masks"] = of.rules;
  if (of.attack) made["attack"] = *of.attack;
  if (of.name == "lb") made["single_table"] = of.single_table;
  if (of.users != 0) {
    made["users"] = of.users;
    made["direction"] = to_string(of.direction);
  }
  return made;
}

}  // namespace coua::bench
