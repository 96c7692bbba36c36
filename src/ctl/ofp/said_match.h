// SPDX-License-Identifier: Apache-2.0
//
// Whether a match has all that the words of its text say. To the library the last word wins: a
// match of "tcp,udp" takes UDP. And fields that several protocols have in one place are one to it:
// with "udp", tcp_dst is the port of UDP. So each word is looked at again, alone and by its name.
#pragma once

#include <string>

#include "base/result.h"
#include "ctl/ofp/ovs.h"

namespace coua::ofp {

/// Of a text that the library has taken. Errors: invalid.
result<void> check_said(std::string text, const ovs_port_map& map, const ::match& made);

}  // namespace coua::ofp
