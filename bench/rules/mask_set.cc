// SPDX-License-Identifier: Apache-2.0
#include "bench/rules/mask_set.h"

#include <string>

#include "bench/harness/population.h"

namespace coua::bench {
namespace {

constexpr std::uint64_t address_lengths = 32, source_lengths = 16, destination_lengths = 8;
static_assert(address_lengths * source_lengths * destination_lengths == most_masks);
constexpr std::uint8_t tcp = 6, udp = 17, gre = 47;

/// n - 1 ones and a zero, at the top of `width` bits; `n` is at least 1.
std::uint32_t unary(unsigned width, std::uint64_t n) {
  const std::uint64_t ones = (std::uint64_t{1} << (n - 1)) - 1;
  return static_cast<std::uint32_t>(ones << 1 << (width - n));
}

port_range ports(std::uint64_t bits) {
  const auto low = static_cast<std::uint16_t>(unary(16, bits));
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
    const std::uint64_t bits = 1 + i % address_lengths;
    rule.source = {unary(32, bits), static_cast<unsigned>(bits)};
    if (masks > address_lengths) {
      rule.source_port = ports(1 + i / address_lengths % source_lengths);
    }
    if (masks > address_lengths * source_lengths) {
      rule.destination_port = ports(1 + i / (address_lengths * source_lengths));
    }
    rule.protocol = i % 2 == 0 ? tcp : udp;
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
                       rule.destination_port.low, miss ? gre : *rule.protocol},
            miss ? no_rule : rule.number);
  }
  return out;
}

}  // namespace coua::bench
