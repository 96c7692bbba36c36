// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/routing_table.h"

#include "bench/cases/rule_words.h"

namespace coua::bench {
namespace {

using namespace pipeline;

std::uint64_t mac_of_hop(std::uint64_t route) { return 0x0200'0000'1000 + route % 16; }

}  // namespace

rule_mod routing_table::rule(std::uint64_t i, table_id table, port_no out) const {
  const route& to = routes_.routes()[i];
  const auto address = static_cast<std::uint32_t>(to.high >> 32);
  rule_mod made =
      rule_for(table, {is_ipv4(), prefix(field::ipv4_dst, address, to.length)},
               {act::set(field::eth_src, own_mac), act::set(field::eth_dst, mac_of_hop(i)),
                act::dec_ip_ttl{}, act::output{out}});
  made.priority = static_cast<std::uint16_t>(case_priority + to.length);
  return made;
}

std::uint32_t routing_table::address(std::uint64_t i, std::uint32_t host) const {
  const route& to = routes_.routes()[i];
  const auto hosts = static_cast<std::uint32_t>((std::uint64_t{1} << (32 - to.length)) - 1);
  return static_cast<std::uint32_t>(to.high >> 32) | (host & hosts);
}

std::uint64_t routing_table::next_hop(std::uint32_t address) const {
  return mac_of_hop(routes_.longest(std::uint64_t{address} << 32));
}

}  // namespace coua::bench
