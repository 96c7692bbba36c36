// SPDX-License-Identifier: Apache-2.0
//
// Groups, meters and ports as a controller or the switch changes them (OpenFlow 1.3.5, sections
// 5.6, 5.7, 6.5, 6.6).
#include <gtest/gtest.h>

#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using namespace test;

group_mod change_group(group_id id, group_type type, std::vector<bucket> buckets) {
  group_mod made = add_group(id, type, std::move(buckets));
  made.command = mod_command::modify;
  return made;
}
group_mod remove_group(group_id id) { return {mod_command::remove, {.id = id}}; }
meter_mod remove_meter(meter_id id) { return {mod_command::remove, {.id = id}}; }
bucket watching_group(action_list actions, group_id watched) {
  bucket made = to(std::move(actions));
  made.watch_group = watched;
  return made;
}

TEST(group_ops, adds_what_is_new_and_modifies_what_is_there) {
  bridge b = make_bridge();
  EXPECT_EQ(refused(b, change_group(1, group_type::all, {})), of_error::group_mod_unknown_group);
  must(b, add_group(1, group_type::all, {}));
  EXPECT_EQ(refused(b, add_group(1, group_type::all, {})), of_error::group_mod_group_exists);
  must(b, change_group(1, group_type::indirect, {to({output(1)})}));
  EXPECT_EQ(b.find_group(1)->group->type, group_type::indirect);
  must(b, add_group(group_max, group_type::all, {}));
  EXPECT_EQ(refused(b, add_group(group_max + 1, group_type::all, {})),
            of_error::group_mod_invalid_group);
}

TEST(group_ops, a_modification_keeps_the_group_counters_and_clears_those_of_buckets) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {to({output(1)}), to({output(2)})}), 4);
  b.count_group(1, {5, 500});
  b.count_bucket(1, 1, {5, 500});
  b.count_bucket(1, 2, {5, 500});  // there is none
  EXPECT_EQ(b.find_group(1)->state.buckets[1], (traffic{5, 500}));
  must(b, change_group(1, group_type::all, {to({output(1)}), to({output(3)})}), 9);
  EXPECT_EQ(b.find_group(1)->state.counted, (traffic{5, 500}));
  EXPECT_EQ(b.find_group(1)->state.buckets, (std::vector<traffic>(2)));
  EXPECT_EQ(b.find_group(1)->state.added, 4U);
}

TEST(group_ops, types_ask_for_what_the_specification_says) {
  bridge b = make_bridge();
  EXPECT_EQ(refused(b, add_group(1, group_type::indirect, {})), of_error::group_mod_invalid_group);
  EXPECT_EQ(refused(b, add_group(1, group_type::indirect, {to({}), to({})})),
            of_error::group_mod_invalid_group);
  EXPECT_EQ(refused(b, add_group(1, group_type::all, {to({}, 5)})), of_error::group_mod_bad_bucket);
  EXPECT_EQ(refused(b, add_group(1, group_type::all, {to({}, 0, 1)})),
            of_error::group_mod_watch_unsupported);
  EXPECT_EQ(refused(b, add_group(1, group_type::fast_failover, {to({})})),
            of_error::group_mod_bad_watch);
  EXPECT_EQ(refused(b, add_group(1, group_type::fast_failover, {to({}, 0, port_all)})),
            of_error::group_mod_bad_watch);
  EXPECT_EQ(refused(b, add_group(1, group_type::fast_failover, {watching_group({}, 5)})),
            of_error::group_mod_bad_watch);
  must(b, add_group(1, group_type::fast_failover, {to({}, 0, 1), to({}, 0, port_local)}));
  must(b, add_group(2, group_type::select, {to({}, 5, 1), to({}, 0)}));
  EXPECT_EQ(refused(b, add_group(3, group_type::all, std::vector<bucket>(buckets_max + 1))),
            of_error::group_mod_out_of_buckets);
}

TEST(group_ops, buckets_are_checked) {
  bridge b = make_bridge();
  EXPECT_EQ(refused(b, add_group(1, group_type::all, {to({act::group{2}})})),
            of_error::bad_action_out_group);
  EXPECT_EQ(refused(b, add_group(1, group_type::all, {to({output(port_table)})})),
            of_error::bad_action_out_port);
  must(b, add_group(1, group_type::all, {to({act::dec_ip_ttl{}, output(1)})}));
}

TEST(group_ops, loops_are_refused) {
  bridge b = make_bridge();
  EXPECT_EQ(refused(b, add_group(1, group_type::all, {to({act::group{1}})})),
            of_error::group_mod_loop);
  must(b, add_group(1, group_type::all, {}));
  must(b, add_group(2, group_type::all, {to({act::group{1}})}));
  must(b, add_group(3, group_type::all, {to({act::group{1}}), to({act::group{2}})}));
  EXPECT_EQ(refused(b, change_group(1, group_type::all, {to({act::group{3}})})),
            of_error::group_mod_loop);
  EXPECT_EQ(refused(b, change_group(1, group_type::fast_failover, {watching_group({}, 3)})),
            of_error::group_mod_loop);
  must(b, change_group(3, group_type::all, {}));
  must(b, change_group(1, group_type::all, {to({act::group{3}})}));
}

// Two ways from each group to the one below: 2^n copies of a packet.
TEST(group_ops, ways_through_groups_do_not_grow_without_limit) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {to({output(1)})}));
  const auto doubled = [](group_id id) {
    return add_group(id, group_type::all,
                     {to({act::group{id - 1}, output(1)}), to({act::group{id - 1}})});
  };
  group_id id = 2;
  while (b.apply(doubled(id), 0).has_value()) ++id;
  EXPECT_EQ(id, 16U);  // 3 * 2^n - 2 ways to the group n + 1
  EXPECT_EQ(refused(b, doubled(id)), of_error::group_mod_out_of_buckets);
  // Nor from below, where a group with others above it grows.
  EXPECT_EQ(refused(b, change_group(1, group_type::all, {to({}), to({}), to({})})),
            of_error::group_mod_out_of_buckets);
  must(b, change_group(1, group_type::all, {to({})}));
}

TEST(group_ops, chains_of_groups_are_not_endless) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {}));
  const auto above = [](group_id id) {
    return add_group(id, group_type::indirect, {to({act::group{id - 1}})});
  };
  for (group_id id = 2; id <= group_depth_max; ++id) must(b, above(id));
  EXPECT_EQ(refused(b, above(group_depth_max + 1)), of_error::group_mod_chaining_unsupported);
  must(b, add_group(100, group_type::all, {}));
  EXPECT_EQ(refused(b, change_group(1, group_type::indirect, {to({act::group{100}})})),
            of_error::group_mod_chaining_unsupported);
}

TEST(group_ops, groups_that_need_others_are_counted) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {}));
  must(b, add_group(2, group_type::all, {to({act::group{1}}), to({act::group{1}})}));
  EXPECT_EQ(b.find_group(1)->state.n_groups, 1U);
  // A bundle that fails leaves the count as it was.
  const std::vector<operation> bundle = {change_group(2, group_type::all, {}), remove_group(1),
                                         remove_group(group_all),
                                         add_group(5, group_type::indirect, {})};
  EXPECT_FALSE(b.apply(bundle, 0).has_value());
  EXPECT_EQ(b.find_group(1)->state.n_groups, 1U);
  const std::vector<operation> other = {remove_group(group_all),
                                        add_group(5, group_type::indirect, {})};
  EXPECT_FALSE(b.apply(other, 0).has_value());
  EXPECT_EQ(b.find_group(1)->state.n_groups, 1U);
  EXPECT_EQ(refused(b, remove_group(1)), of_error::group_mod_chained_group);
  EXPECT_EQ(b.apply(remove_group(1), 0).error().what, "1 other group needs it");
  must(b, change_group(2, group_type::all, {}));
  must(b, remove_group(1));
}

TEST(group_ops, removing_a_group_removes_the_rules_that_use_it) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {}));
  must(b, add_group(2, group_type::all, {}));
  must(b, add_rule(0, 1, {}, apply({act::group{1}, act::group{1}})));
  must(b, add_rule(1, 1, {}, write({act::group{1}})));
  must(b, add_rule(2, 1, {}, write({act::group{2}})));
  EXPECT_EQ(b.find_group(1)->state.n_rules, 2U);
  const change_list done = must(b, remove_group(1));
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(std::get<rule_change>(done[0]).reason, removal_reason::group_deleted);
  EXPECT_EQ(std::get<rule_change>(done[1]).reason, removal_reason::group_deleted);
  EXPECT_EQ(std::get<group_change>(done[2]).after, nullptr);
  EXPECT_EQ(b.n_rules(), 1U);
  EXPECT_TRUE(must(b, remove_group(1)).empty());
}

TEST(group_ops, rules_that_change_are_counted_where_they_belong) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {}));
  must(b, add_group(2, group_type::all, {}));
  must(b, add_rule(0, 1, {}, apply({act::group{1}})));
  must(b, change_rules(rule_command::modify, 0, 1, {}, apply({act::group{2}})));
  EXPECT_EQ(b.find_group(1)->state.n_rules, 0U);
  EXPECT_EQ(b.find_group(2)->state.n_rules, 1U);
  must(b, change_rules(rule_command::remove, 0, 1, {}));
  EXPECT_EQ(b.find_group(2)->state.n_rules, 0U);
}

TEST(group_ops, a_group_that_others_need_stays) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {}));
  must(b, add_group(2, group_type::all, {to({act::group{1}})}));
  must(b, add_group(3, group_type::fast_failover, {watching_group({}, 2)}));
  EXPECT_EQ(refused(b, remove_group(1)), of_error::group_mod_chained_group);
  EXPECT_EQ(refused(b, remove_group(2)), of_error::group_mod_chained_group);
  must(b, add_rule(0, 1, {}, apply({act::group{3}})));
  must(b, add_rule(0, 2, {}, apply({output(1)})));
  must(b, remove_group(group_all));
  EXPECT_TRUE(b.groups().empty());
  EXPECT_EQ(b.n_rules(), 1U);
}

TEST(group_ops, secrets_differ_and_stay) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::select, {}));
  must(b, add_group(2, group_type::select, {}));
  const hash_key secret = b.find_group(1)->group->secret;
  EXPECT_NE(secret, b.find_group(2)->group->secret);
  must(b, change_group(1, group_type::select, {to({}, 1)}));
  EXPECT_EQ(secret, b.find_group(1)->group->secret);
}

TEST(group_ops, there_is_a_limit) {
  bridge b = make_bridge({.groups_max = 1, .meters_max = 1});
  must(b, add_group(1, group_type::all, {}));
  EXPECT_EQ(refused(b, add_group(2, group_type::all, {})), of_error::group_mod_out_of_groups);
  must(b, add_meter(1, meter_unit::kbps, {}));
  EXPECT_EQ(refused(b, add_meter(2, meter_unit::kbps, {})), of_error::meter_mod_out_of_meters);
}

TEST(meter_ops, adds_modifies_and_reports_what_was_set) {
  bridge b = make_bridge();
  meter_mod asked = add_meter(5, meter_unit::pktps, {{band_type::drop, 10, 7, 0}});
  must(b, asked, 3);
  EXPECT_EQ(*b.find_meter(5)->meter, asked.what);
  EXPECT_EQ(refused(b, asked), of_error::meter_mod_meter_exists);
  b.count_meter(5, {2, 200});
  b.count_band(5, 0, {1, 100});
  const std::uint64_t generation = b.find_meter(5)->state.generation;
  asked.command = mod_command::modify;
  asked.what.bands[0].rate = 20;
  must(b, asked, 9);
  EXPECT_EQ(b.find_meter(5)->meter->bands[0].rate, 20U);
  EXPECT_EQ(b.find_meter(5)->state.counted, (traffic{2, 200}));
  EXPECT_EQ(b.find_meter(5)->state.bands, std::vector<traffic>(1));
  EXPECT_NE(b.find_meter(5)->state.generation, generation);
  asked.what.id = 6;
  EXPECT_EQ(refused(b, asked), of_error::meter_mod_unknown_meter);
}

TEST(meter_ops, bands_are_checked) {
  bridge b = make_bridge();
  const auto wrong = [&](meter_mod asked) { return refused(b, asked); };
  EXPECT_EQ(wrong(add_meter(0, meter_unit::kbps, {})), of_error::meter_mod_invalid_meter);
  EXPECT_EQ(wrong(add_meter(meter_max + 1, meter_unit::kbps, {})),
            of_error::meter_mod_invalid_meter);
  EXPECT_EQ(wrong(add_meter(1, meter_unit::kbps, {{band_type::drop, 0, 0, 0}})),
            of_error::meter_mod_bad_rate);
  EXPECT_EQ(wrong(add_meter(1, meter_unit::kbps, {{band_type::dscp_remark, 1, 0, 0}})),
            of_error::meter_mod_bad_band_value);
  meter_mod burst = add_meter(1, meter_unit::kbps, {{band_type::drop, 1, 0, 0}});
  burst.what.has_burst = true;
  EXPECT_EQ(wrong(burst), of_error::meter_mod_bad_burst);
  EXPECT_EQ(wrong(add_meter(1, meter_unit::kbps, std::vector<meter_band>(bands_max + 1))),
            of_error::meter_mod_out_of_bands);
}

TEST(meter_ops, removing_a_meter_removes_the_rules_that_use_it) {
  bridge b = make_bridge();
  must(b, add_meter(1, meter_unit::kbps, {}));
  must(b, add_meter(2, meter_unit::kbps, {}));
  instructions metered = apply({output(1)});
  metered.meter = 1;
  must(b, add_rule(0, 1, {}, metered));
  must(b, add_rule(1, 1, {}, apply({output(1)})));
  EXPECT_EQ(b.find_meter(1)->state.n_rules, 1U);
  const change_list done = must(b, remove_meter(1));
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(std::get<rule_change>(done[0]).reason, removal_reason::meter_deleted);
  EXPECT_EQ(b.n_rules(), 1U);
  metered.meter = 2;
  must(b, add_rule(0, 1, {}, metered));
  must(b, remove_meter(meter_all));
  EXPECT_TRUE(b.meters().empty());
  EXPECT_EQ(b.n_rules(), 1U);
}

TEST(port_ops, ports_come_change_and_go) {
  bridge b = make_bridge();
  must(b, add_port(1));
  EXPECT_EQ(refused(b, add_port(1)), of_error::port_mod_bad_port);
  EXPECT_EQ(refused(b, add_port(0)), of_error::port_mod_bad_port);
  EXPECT_EQ(refused(b, add_port(port_controller)), of_error::port_mod_bad_port);
  must(b, add_port(port_local));
  port_mod change{mod_command::modify, {.number = 1, .live = false}};
  EXPECT_EQ(must(b, change).size(), 1U);
  EXPECT_TRUE(must(b, change).empty());  // nothing new
  change.what.number = 9;
  EXPECT_EQ(refused(b, change), of_error::port_mod_bad_port);
  EXPECT_EQ(must(b, port_mod{mod_command::remove, {.number = 1}}).size(), 1U);
  EXPECT_TRUE(must(b, port_mod{mod_command::remove, {.number = 1}}).empty());
}

TEST(of_error, has_the_numbers_of_the_specification) {
  EXPECT_EQ(wire_type(of_error::bad_match_prereq), 4);
  EXPECT_EQ(wire_code(of_error::bad_match_prereq), 9);
  EXPECT_EQ(wire_type(of_error::flow_mod_overlap), 5);
  EXPECT_EQ(wire_code(of_error::flow_mod_overlap), 3);
  EXPECT_EQ(wire_type(of_error::group_mod_loop), 6);
  EXPECT_EQ(wire_code(of_error::group_mod_loop), 7);
  EXPECT_EQ(wire_type(of_error::meter_mod_unknown_meter), 12);
  EXPECT_EQ(wire_code(of_error::meter_mod_unknown_meter), 3);
  EXPECT_EQ(wire_type(of_error::nicira_bad_conjunction), 0xffff);
  EXPECT_EQ(wire_code(of_error::nicira_bad_conjunction), 15);
  EXPECT_EQ(to_error({of_error::flow_mod_overlap, "table 1", "x"}).code, errc::exists);
  EXPECT_EQ(to_error({of_error::bad_match_mask, "table 1", "x"}).message(), "table 1: x");
}

}  // namespace
}  // namespace coua::pipeline
