// SPDX-License-Identifier: Apache-2.0
//
// Groups and meters that go and come back, and with them rules with the same instructions as
// before, while workers may still use what was: the rules must lead to what is there now.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_group;
using pipeline::test::add_policer;
using pipeline::test::add_rule;
using pipeline::test::output;

class made_again : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void see() {
    const packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
    in_.receive(std::vector<packet>(8, one));
    in_.check_counters();
  }
  static operation group_to(port_no port) {
    return add_group(1, group_type::indirect, {pipeline::test::to({output(port)})});
  }
  static operation no_groups() { return group_mod{mod_command::remove, {group_all, {}, {}, {}}}; }
  static operation no_meters() {
    return meter_mod{mod_command::remove, {meter_all, {}, {}, {}, {}}};
  }
  /// Its ops are kept apart, and shared.
  static operation long_rule() {
    return add_rule(0, 1, {},
                    pipeline::test::apply({act::set(field::eth_dst, 1), act::group{1}, output(4),
                                           act::set(field::eth_src, 2), output(3)}));
  }
  static operation writing_rule() {
    return add_rule(0, 1, {}, pipeline::test::write({act::set(field::eth_dst, 1), act::group{1}}));
  }
  static operation metered_rule() {
    instructions all = pipeline::test::apply(
        {act::set(field::eth_dst, 1), output(2), act::set(field::eth_src, 2), output(3)});
    all.meter = 1;
    return add_rule(0, 1, {}, all);
  }

  checked_pipeline in_;
};

TEST_F(made_again, a_group_in_another_bundle) {
  for (const operation& rule : {long_rule(), writing_rule()}) {
    for (port_no port = 1; port <= 4; ++port) {
      must({group_to(port), rule});
      see();
      must({no_groups()});
    }
  }
  see();
  in_.check_nothing_stays();
}

TEST_F(made_again, a_group_in_the_same_bundle) {
  for (const operation& rule : {long_rule(), writing_rule()}) {
    must({group_to(2), rule});
    for (port_no port = 1; port <= 4; ++port) {
      must({no_groups(), group_to(port), rule});
      see();
    }
    must({no_groups()});
  }
  in_.check_nothing_stays();
}

TEST_F(made_again, a_meter) {
  must({add_policer(1, 1, 2), metered_rule()});
  for (std::uint32_t burst = 3; burst <= 6; ++burst) {
    must({no_meters(), add_policer(1, 1, burst), metered_rule()});
    see();
    must({no_meters()});
    must({add_policer(1, 1, burst + 1), metered_rule()});
    see();
  }
  in_.check_nothing_stays();
}

TEST_F(made_again, rules_share_their_ops_while_a_group_stays) {
  must({group_to(2), long_rule()});
  operation other = long_rule();
  std::get<rule_mod>(other).table = 1;
  must({other});
  EXPECT_EQ(in_.bridge().compiler().usage().action_lists, 1U);
  see();
}

}  // namespace
}  // namespace coua::test
