// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/lb_case.h"

#include "bench/cases/rule_words.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr port_no clients = 1, back_end[] = {2, 3};
constexpr std::uint16_t web = 80;

std::uint32_t service(std::uint64_t i) { return 0x0c00'0000 + static_cast<std::uint32_t>(i); }
match_term half(unsigned which) { return prefix(field::ipv4_src, which << 31, 1); }

std::vector<match_term> web_service(std::uint64_t i) {
  return {is_ipv4(), exact(field::ip_proto, 6), exact(field::ipv4_dst, service(i)),
          exact(field::tcp_dst, web)};
}

/// Of a service and one half of its clients.
rule_mod rule_of(std::uint64_t i, unsigned which, bool single_table) {
  std::vector<match_term> terms = web_service(i);
  if (single_table) terms.push_back(half(which));
  const auto table = static_cast<table_id>(single_table ? 0 : 1 + which);
  return rule_for(table, std::move(terms), {act::output{back_end[which]}});
}

}  // namespace

void lb_case::each_rule(const std::function<void(rule_mod)>& call) const {
  for (const port_no each : back_end) {
    call(rule_for(0, {exact(field::in_port, each)}, {act::output{clients}}));
  }
  if (!params().single_table) {
    for (const unsigned which : {0U, 1U}) {
      call(rule_to(0, {exact(field::in_port, clients), is_ipv4(), half(which)}, {},
                   static_cast<table_id>(1 + which)));
    }
  }
  for (std::uint64_t i = 0; i < params().rules; ++i) {
    for (const unsigned which : {0U, 1U}) call(rule_of(i, which, params().single_table));
  }
}

rule_mod lb_case::spare_rule(std::uint64_t i) const {
  return rule_of(params().rules + i / 2, static_cast<unsigned>(i % 2), params().single_table);
}

case_flow lb_case::flow(std::uint64_t i) const {
  case_flow made;
  made.in_port = clients;
  made.sent.eth_dst = 0x0200'0000'0001;
  made.sent.eth_src = 0x0200'0000'0002;
  made.sent.ip_src = scatter(i);
  made.sent.ip_dst = service(spread(i, params().flows, params().rules));
  made.sent.tcp_src = static_cast<std::uint16_t>(1024 + i % 60'000);
  made.sent.tcp_dst = web;
  made.out_port = back_end[made.sent.ip_src >> 31];
  made.expected = made.sent;
  return made;
}

}  // namespace coua::bench
