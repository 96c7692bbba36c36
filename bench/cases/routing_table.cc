// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/routing_table.h"

#include "bench/cases/rule_words.h"
#include "bench/cases/use_case.h"

namespace coua::bench {
namespace {

using namespace pipeline;

std::uint64_t mac_of_hop(std::uint64_t route) { return 0x0200'0000'1000 + route % 16; }

rule_mod rule_of(std::uint32_t address, unsigned length, std::uint64_t hop, table_id table,
                 port_no out) {
  rule_mod made = rule_for(table, {is_ipv4(), prefix(field::ipv4_dst, address, length)},
                           {act::set(field::eth_src, routing_table::own_mac),
                            act::set(field::eth_dst, hop), act::dec_ip_ttl{}, act::output{out}});
  made.priority = static_cast<std::uint16_t>(case_priority + length);
  return made;
}

}  // namespace

rule_mod routing_table::rule(std::uint64_t i, table_id table, port_no out) const {
  const route& to = routes_.routes()[i];
  return rule_of(static_cast<std::uint32_t>(to.high >> 32), to.length, mac_of_hop(i), table, out);
}

rule_mod routing_table::spare_rule(std::uint64_t i, table_id table, port_no out) const {
  // In 240.0.0.0/4, where no route is, each in a /16 of its own, as most /24 of a table this size.
  static_assert(spare_rules <= 4096);
  const auto address = static_cast<std::uint32_t>(0xf000'0000 | i << 16);
  return rule_of(address, 24, mac_of_hop(i), table, out);
}

std::uint32_t routing_table::address(std::uint64_t i, std::uint32_t host) const {
  const route& to = routes_.routes()[i];
  const auto hosts = static_cast<std::uint32_t>((std::uint64_t{1} << (32 - to.length)) - 1);
  return static_cast<std::uint32_t>(to.high >> 32) | (host & hosts);
}

std::uint64_t routing_table::longest(std::uint32_t address) const {
  return routes_.longest(std::uint64_t{address} << 32);
}

std::uint64_t routing_table::next_hop(std::uint32_t address) const {
  return mac_of_hop(longest(address));
}

}  // namespace coua::bench
