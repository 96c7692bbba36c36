// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/l2_case.h"

#include "bench/cases/rule_words.h"
#include "bench/harness/population.h"

namespace coua::bench {
namespace {

using namespace pipeline;

rule_mod rule_of(std::uint64_t i) {
  return rule_for(0, {exact(field::eth_dst, population::mac(i))}, {act::output{out}});
}

}  // namespace

void l2_case::each_rule(const std::function<void(rule_mod)>& call) const {
  for (std::uint64_t i = 0; i < params().rules; ++i) call(rule_of(i));
}

rule_mod l2_case::spare_rule(std::uint64_t i) const {
  return rule_of(params().rules + senders + i);
}

case_flow l2_case::flow(std::uint64_t i) const {
  const std::uint64_t host = spread(i, params().flows, params().rules);
  case_flow made;
  made.in_port = in;
  made.sent.eth_dst = population::mac(host);
  made.sent.eth_src = population::mac(params().rules + i % senders);
  made.sent.ip_src = 0x0a00'0000 | static_cast<std::uint32_t>(i);  // flows have 24 bits
  made.sent.ip_dst = 0x0b00'0000 | static_cast<std::uint32_t>(host);
  made.sent.tcp_src = static_cast<std::uint16_t>(1024 + scatter(i) % 60'000);
  made.sent.tcp_dst = 80;
  made.out_port = out;
  made.expected = made.sent;
  return made;
}

}  // namespace coua::bench
