// SPDX-License-Identifier: Apache-2.0
//
// --wait of the verbs after which ports come up.
#pragma once

#include "cli/session.h"
#include "cli/waiting.h"
#include "coua/v1/port.pb.h"

namespace coua::cli {

/// It is enabled, not shut down, and has a link. Of a bond every member is in use or, in mode
/// backup, ready to be.
bool is_up(const v1::Port& port);

/// With --wait: until that port is up, or disabled. `port` becomes what was seen last.
result<void> wait_for_port(const session& s, v1::Port& port);

/// The ports; with --wait when all that are enabled are up.
result<v1::ListPortsResponse> list_ports(const session& s);

}  // namespace coua::cli
