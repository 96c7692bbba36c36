// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/find_rule.h"

#include <bit>
#include <map>

#include "pipeline/model/conjunction.h"

namespace coua::pipeline {
namespace {

const rule_table::entry* find_other(const rule_table& in, const field_values& packet) {
  return in.find_first(
      [&](const rule& one) { return !is_clause(one) && one.match.matches(packet); });
}

}  // namespace

found_rule find_rule(const rule_table& in, const field_values& packet) {
  const rule_table::entry* other = find_other(in, packet);
  if (in.n_clauses() == 0) return {other};
  // By priority, and then by id and number of clauses: bits of those that match.
  using conjunctions = std::map<std::pair<std::uint32_t, unsigned>, std::uint64_t>;
  std::map<std::uint16_t, conjunctions, std::greater<>> met;
  in.each([&](const rule_table::entry& each) {
    const rule& one = *each.rule;
    if (!is_clause(one) || !one.match.matches(packet)) return;
    if (other != nullptr && one.priority <= other->rule->priority) return;
    for (const action& what : *one.instructions.apply) {
      const auto& of = std::get<act::conjunction>(what);
      met[one.priority][{of.id, of.n_clauses}] |= std::uint64_t{1} << of.clause;
    }
  });
  for (const auto& [priority, some] : met) {
    for (const auto& [of, clauses] : some) {
      if (static_cast<unsigned>(std::popcount(clauses)) != of.second) continue;
      field_values with_id = packet;
      with_id.set(field::conj_id, of.first);
      const rule_table::entry* found = find_other(in, with_id);
      if (found != nullptr) return {found, of.first};
    }
  }
  return {other};
}

}  // namespace coua::pipeline
