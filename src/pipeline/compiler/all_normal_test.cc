// SPDX-License-Identifier: Apache-2.0
//
// A pipeline that is nothing but the L2 switch: when it says so, and what it counts.
#include <gtest/gtest.h>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/datapath/executor.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using test::add_rule;
using test::output;

const action_list to_normal{output(port_normal)};

class no_copies : public packet_copier {
 public:
  bool copy(const owned_packet&, owned_packet&) noexcept override { return false; }
  void give_back(const owned_packet&) noexcept override {}
};

class all_normal : public ::testing::Test {
 protected:
  void SetUp() override {
    bridge_params params;
    params.n_tables = 3;
    params.rules_max = 1024;
    auto made = running_bridge::create(params);
    ASSERT_TRUE(made.has_value());
    bridge_ = std::move(*made);
    auto worker = executor::create(compiler().published(), 0, compiler().counts(0), copies_);
    ASSERT_TRUE(worker.has_value());
    worker_ = std::move(*worker);
  }
  void TearDown() override {
    worker_.reset();  // a reader of the bridge's grace periods
  }
  void must(std::vector<operation> bundle) {
    const auto done = bridge_->apply(bundle, 0);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  pipeline_compiler& compiler() { return bridge_->compiler(); }
  bool is_normal() const { return worker_->all_normal() != executor::none; }

  no_copies copies_;
  std::unique_ptr<running_bridge> bridge_;
  std::unique_ptr<executor> worker_;
};

TEST_F(all_normal, is_one_rule_for_all_packets) {
  EXPECT_FALSE(is_normal());  // no rule: all is dropped
  must({add_rule(0, 0, {}, test::apply(to_normal))});
  EXPECT_TRUE(is_normal());
  must({add_rule(0, 0, {}, test::write(to_normal))});
  EXPECT_TRUE(is_normal());
  must({add_rule(1, 7, {}, test::apply({output(2)}))});  // out of reach
  EXPECT_TRUE(is_normal());
  must({test::change_rules(rule_command::remove, 0, 0, {})});
  EXPECT_FALSE(is_normal());
  must({add_rule(0, 9, {}, test::apply(to_normal))});
  EXPECT_TRUE(is_normal());
}

TEST_F(all_normal, is_not_what_does_more_or_less) {
  const rule_mod only = add_rule(0, 0, {}, test::apply(to_normal));
  must({only});
  const auto expect_not = [&](const std::vector<operation>& more,
                              const std::vector<operation>& back) {
    must(more);
    EXPECT_FALSE(is_normal());
    must(back);
    EXPECT_TRUE(is_normal());
  };
  const match some = test::where({exact(field::eth_dst, 1)});
  expect_not({add_rule(0, 1, some, test::apply({output(2)}))},
             {test::change_rules(rule_command::remove_strict, 0, 1, some)});
  expect_not({add_rule(0, 0, {}, test::apply({output(2)}))}, {only});
  expect_not({add_rule(0, 0, {}, test::apply({output(port_normal), output(2)}))}, {only});
  instructions onward = test::apply(to_normal);
  onward.goto_table = 1;
  expect_not({add_rule(0, 0, {}, onward)}, {only});
  instructions limited = test::apply(to_normal);
  limited.meter = 1;
  meter_band band;
  band.rate = 1000;
  must({test::add_meter(1, meter_unit::pktps, {band})});
  expect_not({add_rule(0, 0, {}, limited)}, {only});
  // A port from which nothing is taken.
  port_mod closed = test::add_port(1);
  closed.what.no_recv = true;
  port_mod gone = closed;
  gone.command = mod_command::remove;
  expect_not({closed}, {gone});
}

TEST_F(all_normal, a_rule_for_some_packets_is_not) {
  must({add_rule(0, 5, test::where({exact(field::in_port, 1)}), test::apply(to_normal))});
  EXPECT_FALSE(is_normal());
}

TEST_F(all_normal, counts_rule_and_table) {
  must({add_rule(0, 0, {}, test::apply(to_normal))});
  worker_->count_normal(worker_->all_normal(), 32, 2048);
  worker_->count_normal(worker_->all_normal(), 1, 60);
  bridge_->collect(5);
  const rule_table& table = bridge_->model().tables()[0];
  EXPECT_EQ(table.lookups, 33U);
  EXPECT_EQ(table.matches, 33U);
  const rule_table::entry* rule = table.find(0, {});
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->state.counted, (traffic{33, 2108}));
  EXPECT_EQ(rule->state.used, 5U);
}

TEST_F(all_normal, a_rule_that_is_refused_changes_nothing) {
  must({add_rule(0, 0, {}, test::apply(to_normal))});
  const std::uint32_t number = worker_->all_normal();
  std::vector<operation> too_many = {test::change_rules(rule_command::remove, 0, 0, {})};
  for (unsigned i = 0; i < 2000; ++i) {
    too_many.emplace_back(
        add_rule(0, 1, test::where({exact(field::eth_dst, i)}), test::apply({output(2)})));
  }
  EXPECT_FALSE(bridge_->apply(too_many, 0).has_value());
  EXPECT_EQ(worker_->all_normal(), number);
}

}  // namespace
}  // namespace coua::pipeline
