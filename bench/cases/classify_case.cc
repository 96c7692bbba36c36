// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/classify_case.h"

#include <algorithm>

#include "bench/cases/rule_words.h"
#include "bench/harness/population.h"
#include "bench/rules/mask_set.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr std::uint8_t tcp = 6, sctp = 132;

/// Random ones behind a prefix of `bits`.
std::uint16_t open_bits(std::uint32_t random, unsigned bits) {
  return static_cast<std::uint16_t>(random & 0xffffU >> bits);
}

match_term port_prefix(field which, unsigned bits) {
  return {which, unary_prefix(16, bits), 0xffffU << (16 - bits) & 0xffffU};
}

}  // namespace

void classify_case::each_rule(const std::function<void(rule_mod)>& call) const {
  for (std::uint64_t i = 0; i < params().rules; ++i) {
    const mask_lengths bits = lengths_of_mask(i, params().rules);
    std::vector<match_term> terms = {
        is_ipv4(), exact(field::ip_proto, tcp),
        prefix(field::ipv4_src, unary_prefix(32, bits.address), bits.address)};
    if (bits.source_port != 0) terms.push_back(port_prefix(field::tcp_src, bits.source_port));
    if (bits.destination_port != 0)
      terms.push_back(port_prefix(field::tcp_dst, bits.destination_port));
    call(rule_for(0, std::move(terms), {act::output{out}}));
  }
}

rule_mod classify_case::spare_rule(std::uint64_t i) const {
  return rule_for(0,
                  {is_ipv4(), exact(field::ip_proto, sctp),
                   prefix(field::ipv4_dst, 0x0b00'0000 | static_cast<std::uint32_t>(i), 32)},
                  {act::output{out}});
}

classify_case::aim classify_case::aim_of(std::uint64_t flow) const {
  const std::uint64_t masks = params().rules, flows = params().flows;
  if (!params().attack) return {spread(flow, flows, masks), false};
  const std::uint64_t popular = popular_masks(masks),
                      attack = attacking_flows(flows, *params().attack);
  if (flow < flows - attack) return {spread(flow, flows - attack, popular), false};
  return {popular + spread(flow - (flows - attack), attack, masks - popular), true};
}

case_flow classify_case::flow(std::uint64_t i) const {
  const aim at = aim_of(i);
  const mask_lengths bits = lengths_of_mask(at.mask, params().rules);
  case_flow made;
  made.in_port = in;
  made.sent.eth_dst = population::mac(0);
  made.sent.eth_src = population::mac(1 + i % senders);
  made.sent.ip_src = unary_prefix(32, bits.address);
  made.sent.ip_dst = scatter(i);
  if (bits.source_port != 0)
    made.sent.tcp_src = static_cast<std::uint16_t>(unary_prefix(16, bits.source_port));
  if (bits.destination_port != 0)
    made.sent.tcp_dst = static_cast<std::uint16_t>(unary_prefix(16, bits.destination_port));
  if (at.attacks) {
    made.sent.ip_src |= scatter(i + 1) & ~std::uint32_t{0} >> 1 >> (bits.address - 1);
    made.sent.tcp_src |= open_bits(scatter(i + 2), bits.source_port);
    made.sent.tcp_dst |= open_bits(scatter(i + 3), bits.destination_port);
  }
  made.out_port = out;
  made.expected = made.sent;
  return made;
}

}  // namespace coua::bench
