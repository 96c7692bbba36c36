// SPDX-License-Identifier: Apache-2.0
//
// Which rules share the ops of their actions, and what becomes of what packets left behind.
#include "pipeline/compiler/compile_actions.h"

#include <gtest/gtest.h>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using part = act::learn::part;

/// Of packets that come from port 5, its number written with so many bits.
act::learn from_port_5(std::uint8_t n_bits) {
  act::learn made;
  made.parts = {{part::role::match, {}, 5, {field::in_port, 0, n_bits}}};
  return made;
}

rule with(action_list list, std::uint64_t cookie = 0, std::uint16_t priority = 1) {
  rule made;
  made.priority = priority;
  made.cookie = cookie;
  made.instructions = test::apply(std::move(list));
  return made;
}

class shared_ops : public ::testing::Test {
 protected:
  const stored_ops* ops_of(const rule& one) {
    kept_.push_back(compiler_.compile(one));
    return kept_.back().shared.get();
  }
  void TearDown() override {
    for (const compiled_rule& each : kept_) compiler_.release(each.shape);
    kept_.clear();
    EXPECT_EQ(compiler_.n_shared(), 0U);
    EXPECT_EQ(compiler_.n_shapes(), 0U);
  }

  action_compiler compiler_{{}};
  std::vector<compiled_rule> kept_;
};

TEST_F(shared_ops, are_of_equal_actions) {
  const stored_ops* first = ops_of(with({from_port_5(16)}));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(ops_of(with({from_port_5(16)}, 7, 9)), first) << "no op says the cookie";
  EXPECT_EQ(compiler_.n_shared(), 1U);
}

TEST_F(shared_ops, are_not_of_actions_with_one_text) {
  ASSERT_EQ(to_string(action(from_port_5(16))), to_string(action(from_port_5(32))));
  const stored_ops* first = ops_of(with({from_port_5(16)}));
  const stored_ops* other = ops_of(with({from_port_5(32)}));
  EXPECT_NE(other, first);
  EXPECT_EQ(first->learnings.at(0)->how, from_port_5(16));
  EXPECT_EQ(other->learnings.at(0)->how, from_port_5(32));
}

TEST_F(shared_ops, are_apart_where_an_op_says_whose_rule_it_is) {
  const action_list list{act::output{port_controller}, test::output(1), test::output(2)};
  const stored_ops* first = ops_of(with(list, 1));
  EXPECT_EQ(ops_of(with(list, 1)), first);
  EXPECT_NE(ops_of(with(list, 2)), first);
  EXPECT_NE(ops_of(with(list, 1, 0)), first) << "the miss rule has another reason";
}

using codes = std::vector<op_code>;

codes codes_of(const action_list& list) {
  action_compiler compiler{{}};
  const compiled_rule made = compiler.compile(with(list));
  codes found;
  for (const action_step& each : made.shape->steps) found.push_back(each.code);
  compiler.release(made.shape);
  return found;
}

TEST(both_addresses, are_one_op_where_nothing_is_between_them) {
  using enum op_code;
  const action to = act::set(field::eth_dst, 0x0200'0000'0001);
  const action from = act::set(field::eth_src, 0x0200'0000'0002);
  const action some_bits = act::set_field{field::eth_src, 1, 1};
  EXPECT_EQ(codes_of({to, from}), codes{set_macs});
  EXPECT_EQ(codes_of({from, to, test::output(1)}), (codes{set_macs, output}));
  EXPECT_EQ(codes_of({from, to, from}), (codes{set_macs, set}));
  EXPECT_EQ(codes_of({to, to, from}), (codes{set, set_macs}));
  EXPECT_EQ(codes_of({to, from, to, from}), (codes{set_macs, set_macs}));
  EXPECT_EQ(codes_of({from, act::dec_ip_ttl{}, to}), (codes{set, dec_ip_ttl, set}));
  EXPECT_EQ(codes_of({some_bits, to}), (codes{set_bits, set}));
  EXPECT_EQ(codes_of({from}), codes{set});
}

TEST(learned_values, lead_to_a_rule_or_it_is_said_why_not) {
  using not_learned = running_bridge::not_learned;
  auto made = running_bridge::create();
  ASSERT_TRUE(made.has_value());
  running_bridge& b = **made;
  act::learn how;
  how.parts = {{part::role::match, field_bits{field::reg0, 0, 13}, 0, {field::vlan_vid, 0, 13}}};
  const stored_ops ops = b.compiler().compile_packet_out({how});
  learned_values values;
  values.id = ops.learnings.at(0)->id;
  values.n = 1;
  values.values = {vlan_present | 5};
  const auto there = b.to_operation(values);
  ASSERT_TRUE(there.has_value());
  EXPECT_EQ(std::get<rule_mod>(*there).match, test::where({exact(field::vlan_vid, 0x1005)}));
  values.values = {5};
  EXPECT_EQ(b.to_operation(values).error(), not_learned::no_match);
  ++values.id;
  EXPECT_EQ(b.to_operation(values).error(), not_learned::gone);
}

}  // namespace
}  // namespace coua::pipeline
