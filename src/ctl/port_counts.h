// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ctl/ofp/reply.h"
#include "dp/switch.h"

namespace coua::ctl {

/// The counters of a port (dp/counters.h, port::device_counters()) as OpenFlow 1.3 has them
/// (section A.3.5.6): what came and could not be used are errors, what came or was to leave and did
/// not, dropped. Each counter is in one of them at most.
void count_port(const std::vector<dp::counter>& counters, ofp::port_facts& into);

}  // namespace coua::ctl
