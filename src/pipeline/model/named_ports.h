// SPDX-License-Identifier: Apache-2.0
//
// The ports that a rule or a group names, one by one: what it matches, sends to, watches, or has
// other rules match and send to. ALL, NORMAL, LOCAL and their like are no ports of their own.
#pragma once

#include <set>

#include "pipeline/model/group.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

std::set<port_no> named_ports(const rule& one);
std::set<port_no> named_ports(const group& one);

}  // namespace coua::pipeline
