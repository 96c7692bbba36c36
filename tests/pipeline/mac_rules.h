// SPDX-License-Identifier: Apache-2.0
//
// Rules of an exact table, each for one address, and packets to these.
#pragma once

#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"
#include "pipeline/oracle/packet.h"

namespace coua::test {

inline constexpr std::uint64_t first_mac = 0x0200'0000'0000;

inline pipeline::match to_mac(unsigned which) {
  return pipeline::test::where({pipeline::exact(pipeline::field::eth_dst, first_mac + which)});
}
inline pipeline::rule_mod mac_rule(pipeline::table_id table, unsigned which,
                                   pipeline::port_no port = 2, std::uint16_t priority = 10) {
  return pipeline::test::add_rule(table, priority, to_mac(which),
                                  pipeline::test::apply({pipeline::test::output(port)}));
}
inline pipeline::match from_port(pipeline::port_no port) {
  return pipeline::test::where({pipeline::exact(pipeline::field::in_port, port)});
}
/// What changes that rule, or removes it.
inline pipeline::rule_mod strict(pipeline::rule_command command, pipeline::rule_mod of) {
  of.command = command;
  return of;
}
inline pipeline::packet packet_to(unsigned which, pipeline::port_no from = 1) {
  pipeline::packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
  net::store_mac(one.bytes.data(), first_mac + which);
  one.in_port = from;
  return one;
}

}  // namespace coua::test
