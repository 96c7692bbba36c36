// SPDX-License-Identifier: Apache-2.0
//
// Actions that change a packet. One whose header is not there leaves it as it is and says so.
//
// Checksums. An action that writes a field moves each checksum that covers it by the difference,
// as RFC 1624 has it (net/checksum.h; for SCTP's CRC32c the difference of two polynomials). So what
// was right stays right, and what was wrong stays exactly as wrong: a switch does not hide damage
// that happened before it. A datapath that updates incrementally does the same, bit for bit. Here
// the difference is taken plainly, between sums over all that is covered.
//
//   covered by the IPv4 header's   the header
//   covered by TCP's and UDP's     addresses, ports
//   covered by ICMPv6's            addresses, type, code, target and options of ND
//   covered by ICMP's              type, code
//   covered by SCTP's              ports
//
// - A UDP checksum of 0 means none, and stays 0; one that becomes 0 is sent as 0xffff (RFC 768).
// - A destination address with hops left on a source route is not covered by the checksum of L4.
// - Later fragments have no L4 header, so nothing of it changes; of a first fragment, the CRC of
//   SCTP is over bytes that are not here, and stays as it is.
#pragma once

#include <optional>

#include "pipeline/model/action.h"
#include "pipeline/oracle/packet.h"

namespace coua::pipeline {

enum class rewrite_result {
  done,
  no_header,    // nothing to change: the packet is as it was
  invalid_ttl,  // of 0 or 1 cannot be decremented: the packet must go to the controller
};

/// Nothing: the action is none that changes packets (output, group, set_queue).
std::optional<rewrite_result> rewrite(packet& one, const action& how);

/// Writes the bits under the mask; a header field, a register or the tunnel's number.
rewrite_result write_field(packet& one, field which, value128 value, value128 mask);

}  // namespace coua::pipeline
