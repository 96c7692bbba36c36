// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/vrf_case.h"

#include "bench/cases/rule_words.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr unsigned n_routers = 10;

/// Routes fall to the routers in turns.
std::uint16_t vid_of(std::uint64_t route) {
  return static_cast<std::uint16_t>(100 + route % n_routers);
}

rule_mod of_router(rule_mod made, std::uint64_t route) {
  std::vector<match_term> terms = made.match.terms();
  terms.push_back(exact(field::vlan_vid, vlan_present | vid_of(route)));
  made.match = *match::make(std::move(terms));
  return made;
}

}  // namespace

void vrf_case::each_rule(const std::function<void(rule_mod)>& call) const {
  for (std::uint64_t i = 0; i < routes_.size(); ++i) call(of_router(routes_.rule(i, 0, out), i));
}

rule_mod vrf_case::spare_rule(std::uint64_t i) const {
  return of_router(routes_.spare_rule(i, 0, out), i);
}

case_flow vrf_case::flow(std::uint64_t i) const {
  case_flow made;
  made.in_port = in;
  made.sent.eth_dst = routing_table::own_mac;
  made.sent.eth_src = neighbour_mac;
  made.sent.ip_src = 0x0a00'0000 | static_cast<std::uint32_t>(i);  // flows have 24 bits
  made.sent.ip_dst = routes_.address(spread(i, params().flows, routes_.size()), scatter(i));
  made.sent.vid = vid_of(routes_.longest(made.sent.ip_dst));
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
