// SPDX-License-Identifier: Apache-2.0
//
// Which changes of a large table are done in a moment. What is said to be builds nothing anew, and
// changes of the usual kind are said to be.
#include <gtest/gtest.h>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::change_rules;
using pipeline::test::output;
using pipeline::test::where;

constexpr unsigned n_many = 20'000;
constexpr unsigned most_apart = static_cast<unsigned>(template_limits().most_apart());

class quick_changes : public ::testing::Test {
 protected:
  void SetUp() override {
    bridge_params params;
    params.rules_max = 1 << 17;
    auto made = running_bridge::create(params);
    ASSERT_TRUE(made.has_value());
    bridge_ = std::move(*made);
  }
  /// Whether it is said to be quick; then nothing may be built for it.
  bool change(const operation& one) {
    const bool is_quick = bridge_->is_quick({&one, 1});
    const auto [form, store] = what_there_is();
    EXPECT_TRUE(bridge_->apply(one, 0));
    bridge_->reclaim();
    EXPECT_TRUE(!is_quick || what_there_is() == std::pair(form, store));
    return is_quick;
  }
  template <class Make>
  unsigned change(unsigned first, unsigned n, Make make) {
    unsigned n_quick = 0;
    for (unsigned i = first; i < first + n; ++i) n_quick += change(make(i));
    return n_quick;
  }
  template <class Make>
  void fill(Make make) {
    std::vector<operation> bundle;
    for (unsigned i = 0; i < n_many; ++i) bundle.emplace_back(make(i));
    ASSERT_TRUE(bridge_->apply(bundle, 0));
  }
  table_template kind() const { return bridge_->compiler().form(0)->kind(); }

  std::unique_ptr<running_bridge> bridge_;

 private:
  std::pair<const table_form*, const void*> what_there_is() const {
    const table_form* form = bridge_->compiler().form(0);
    return {form, form == nullptr ? nullptr : form->stage().exact};
  }
};

const instructions sent = pipeline::test::apply({output(1)});

rule_mod mac_rule(unsigned which) {
  return add_rule(0, 10, where({exact(field::eth_dst, which)}), sent);
}
rule_mod route(unsigned which, unsigned length = 24, std::uint16_t priority = 24) {
  const value128 mask = full_mask(field::ipv4_dst) & ~ones(32 - length);
  return add_rule(
      0, priority,
      where({pipeline::test::ipv4(), {field::ipv4_dst, (value128{which} << 8) & mask, mask}}),
      sent);
}
rule_mod odd_rule(unsigned which) {
  return add_rule(0, 99, where({exact(field::in_port, 1 + which)}), sent);
}

TEST_F(quick_changes, of_exact_tables_are_those_that_find_room) {
  fill(mac_rule);
  ASSERT_EQ(kind(), table_template::exact);
  // All but one, for which the store grows.
  EXPECT_EQ(change(n_many, n_many + 10, mac_rule), n_many + 9);
  ASSERT_EQ(kind(), table_template::exact);
  rule_mod last = add_rule(0, 1, {}, sent);
  EXPECT_TRUE(change(last));
  last.priority = 11;  // above the others
  EXPECT_FALSE(change(last));
}

/// A table of many rules is not touched by a few that are unlike them.
TEST_F(quick_changes, are_rules_that_come_and_go_apart) {
  const auto remove = [](unsigned which) {
    rule_mod made = odd_rule(which);
    made.command = rule_command::remove_strict;
    return made;
  };
  const auto come_and_go = [&](table_template beside) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(change(0, most_apart, odd_rule), most_apart);
      EXPECT_EQ(change(0, most_apart, remove), most_apart);
      while (bridge_->reclaim() != 0) {
      }
    }
    EXPECT_EQ(kind(), beside);
  };
  fill(mac_rule);
  come_and_go(table_template::exact);
  ASSERT_TRUE(bridge_->apply(change_rules(rule_command::remove, 0, 0, {}), 0));
  fill([](unsigned i) { return route(i, 24 - i % 2, static_cast<std::uint16_t>(24 - i % 2)); });
  come_and_go(table_template::lpm);
}

/// Of those that come together, others are of other bits, too.
TEST_F(quick_changes, are_no_more_rules_apart_at_once_than_there_may_be) {
  fill(mac_rule);
  std::vector<operation> some;
  for (unsigned i = 0; i < most_apart; ++i) some.emplace_back(odd_rule(i));
  EXPECT_FALSE(bridge_->is_quick(some));
  some.resize(most_apart / 2);
  EXPECT_TRUE(bridge_->is_quick(some));
}

/// Prefixes would be cheaper, and are waited for.
TEST_F(quick_changes, are_routes_that_leave_a_table_exact_for_now) {
  fill([](unsigned i) { return route(i); });
  ASSERT_EQ(kind(), table_template::exact);
  EXPECT_TRUE(change(route(0, 16, 16)));
  EXPECT_EQ(change(n_many, 1000, [](unsigned i) { return route(i); }), 1000U);
  EXPECT_EQ(kind(), table_template::exact);
}

TEST_F(quick_changes, are_no_rules_that_need_another_template) {
  fill(mac_rule);
  change(0, most_apart, odd_rule);
  EXPECT_FALSE(change(odd_rule(most_apart)));
  const table_template other = kind();
  EXPECT_NE(other, table_template::exact);
  EXPECT_GT(change(n_many, 1000, mac_rule), 990U);
  EXPECT_EQ(kind(), other);
  for (unsigned i = 0; i <= most_apart; ++i) {
    rule_mod gone = odd_rule(i);
    gone.command = rule_command::remove_strict;
    change(gone);
  }
  // Exact would serve, and is built at last.
  const unsigned n_quick = change(n_many + 1000, n_many / 2, mac_rule);
  EXPECT_EQ(kind(), table_template::exact);
  EXPECT_GT(n_quick, n_many / 2 - 10);
  EXPECT_LT(n_quick, n_many / 2);
}

TEST_F(quick_changes, of_routes_are_those_that_leave_them_routes) {
  fill([](unsigned i) { return i == 0 ? route(0, 16, 16) : route(i); });
  ASSERT_EQ(kind(), table_template::lpm);
  EXPECT_EQ(change(n_many, 1000, [](unsigned i) { return route(i); }), 1000U);
  EXPECT_TRUE(change(route(256, 16, 16)));
  EXPECT_FALSE(change(route(512, 16, 25)));  // shorter, and before the longer ones
}

TEST_F(quick_changes, are_none_that_look_at_all_rules) {
  fill(mac_rule);
  const operation loose =
      change_rules(rule_command::remove, 0, 0, where({exact(field::eth_dst, 1)}));
  EXPECT_FALSE(bridge_->is_quick({&loose, 1}));
  EXPECT_TRUE(
      change(change_rules(rule_command::remove_strict, 0, 10, where({exact(field::eth_dst, 1)}))));
  EXPECT_TRUE(change(
      change_rules(rule_command::modify_strict, 0, 10, where({exact(field::eth_dst, 2)}), sent)));
}

TEST_F(quick_changes, of_conjunctions_are_those_of_their_clauses) {
  fill(mac_rule);
  const instructions clause = pipeline::test::apply({act::conjunction{1, 0, 2}});
  EXPECT_TRUE(change(add_rule(0, 99, where({exact(field::in_port, 1)}), clause)));
  EXPECT_EQ(kind(), table_template::exact);
  // What was a clause takes its place by age among the others.
  rule_mod one = mac_rule(n_many);
  for (const rule_command command : {rule_command::add, rule_command::modify_strict}) {
    one.command = rule_command::add;
    one.instructions = clause;
    change(one);
    one.command = command;
    one.instructions = sent;
    EXPECT_FALSE(change(one));
  }
}

}  // namespace
}  // namespace coua::test
