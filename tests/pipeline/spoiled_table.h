// SPDX-License-Identifier: Apache-2.0
//
// A table that makes a version fail when all tables before it are changed already: it is split, and
// rules come of which each could be taken in place. That all of them cannot is seen late, and there
// is nothing else that they could be built as: they take more words than the keys of a classifier's
// subtables have.
#pragma once

#include <vector>

#include "pipeline/model/test_model.h"

namespace coua::test {

/// A rule of a set; of two masks.
inline pipeline::rule_mod spoiling_rule(pipeline::table_id table, unsigned set, unsigned number) {
  using pipeline::exact;
  using pipeline::field;
  using pipeline::value128;
  std::vector<pipeline::match_term> terms{pipeline::test::ipv6(),
                                          exact(field::eth_dst, 0x0200'0000'0000 + set)};
  const auto some = [&](field which) {
    const value128 mask = pipeline::full_mask(which) & ~value128{number % 2};
    terms.push_back({which, number * value128{0x0101'0101'0101} & mask, mask});
  };
  for (const field each : {field::ipv6_src, field::ipv6_dst, field::eth_src, field::metadata}) {
    some(each);
  }
  for (unsigned i = 0; i < 8; ++i) some(pipeline::reg(i));
  for (unsigned i = 8; i < pipeline::n_registers; ++i) terms.push_back(exact(pipeline::reg(i), 0));
  terms.push_back(exact(field::tunnel_id, 0));
  terms.push_back(exact(field::ipv6_flabel, 0));
  return pipeline::test::add_rule(table, static_cast<std::uint16_t>(number + 1),
                                  pipeline::test::where(std::move(terms)),
                                  pipeline::test::apply({}));
}

/// Its rules, before. It is the last of the tables that change: they are changed in order.
inline std::vector<pipeline::operation> table_to_spoil(pipeline::table_id table) {
  std::vector<pipeline::operation> made;
  for (unsigned set = 0; set < 20; ++set) {
    for (unsigned number = 0; number < 3; ++number)
      made.emplace_back(spoiling_rule(table, set, number));
  }
  return made;
}
/// The bundle fails.
inline void spoil(std::vector<pipeline::operation>& bundle, pipeline::table_id table) {
  for (unsigned number = 3; number < 40; ++number)
    bundle.emplace_back(spoiling_rule(table, 0, number));
}

}  // namespace coua::test
