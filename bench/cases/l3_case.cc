// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/l3_case.h"

#include "bench/cases/rule_words.h"

namespace coua::bench {
void l3_case::each_rule(const std::function<void(pipeline::rule_mod)>& call) const {
  for (std::uint64_t i = 0; i < routes_.size(); ++i) call(routes_.rule(i, 0, out));
}

pipeline::rule_mod l3_case::spare_rule(std::uint64_t i) const {
  return routes_.spare_rule(i, 0, out);
}

case_flow l3_case::flow(std::uint64_t i) const {
  case_flow made;
  made.in_port = in;
  made.sent.eth_dst = routing_table::own_mac;
  made.sent.eth_src = neighbour_mac;
  made.sent.ip_src = 0x0a00'0000 | static_cast<std::uint32_t>(i);  // flows have 24 bits
  made.sent.ip_dst = routes_.address(spread(i, params().flows, routes_.size()), scatter(i));
  made.sent.tcp_src = static_cast<std::uint16_t>(1024 + scatter(i) % 60'000);
  made.sent.tcp_dst = 80;
  made.out_port = out;
  made.expected = made.sent;
  made.expected.eth_dst = routes_.next_hop(made.sent.ip_dst);
  made.expected.eth_src = routing_table::own_mac;
  --made.expected.ttl;
  return made;
}

}  // namespace coua::bench
