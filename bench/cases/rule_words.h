// SPDX-License-Identifier: Apache-2.0
//
// Short ways to write the rules of a case, all of which are valid.
#pragma once

#include <utility>
#include <vector>

#include "base/check.h"
#include "pipeline/model/operation.h"

namespace coua::bench {

inline constexpr std::uint16_t case_priority = 100;
// Of a case whose packets all go one way.
inline constexpr pipeline::port_no in = 1, out = 2;
inline constexpr std::uint64_t senders = 1000;
inline constexpr std::uint64_t neighbour_mac = 0x0200'0000'0002;

inline pipeline::match_term is_ipv4() { return pipeline::exact(pipeline::field::eth_type, 0x0800); }
/// A prefix of an IPv4 address.
inline pipeline::match_term prefix(pipeline::field which, std::uint32_t address, unsigned length) {
  const auto mask = static_cast<std::uint32_t>(~std::uint64_t{0} << (32 - length));
  return {which, address & mask, mask};
}

inline pipeline::rule_mod rule_for(pipeline::table_id table,
                                   std::vector<pipeline::match_term> terms,
                                   pipeline::action_list actions) {
  pipeline::of_result<pipeline::match> what = pipeline::match::make(std::move(terms));
  COUA_CHECK(what.has_value());
  pipeline::rule_mod made;
  made.table = table;
  made.priority = case_priority;
  made.match = std::move(*what);
  if (!actions.empty()) made.instructions.apply = std::move(actions);
  return made;
}
inline pipeline::rule_mod rule_to(pipeline::table_id table, std::vector<pipeline::match_term> terms,
                                  pipeline::action_list actions, pipeline::table_id next) {
  pipeline::rule_mod made = rule_for(table, std::move(terms), std::move(actions));
  made.instructions.goto_table = next;
  return made;
}

/// Which of `n` things flow i is for, when `flows` of them are spread evenly.
inline std::uint64_t spread(std::uint64_t i, std::uint64_t flows, std::uint64_t n) {
  if (flows >= n) return i % n;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(i) * n / flows);
}

/// A number for each flow that looks random; no two flows have the same.
inline std::uint32_t scatter(std::uint64_t i) {
  auto word = static_cast<std::uint32_t>(i) * 0x9e37'79b1U;
  word ^= word >> 15;
  return word * 0x85eb'ca6bU;
}

}  // namespace coua::bench
