// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/gateway_case.h"

#include "bench/cases/rule_words.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr port_no users_port = 1, network_port = 2;
constexpr unsigned n_ces = 10;
constexpr table_id to_blocks = 1, first_up = 2, first_down = 12, routing = 110;
constexpr unsigned block_bits = 17;  // of the public addresses of a CE
static_assert(most_users <= (1 << block_bits));

table_id up_table(unsigned ce) { return static_cast<table_id>(first_up + ce); }
table_id down_table(unsigned ce) { return static_cast<table_id>(first_down + ce); }
std::uint16_t vid_of(unsigned ce) { return static_cast<std::uint16_t>(100 + ce); }
std::uint64_t mac_of(unsigned ce) { return 0x0200'0000'2000 + ce; }
/// Private: every CE has the same.
std::uint32_t inside(std::uint32_t user) { return 0x0a00'0001 + user; }
std::uint32_t block(unsigned ce) { return 0x0b00'0000 | ce << block_bits; }
/// Public.
std::uint32_t outside(unsigned ce, std::uint32_t user) { return block(ce) | user; }

action_list to_user(unsigned ce, std::uint32_t user) {
  return {act::set(field::ipv4_dst, inside(user)),
          act::set(field::eth_src, routing_table::own_mac),
          act::set(field::eth_dst, mac_of(ce)),
          act::dec_ip_ttl{},
          act::push_vlan{},
          act::set(field::vlan_vid, vlan_present | vid_of(ce)),
          act::output{users_port}};
}

}  // namespace

void gateway_case::each_rule(const std::function<void(rule_mod)>& call) const {
  for (unsigned ce = 0; ce < n_ces; ++ce) {
    call(rule_to(
        0, {exact(field::in_port, users_port), exact(field::vlan_vid, vlan_present | vid_of(ce))},
        {act::pop_vlan{}}, up_table(ce)));
    call(rule_to(to_blocks, {is_ipv4(), prefix(field::ipv4_dst, block(ce), 32 - block_bits)}, {},
                 down_table(ce)));
  }
  call(rule_to(0, {exact(field::in_port, network_port)}, {}, to_blocks));
  for (unsigned ce = 0; ce < n_ces; ++ce) {
    for (std::uint32_t user = 0; user < params().users; ++user) {
      call(rule_to(up_table(ce), {is_ipv4(), exact(field::ipv4_src, inside(user))},
                   {act::set(field::ipv4_src, outside(ce, user))}, routing));
      call(rule_for(down_table(ce), {is_ipv4(), exact(field::ipv4_dst, outside(ce, user))},
                    to_user(ce, user)));
    }
  }
  for (std::uint64_t i = 0; i < routes_.size(); ++i) call(routes_.rule(i, routing, network_port));
}

rule_mod gateway_case::spare_rule(std::uint64_t i) const {
  return routes_.spare_rule(i, routing, network_port);
}

case_flow gateway_case::flow(std::uint64_t i) const {
  const bool both = params().direction == flow_direction::both;
  // Each direction goes over all CEs, and over all users of each.
  const std::uint64_t at = both ? i / 2 : i;
  const std::uint64_t flows = both ? (params().flows + 1) / 2 : params().flows;
  const auto ce = static_cast<unsigned>(at % n_ces);
  const auto user =
      static_cast<std::uint32_t>(spread(at / n_ces, (flows + n_ces - 1) / n_ces, params().users));
  const bool is_up = both ? i % 2 == 0 : params().direction == flow_direction::up;
  return is_up ? up(i, ce, user) : down(i, ce, user);
}

case_flow gateway_case::up(std::uint64_t i, unsigned ce, std::uint32_t user) const {
  // Another order than that of the users.
  const std::uint64_t to = std::uint64_t{scatter(i)} * routes_.size() >> 32;
  case_flow made;
  made.in_port = users_port;
  made.sent.eth_dst = routing_table::own_mac;
  made.sent.eth_src = mac_of(ce);
  made.sent.vid = vid_of(ce);
  made.sent.ip_src = inside(user);
  made.sent.ip_dst = routes_.address(to, scatter(i + 1));
  made.sent.tcp_src = static_cast<std::uint16_t>(1024 + i % 60'000);
  made.sent.tcp_dst = static_cast<std::uint16_t>(1 + i / 60'000);
  made.out_port = network_port;
  made.expected = made.sent;
  made.expected.eth_dst = routes_.next_hop(made.sent.ip_dst);
  made.expected.eth_src = routing_table::own_mac;
  made.expected.vid = 0;
  made.expected.ip_src = outside(ce, user);
  --made.expected.ttl;
  return made;
}

case_flow gateway_case::down(std::uint64_t i, unsigned ce, std::uint32_t user) const {
  const std::uint64_t from = std::uint64_t{scatter(i)} * routes_.size() >> 32;
  case_flow made;
  made.in_port = network_port;
  made.sent.eth_dst = routing_table::own_mac;
  made.sent.eth_src = neighbour_mac;
  made.sent.ip_src = routes_.address(from, scatter(i + 1));
  made.sent.ip_dst = outside(ce, user);
  made.sent.tcp_src = static_cast<std::uint16_t>(1 + i / 60'000);
  made.sent.tcp_dst = static_cast<std::uint16_t>(1024 + i % 60'000);
  made.out_port = users_port;
  made.expected = made.sent;
  made.expected.eth_dst = mac_of(ce);
  made.expected.eth_src = routing_table::own_mac;
  made.expected.vid = vid_of(ce);
  made.expected.ip_dst = inside(user);
  --made.expected.ttl;
  return made;
}

}  // namespace coua::bench
