// SPDX-License-Identifier: Apache-2.0
//
// Changes between packets and the collection of their counts: what was counted stays where the
// change keeps it, and is gone where it does not. The oracle's model counts each packet at once.
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

class uncollected : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void send(unsigned n) {
    const packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
    in_.receive(std::vector<packet>(n, one));
  }
  traffic of_rule() const { return in_.bridge().model().tables()[0].find(5, {})->state.counted; }
  rule_mod rule_to(port_no port, std::uint16_t flags = 0) {
    rule_mod made = add_rule(0, 5, {}, pipeline::test::apply({output(port)}));
    made.flags = flags;
    return made;
  }

  mutable checked_pipeline in_;
};

TEST_F(uncollected, counts_of_a_rule_outlive_its_replacement) {
  must({rule_to(2)});
  send(3);
  must({rule_to(3)});
  send(4);
  in_.check_counters();
  EXPECT_EQ(of_rule().packets, 7U);
}

TEST_F(uncollected, counts_of_a_rule_go_when_they_are_reset) {
  must({rule_to(2)});
  send(3);
  must({rule_to(3, rule_reset_counts)});
  send(4);
  in_.check_counters();
  EXPECT_EQ(of_rule().packets, 4U);
  rule_mod modified = rule_to(2, rule_reset_counts);
  modified.command = rule_command::modify;
  send(2);
  must({modified});
  send(1);
  in_.check_counters();
  EXPECT_EQ(of_rule().packets, 1U);
}

TEST_F(uncollected, counts_of_a_rule_keep_the_rule_alive_that_resets_them) {
  rule_mod idle = rule_to(2);
  idle.idle_timeout_s = 4;
  must({idle});
  in_.wait(3 * ns_per_s);
  send(1);
  rule_mod modified = rule_to(3, rule_reset_counts);
  modified.command = rule_command::modify;
  must({modified});
  in_.wait(3 * ns_per_s);
  EXPECT_EQ(in_.bridge().model().n_rules(), 1U);
  in_.wait(3 * ns_per_s);
  EXPECT_EQ(in_.bridge().model().n_rules(), 0U);
}

TEST_F(uncollected, counts_of_a_rule_go_with_it) {
  must({rule_to(2)});
  send(3);
  // As in the message that the rule is removed: compared when a change is done.
  must({pipeline::test::change_rules(rule_command::remove, 0, 0, {}), rule_to(3)});
  send(4);
  in_.check_counters();
  EXPECT_EQ(of_rule().packets, 4U);
}

TEST_F(uncollected, counts_are_shown_by_the_flags_that_the_rule_had) {
  must({rule_to(2)});
  send(3);
  must({rule_to(2, rule_no_packet_counts)});
  send(4);
  must({rule_to(2, rule_no_byte_counts)});
  send(5);
  in_.check_counters();
  EXPECT_EQ(of_rule().packets, 8U);
}

TEST_F(uncollected, own_counts_of_a_group_outlive_its_modification) {
  using pipeline::test::to;
  group_mod one = pipeline::test::add_group(7, group_type::all, {to({output(2)}), to({output(3)})});
  must({one, add_rule(0, 5, {}, pipeline::test::apply({act::group{7}}))});
  send(3);
  one.command = mod_command::modify;
  one.what.buckets.pop_back();
  must({one});
  send(4);
  one.what.buckets.clear();
  must({one});
  send(5);
  one.what.buckets = {to({output(2)}), to({output(3)}), to({output(4)})};
  must({one});
  send(6);
  in_.check_counters();
  const group_state& state = in_.bridge().model().find_group(7)->state;
  EXPECT_EQ(state.counted.packets, 18U);
  EXPECT_EQ(state.buckets[2].packets, 6U);
}

TEST_F(uncollected, counts_of_buckets_outlive_the_death_of_a_port) {
  using pipeline::test::to;
  must({pipeline::test::add_group(7, group_type::fast_failover,
                                  {to({output(2)}, 0, 2), to({output(3)}, 0, 3)}),
        add_rule(0, 5, {}, pipeline::test::apply({act::group{7}}))});
  send(3);
  port_mod dead = pipeline::test::add_port(2);
  dead.command = mod_command::modify;
  dead.what.live = false;
  must({dead});
  send(4);
  in_.check_counters();
  const group_state& state = in_.bridge().model().find_group(7)->state;
  EXPECT_EQ(state.buckets[0].packets, 3U);
  EXPECT_EQ(state.buckets[1].packets, 4U);
}

TEST_F(uncollected, own_counts_of_a_meter_outlive_its_modification) {
  meter_mod one = pipeline::test::add_policer(1, 1, 2);
  rule_mod metered = rule_to(2);
  metered.instructions.meter = 1;
  must({one, metered});
  send(5);
  one.command = mod_command::modify;
  must({one});
  send(4);
  in_.check_counters();
  const meter_state& state = in_.bridge().model().find_meter(1)->state;
  EXPECT_EQ(state.counted.packets, 9U);
  EXPECT_EQ(state.bands[0].packets, 2U);
}

// A burst keeps deliveries_max, which the harness checks; the others are dropped and counted.
TEST_F(uncollected, copies_beyond_those_of_a_burst_are_dropped_and_counted) {
  constexpr std::size_t n_packets = executor::burst_max;
  constexpr std::size_t n_each = executor::deliveries_max / n_packets + 1;
  must({add_rule(0, 5, {}, pipeline::test::apply(action_list(n_each, output(2))))});
  send(n_packets);
  EXPECT_EQ(in_.n_outputs, executor::deliveries_max);
  EXPECT_EQ(in_.bridge().compiler().counts(0).drops(pipeline_drop::too_many),
            n_packets * n_each - executor::deliveries_max);
  in_.check_counters();
}

// Red when packets that are only noted as sent do not count.
TEST_F(uncollected, a_packet_that_is_sent_once_is_a_copy_of_the_burst) {
  constexpr std::size_t n_each = executor::deliveries_max / (executor::burst_max - 1) + 1;
  must({add_rule(0, 5, {}, pipeline::test::apply(action_list(n_each, output(2)))),
        add_rule(0, 6, pipeline::test::where({exact(field::in_port, 3)}),
                 pipeline::test::apply({output(2)}))});
  std::vector<packet> all(executor::burst_max,
                          pipeline::test::from_port_1(pipeline::test::frames()[3]));
  for (const std::size_t single : {std::size_t{0}, all.size() - 1}) {
    std::vector<packet> burst = all;
    burst[single].in_port = 3;
    const std::uint64_t before = in_.n_outputs;
    in_.receive(burst);
    EXPECT_EQ(in_.n_outputs - before, executor::deliveries_max);
    in_.check_counters();
  }
}

}  // namespace
}  // namespace coua::test
