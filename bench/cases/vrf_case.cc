// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/vrf_case.h"

#include "bench/cases/rule_words.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr unsigned n_routers = 10;

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
  std::uint64_t route = 0;
  l3_case::each_rule([&](rule_mod one) { call(of_router(std::move(one), route++)); });
}

rule_mod vrf_case::spare_rule(std::uint64_t i) const {
  return of_router(l3_case::spare_rule(i), i);
}

case_flow vrf_case::flow(std::uint64_t i) const {
  case_flow made = l3_case::flow(i);
  made.sent.vid = made.expected.vid = vid_of(routes().longest(made.sent.ip_dst));
  return made;
}

}  // namespace coua::bench
