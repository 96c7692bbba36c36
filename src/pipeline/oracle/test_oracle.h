// SPDX-License-Identifier: Apache-2.0
//
// A bridge with ports 1 to 4 and an oracle over it.
#pragma once

#include "pipeline/model/test_model.h"
#include "pipeline/oracle/oracle.h"
#include "pipeline/oracle/test_packet.h"

namespace coua::pipeline::test {

struct lab {
  bridge model = make_bridge();
  oracle judge;

  explicit lab(normal_switch* normal = nullptr) : judge(model, normal) {
    for (port_no number = 1; number <= 4; ++number) must(model, add_port(number));
  }
  lab(const lab&) = delete;
  lab& operator=(const lab&) = delete;

  change_list operator()(const operation& asked) { return must(model, asked); }
  void set_port(const port& one) { must(model, port_mod{mod_command::modify, one}); }
  verdict receive(const packet& one, time_ns now = 0) {
    return judge.receive(one, now, trace_mode::on);
  }
};

inline std::vector<port_no> ports_of(const verdict& got) {
  std::vector<port_no> ports;
  for (const sent& one : got.outputs) ports.push_back(one.port);
  return ports;
}

inline packet tcp_packet(std::uint16_t source = 1000, std::uint16_t destination = 80) {
  return from_port_1(ethernet(0x0800) + ipv4(6, tcp(source, destination)));
}

}  // namespace coua::pipeline::test
