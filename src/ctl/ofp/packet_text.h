// SPDX-License-Identifier: Apache-2.0
//
// Packets as texts, for those who ask what the pipeline would do with one:
//
//   in_port=1,tcp,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_dst=80     the fields of a match
//   in_port=1 0050568e4b1d00505688f1a30806...                   all bytes in hexadecimal
//
// A field that is not named is 0, except for a TTL, which is 64, the end of the label stack, which
// is there, and the protocol behind IPv6, which is none (59). Fields of the pipeline (metadata,
// registers, tunnel_id) may be given, too.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ctl/ofp/port_names.h"
#include "pipeline/oracle/packet.h"

namespace coua::ofp {

/// `in_port` of the packet is port_any when the text does not say it. Errors: invalid; a field that
/// no packet has together with the others is named.
result<pipeline::packet> parse_packet(std::string_view text, const port_names& names = {});

/// All fields of the packet, as a match prints them.
std::string print_packet(const pipeline::packet& one, const port_names& names = {});

}  // namespace coua::ofp
