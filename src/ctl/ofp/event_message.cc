// SPDX-License-Identifier: Apache-2.0
#include <endian.h>

#include <algorithm>

#include "ctl/ofp/duration.h"
#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/port_convert.h"
#include "ctl/ofp/reply.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_message.h"

namespace coua::ofp {
namespace {

// OXM: class 0x8000, field << 1, length.
constexpr std::uint32_t oxm_in_port = 0x8000'0004, oxm_metadata = 0x8000'0408,
                        oxm_tunnel_id = 0x8000'4c08;
// NXM_NX_REG0; the field of another register is its number.
constexpr std::uint32_t nxm_reg = 0x0001'0004;

/// ofp_match with what is known of a packet beside its bytes.
void put_match(message& into, const packet_in_facts& of) {
  const std::size_t begin = into.size();
  constexpr std::uint16_t oxm_match = 1;
  put(into, oxm_match, 2);
  put(into, 0, 2);
  put(into, oxm_in_port, 4);
  put(into, of.in_port, 4);
  if (of.metadata != 0) {
    put(into, oxm_metadata, 4);
    put(into, of.metadata, 8);
  }
  if (of.tunnel_id != 0) {
    put(into, oxm_tunnel_id, 4);
    put(into, of.tunnel_id, 8);
  }
  for (std::uint32_t i = 0; i < of.reg.size(); ++i) {
    if (of.reg[i] == 0) continue;
    put(into, nxm_reg | i << 9, 4);
    put(into, of.reg[i], 4);
  }
  set_u16(into, begin + 2, into.size() - begin);
  while ((into.size() - begin) % 8 != 0) into.push_back(0);
}

}  // namespace

message packet_in_message(const packet_in_facts& of) {
  constexpr std::uint8_t packet_in = 10;
  constexpr std::uint32_t not_buffered = 0xffff'ffff;
  message made = begin_message(packet_in, 0);
  put(made, not_buffered, 4);
  put(made, of.bytes.size(), 2);
  made.push_back(static_cast<std::uint8_t>(of.reason));
  made.push_back(of.table);
  put(made, of.cookie, 8);
  put_match(made, of);
  put(made, 0, 2);
  constexpr std::size_t room = 65'535;
  const auto bytes = of.bytes.first(std::min(of.bytes.size(), room - made.size()));
  made.insert(made.end(), bytes.begin(), bytes.end());
  return end_message(std::move(made));
}

message flow_removed_message(const pipeline::rule& one, const pipeline::rule_state& last,
                             pipeline::removal_reason why, pipeline::time_ns now) {
  ofputil_flow_removed of{};
  if (const auto match = to_ovs(one.match)) {
    of.match = *match;
  } else {
    match_init_catchall(&of.match);
  }
  of.cookie = htobe64(one.cookie);
  of.priority = one.priority;
  // OpenFlow 1.3 has no reason for a meter that went.
  of.reason = why == pipeline::removal_reason::meter_deleted
                  ? static_cast<std::uint8_t>(pipeline::removal_reason::deleted)
                  : static_cast<std::uint8_t>(why);
  of.table_id = one.table;
  set_duration(of, one.added, now);
  of.idle_timeout = one.idle_timeout_s;
  of.hard_timeout = one.hard_timeout_s;
  of.packet_count = last.counted.packets;
  of.byte_count = last.counted.bytes;
  return take(ofputil_encode_flow_removed(&of, OFPUTIL_P_OF13_OXM));
}

message port_status_message(port_event what, const port_facts& one) {
  ofputil_port_status of{};
  of.reason = static_cast<ofp_port_reason>(what);
  of.desc = to_ovs(one);
  return take(ofputil_encode_port_status(&of, OFPUTIL_P_OF13_OXM));
}

}  // namespace coua::ofp
