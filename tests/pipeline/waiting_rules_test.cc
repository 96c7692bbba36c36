// SPDX-License-Identifier: Apache-2.0
//
// Rules that have one place in a table, of which the one with the highest priority counts, and what
// they refer to.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::output;
using pipeline::test::where;

/// What the rules of a table match on, one of them.
using match_of = match (*)(unsigned which);

class waiting_rules : public ::testing::TestWithParam<match_of> {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 3; ++i) must({pipeline::test::add_port(i)});
    must({pipeline::test::add_group(7, group_type::all, {pipeline::test::to({output(2)})})});
    std::vector<operation> others;  // more than a direct table takes
    for (unsigned i = 1; i <= 20; ++i) {
      others.emplace_back(add_rule(0, 1, GetParam()(i), pipeline::test::apply({output(3)})));
    }
    must(others);
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  static rule_mod rule_with(std::uint16_t priority, action_list list) {
    return add_rule(0, priority, GetParam()(0), pipeline::test::apply(std::move(list)));
  }
  void see() {
    in_.receive({pipeline::test::from_port_1(pipeline::test::frames()[3])});
    in_.check_counters();
  }

  checked_pipeline in_;
};

constexpr group_mod no_group_7() {
  group_mod made;
  made.command = mod_command::remove;
  made.what.id = 7;
  return made;
}

TEST_P(waiting_rules, all_go_with_their_group) {
  for (const bool upwards : {true, false}) {
    for (std::uint16_t i = 0; i < 4; ++i) {
      must({rule_with(upwards ? 10 + i : 20 - i, {act::group{7}})});
      see();
    }
    must({rule_with(2, {output(3)}), no_group_7()});
    see();
    must({pipeline::test::add_group(7, group_type::all, {pipeline::test::to({output(2)})})});
  }
}

TEST_P(waiting_rules, one_stays_that_left_the_group) {
  must({rule_with(10, {act::group{7}})});
  must({rule_with(20, {act::group{7}})});
  see();
  must({rule_with(10, {output(3)}), no_group_7()});
  see();
}

match by_mac(unsigned which) { return where({exact(field::eth_dst, 0x0200'0000'0000 + which)}); }
match by_prefix(unsigned which) {
  const std::uint32_t mask = which == 0 ? 0xff00'0000 : 0xffff'ff00;
  return where({pipeline::test::ipv4(), {field::ipv4_dst, 0x0a00'0000 + (which << 8), mask}});
}

INSTANTIATE_TEST_SUITE_P(templates, waiting_rules, ::testing::Values(by_mac, by_prefix));

}  // namespace
}  // namespace coua::test
