// SPDX-License-Identifier: Apache-2.0
//
// Rules of tables for tests of choose_template.h, and what is chosen for them.
#pragma once

#include <utility>
#include <vector>

#include "pipeline/compiler/choose_template.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline::test {

inline rule rule_of(match what, std::uint16_t priority = 100) {
  rule made;
  made.priority = priority;
  made.match = std::move(what);
  return made;
}
inline rule mac_rule(std::uint64_t mac, std::uint16_t priority = 100) {
  return rule_of(where({exact(field::eth_dst, mac)}), priority);
}
inline rule route(std::uint32_t address, unsigned length, std::uint16_t priority,
                  field which = field::ipv4_dst) {
  const value128 mask = ones(32) & ~ones(32 - length);
  std::vector<match_term> terms = {ipv4()};
  if (length > 0) terms.push_back({which, address & mask, mask});
  return rule_of(where(std::move(terms)), priority);
}
inline rule catch_all(std::uint16_t priority) { return rule_of(match(), priority); }
/// Of one mask, or of another one.
inline rule mixed_rule(std::uint64_t n) {
  return n % 2 == 0 ? mac_rule(n) : rule_of(where({exact(field::eth_src, n)}));
}
/// So many routes, a longer one above every shorter one.
inline std::vector<rule> routes(unsigned n) {
  std::vector<rule> made;
  for (std::uint32_t i = 0; i < n; ++i) {
    made.push_back(route(i << 24, 8 + i % 20, static_cast<std::uint16_t>(8 + i % 20)));
  }
  return made;
}
inline match to_tcp_port(std::uint64_t port) {
  return where({ipv4(), exact(field::ip_proto, 6), exact(field::tcp_dst, port)});
}

/// Long direct tables, and nothing apart.
inline constexpr template_limits long_ones{.apart = 0};

inline table_shape shape_of(const std::vector<rule>& rules) {
  table_shape shape;
  for (const rule& each : rules) shape.add(each);
  return shape;
}
inline template_choice choice_of(const std::vector<rule>& rules,
                                 const template_limits& limits = no_mixed_tables) {
  return choose_template(shape_of(rules), limits);
}

}  // namespace coua::pipeline::test
