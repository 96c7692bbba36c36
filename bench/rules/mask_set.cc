// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/mask_set.h"

#include <string>

#include "bench/harness/population.h"
#include "net/ip_protocol.h"

namespace coua::bench {
namespace {

port_range ports(unsigned bits) {
  const auto low = static_cast<std::uint16_t>(unary_prefix(16, bits));
  return {low, static_cast<std::uint16_t>(low + (0xffffU >> bits))};
}

}  // namespace

result<five_tuple_set> make_mask_set(std::uint64_t masks) {
  if (masks < 1 || masks > most_masks) {
    return fail(errc::invalid, std::to_string(masks) + " masks",
                "must be 1 to " + std::to_string(most_masks));
  }
  five_tuple_set set;
  for (std::uint64_t i = 0; i < masks; ++i) {
    five_tuple_rule rule;
    const mask_lengths bits = lengths_of_mask(i, masks);
    rule.source = {unary_prefix(32, bits.address), bits.address};
    if (bits.source_port != 0) rule.source_port = ports(bits.source_port);
    if (bits.destination_port != 0) rule.destination_port = ports(bits.destination_port);
    rule.protocol = i % 2 == 0 ? net::ip_proto_tcp : net::ip_proto_udp;
    rule.priority = 1;
    rule.number = static_cast<std::uint32_t>(i);
    set.rules.push_back(rule);
  }
  return set;
}

result<flow_list> make_mask_flows(const five_tuple_set& set, std::uint64_t flows,
                                  std::uint64_t miss_percent) {
  if (result<void> good = check_flows(flows); !good) return tl::unexpected(good.error());
  flow_list out(five_tuple_layout::bytes, flows);
  for (std::uint64_t i = 0; i < flows; ++i) {
    const five_tuple_rule& rule = set.rules[i % set.rules.size()];
    // An odd multiplier makes different destinations of different numbers.
    const auto destination = static_cast<std::uint32_t>(i * 0x9e3779b1);
    const bool miss = (i * 0x9e3779b97f4a7c15 >> 32) % 100 < miss_percent;
    out.put(i,
            five_tuple{rule.source.address, destination, rule.source_port.low,
                       rule.destination_port.low, miss ? net::ip_proto_gre : *rule.protocol},
            miss ? no_rule : rule.number);
  }
  return out;
}

}  // namespace coua::bench
