// SPDX-License-Identifier: Apache-2.0
//
// Rules that packets leave behind, from the worker to the model.
#include "dp/test_pipeline.h"

namespace coua::dp {
namespace {

namespace act = pipeline::act;
using pipeline::field;
using pipeline::rule_command;
using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::change_rules;
using pipeline::test::output;
using pipeline::test::where;

TEST_F(pipeline_test, packets_leave_rules_behind) {
  auto& a = access("a");
  auto& b = access("b");
  auto& c = access("c");
  act::learn source;
  using role = act::learn::part::role;
  source.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}},
      {role::output, pipeline::field_bits{field::in_port, 0, 16}, 0, {}}};
  pipeline::instructions first = apply({source});
  first.goto_table = 1;
  must({change_rules(rule_command::remove, 0, 0, {}), add_rule(0, 1, {}, first),
        add_rule(1, 0, {}, apply({output(pipeline::port_flood)}))});
  const auto n_rules = [&] {
    return owner().read([](const pipeline::running_bridge& all) { return all.model().n_rules(); });
  };
  for (int again = 0; again < 3; ++again) {
    ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
    EXPECT_TRUE(b.receive());
    EXPECT_TRUE(c.receive());
  }
  ASSERT_TRUE(eventually([&] { return n_rules() == 3; }));
  const frame_bytes back = make_frame(host(1), host(2));
  ASSERT_TRUE(b.send(back));
  EXPECT_EQ(a.receive(), back);
  EXPECT_TRUE(c.silent());
  ASSERT_TRUE(eventually([&] { return n_rules() == 4; }));
  // The host moves: at once, as that is something else than what was said a moment ago.
  ASSERT_TRUE(c.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(b.receive());
  EXPECT_TRUE(eventually([&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      const auto* rule =
          all.model().tables()[1].find(0x8000, where({exact(field::eth_dst, host(1))}));
      return rule != nullptr && rule->rule->instructions == apply({output(number("c"))});
    });
  }));
  EXPECT_EQ(n_rules(), 4U);
  for (const char* why : {"learn_full", "learn_gone", "learn_no_field", "learn_no_match",
                          "learn_refused", "learn_too_many"})
    EXPECT_EQ(drops(why), 0U) << why;
}

TEST_F(pipeline_test, what_the_controller_sends_leaves_rules_behind) {
  access("a");
  act::learn how;
  using role = act::learn::part::role;
  how.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}}};
  packet_out one;
  one.bytes = make_frame(broadcast, host(9));
  one.actions = {how};
  ASSERT_TRUE(owner().send(one));
  const auto is_there = [&] {
    return owner().read([](const pipeline::running_bridge& all) {
      return all.model().tables()[1].find(0x8000, where({exact(field::eth_dst, host(9))})) !=
             nullptr;
    });
  };
  EXPECT_TRUE(is_there());
  clear();
  one.bytes.resize(10);
  EXPECT_FALSE(owner().send(one));
  // What the packet before left is not looked at again: its values would lead to nothing.
  EXPECT_EQ(drops("learn_gone"), 0U);
  EXPECT_FALSE(is_there());
}

TEST_F(pipeline_test, a_rule_that_has_no_room_is_counted) {
  switch_config config;
  config.bridges[0].pipeline.rules_max = 2;
  start(config);
  auto& a = access("a");
  act::learn how;
  using role = act::learn::part::role;
  how.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}}};
  must({add_rule(0, 1, {}, apply({how}))});  // beside NORMAL
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_refused") == 1; }));
}

TEST_F(pipeline_test, a_rule_that_has_no_room_takes_no_other_along) {
  switch_config config;
  config.bridges[0].pipeline.rules_max = 3;
  start(config);
  auto& a = access("a");
  // Of one packet: a rule for which there is room, one for which there is none, and one that takes
  // the place of the first.
  const auto learns = [](std::uint16_t priority, std::uint32_t to) {
    act::learn how;
    how.priority = priority;
    using role = act::learn::part::role;
    how.parts = {
        {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}},
        {role::load, {}, to, {field::reg0, 0, 32}}};
    return how;
  };
  must({add_rule(0, 1, {}, apply({learns(1, 7), learns(2, 7), learns(1, 8)}))});  // beside NORMAL
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_refused") == 1; }));
  // The owner may have taken the third one apart from the others.
  const auto in_its_place = [&] {
    return owner().read([&](const pipeline::running_bridge& all) {
      const pipeline::rule_table& table = all.model().tables()[1];
      const auto* rule = table.find(1, where({exact(field::eth_dst, host(1))}));
      return table.size() == 1 && rule != nullptr &&
             rule->rule->instructions == apply({act::set(field::reg0, 8)});
    });
  };
  EXPECT_TRUE(eventually(in_its_place));
}

TEST_F(pipeline_test, what_is_not_learned_is_counted_by_its_reason) {
  auto& a = access("a");
  clear();
  using role = act::learn::part::role;
  act::learn how;
  // Not all that it takes.
  how.parts = {
      {role::match, pipeline::field_bits{field::ipv4_src, 0, 32}, 0, {field::reg1, 0, 32}}};
  packet_out one;
  one.bytes = make_frame(broadcast, host(9));
  one.actions = {how};
  ASSERT_TRUE(owner().send(one));
  EXPECT_EQ(drops("learn_no_field"), 1U);
  // A VLAN's number without a tag.
  how.parts = {
      {role::match, pipeline::field_bits{field::reg0, 0, 13}, 0, {field::vlan_vid, 0, 13}}};
  must({add_rule(0, 1, {}, apply({act::set(field::reg0, 5), how}))});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_no_match") == 1; }));
  // More than a burst may leave behind.
  how.parts = {};
  pipeline::action_list many;
  for (std::uint16_t i = 0; i < pipeline::executor::learned_max + 3; ++i) {
    how.priority = i;
    many.push_back(how);
  }
  must({add_rule(0, 1, {}, apply(many))});
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(eventually([&] { return drops("learn_too_many") == 3; }));
  EXPECT_EQ(drops("learn_no_field"), 1U);
  EXPECT_EQ(drops("learn_no_match"), 1U);
  for (const char* why : {"learn_full", "learn_gone", "learn_refused"}) {
    EXPECT_EQ(drops(why), 0U) << why;
  }
}

TEST_F(pipeline_test, values_for_a_rule_that_is_gone_are_counted) {
  auto& a = access("a");
  auto& b = access("b");
  using role = act::learn::part::role;
  act::learn how;
  how.parts = {
      {role::match, pipeline::field_bits{field::eth_src, 0, 48}, 0, {field::eth_dst, 0, 48}}};
  // More than the owner takes at a time, while it is held up: some wait while the rule goes.
  pipeline::action_list many{output(number("b"))};
  for (how.priority = 0; how.priority < 250; ++how.priority) many.push_back(how);
  const auto is_gone = [&] { return drops("learn_gone") > 0; };
  for (unsigned tries = 0; tries < 10 && !is_gone(); ++tries) {
    must({add_rule(0, 1, {}, apply(many))});
    owner().settle();
    owner().read([&](const pipeline::running_bridge&) {
      for (const unsigned from : {1U, 2U}) {
        EXPECT_TRUE(a.send(make_frame(broadcast, host(2 * tries + from))));
        EXPECT_TRUE(b.receive());
      }
    });
    clear();
    eventually(is_gone, 1'000);
  }
  EXPECT_TRUE(is_gone());
}

}  // namespace
}  // namespace coua::dp
