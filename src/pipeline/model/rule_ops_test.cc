// SPDX-License-Identifier: Apache-2.0
//
// Rules as a controller adds, modifies and removes them (OpenFlow 1.3.5, section 6.4), time-outs
// (6.5) and bundles.
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using namespace test;

const rule_change& only_rule(const change_list& list) {
  COUA_CHECK(list.size() == 1);
  return std::get<rule_change>(list[0]);
}
match dst(unsigned n) { return where({exact(field::eth_dst, n)}); }
const rule_table::entry& find(const bridge& in, table_id table, std::uint16_t priority,
                              const match& what) {
  const rule_table::entry* one = in.tables()[table].find(priority, what);
  COUA_CHECK(one != nullptr);
  return *one;
}

TEST(rule_ops, adding_says_what_came) {
  bridge b = make_bridge();
  rule_mod asked = add_rule(3, 10, dst(1), apply({output(2)}));
  asked.cookie = 77;
  const change_list done = must(b, asked, 5);
  const rule_change& one = only_rule(done);
  EXPECT_EQ(one.before, nullptr);
  EXPECT_EQ(one.after->table, 3);
  EXPECT_EQ(one.after->cookie, 77U);
  EXPECT_EQ(one.after->added, 5U);
  EXPECT_EQ(b.find_rule(one.after->id)->rule, one.after);
  EXPECT_EQ(b.n_rules(), 1U);
  EXPECT_EQ(b.version(), 1U);
}

TEST(rule_ops, adding_the_same_again_replaces_it_and_keeps_its_counters) {
  bridge b = make_bridge();
  const rule_id id = only_rule(must(b, add_rule(0, 10, dst(1), apply({output(2)})), 5)).after->id;
  b.count_rule(id, {3, 300}, 6);
  rule_mod again = add_rule(0, 10, dst(1), apply({output(9)}));
  again.cookie = 5;
  const change_list done = must(b, again, 50);
  EXPECT_EQ(only_rule(done).before->instructions, apply({output(2)}));
  EXPECT_EQ(only_rule(done).after->id, id);
  EXPECT_EQ(b.find_rule(id)->state.counted, (traffic{3, 300}));
  EXPECT_EQ(b.find_rule(id)->rule->cookie, 5U);
  EXPECT_EQ(b.find_rule(id)->rule->added, 50U);
  EXPECT_EQ(b.n_rules(), 1U);
  again.flags = rule_reset_counts;
  must(b, again, 51);
  EXPECT_EQ(b.find_rule(id)->state.counted, traffic{});
}

TEST(rule_ops, rules_differ_by_table_priority_and_match) {
  bridge b = make_bridge();
  must(b, add_rule(0, 10, dst(1), {}));
  must(b, add_rule(1, 10, dst(1), {}));
  must(b, add_rule(0, 11, dst(1), {}));
  must(b, add_rule(0, 10, dst(2), {}));
  EXPECT_EQ(b.n_rules(), 4U);
}

TEST(rule_ops, overlap_is_refused_when_asked_for) {
  bridge b = make_bridge();
  must(b, add_rule(0, 10, where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}}), {}));
  rule_mod other = add_rule(0, 10, where({ipv4(), {field::ipv4_src, 0x0b000000, 0xff000000}}), {});
  other.flags = rule_check_overlap;
  EXPECT_EQ(refused(b, other), of_error::flow_mod_overlap);
  other.priority = 11;
  must(b, other);
  other.priority = 10;
  other.table = 1;
  must(b, other);
  other.table = 0;
  other.match = where({ipv4(), {field::ipv4_dst, 0x0b000000, 0xff000000}});
  must(b, other);
  // The specification makes no exception for an identical one.
  EXPECT_EQ(refused(b, other), of_error::flow_mod_overlap);
  other.flags = 0;
  must(b, other);
}

TEST(rule_ops, tables_must_be_there) {
  bridge_params params;
  params.n_tables = 4;
  bridge b = make_bridge(params);
  EXPECT_EQ(refused(b, add_rule(4, 1, {}, {})), of_error::flow_mod_bad_table_id);
  EXPECT_EQ(refused(b, add_rule(table_all, 1, {}, {})), of_error::flow_mod_bad_table_id);
  EXPECT_EQ(refused(b, change_rules(rule_command::modify, table_all, 1, {})),
            of_error::flow_mod_bad_table_id);
  must(b, change_rules(rule_command::remove, table_all, 1, {}));
  EXPECT_EQ(bridge::create({.n_tables = 0}).error().code, errc::invalid);
  EXPECT_EQ(bridge::create({.n_tables = 256}).error().code, errc::invalid);
  must(b, add_rule(3, 1, {}, {}));
}

TEST(rule_ops, goto_leads_forward_only) {
  bridge b = make_bridge({.n_tables = 4});
  must(b, add_rule(1, 1, {}, go(2)));
  must(b, add_rule(1, 1, {}, go(3)));
  EXPECT_EQ(refused(b, add_rule(1, 1, {}, go(1))), of_error::bad_instruction_table_id);
  EXPECT_EQ(refused(b, add_rule(1, 1, {}, go(0))), of_error::bad_instruction_table_id);
  EXPECT_EQ(refused(b, add_rule(1, 1, {}, go(4))), of_error::bad_instruction_table_id);
}

TEST(rule_ops, instructions_are_checked_against_groups_meters_and_match) {
  bridge b = make_bridge();
  EXPECT_EQ(refused(b, add_rule(0, 1, {}, apply({act::group{7}}))), of_error::bad_action_out_group);
  EXPECT_EQ(refused(b, add_rule(0, 1, {}, write({act::group{7}}))), of_error::bad_action_out_group);
  instructions metered;
  metered.meter = 3;
  EXPECT_EQ(refused(b, add_rule(0, 1, {}, metered)), of_error::meter_mod_unknown_meter);
  EXPECT_EQ(refused(b, add_rule(0, 1, {}, apply({act::dec_ip_ttl{}}))),
            of_error::bad_action_match_inconsistent);
  // What apply-actions did is known to write-actions.
  instructions both = apply({act::push_vlan{}});
  both.write = action_list{act::set(field::vlan_pcp, 3)};
  must(b, add_rule(0, 1, {}, both));
}

TEST(rule_ops, a_full_bridge_refuses_more) {
  bridge b = make_bridge({.rules_max = 2});
  must(b, add_rule(0, 1, dst(1), {}));
  must(b, add_rule(1, 1, dst(1), {}));
  EXPECT_EQ(refused(b, add_rule(2, 1, dst(1), {})), of_error::flow_mod_table_full);
  must(b, add_rule(0, 1, dst(1), apply({output(1)})));  // one that is there
}

TEST(rule_ops, a_loose_modification_changes_instructions_only) {
  bridge b = make_bridge();
  rule_mod first = add_rule(0, 10, dst(1), apply({output(1)}));
  first.cookie = 1;
  first.idle_timeout_s = 9;
  const rule_id id = only_rule(must(b, first, 5)).after->id;
  must(b, add_rule(0, 20, where({exact(field::eth_dst, 1), ipv4()}), apply({output(1)})));
  must(b, add_rule(0, 20, dst(2), apply({output(1)})));
  must(b, add_rule(1, 10, dst(1), apply({output(1)})));
  b.count_rule(id, {1, 60}, 7);
  rule_mod asked = change_rules(rule_command::modify, 0, 999, dst(1), apply({output(5)}));
  asked.cookie = 8;
  asked.idle_timeout_s = 1;
  EXPECT_EQ(must(b, asked, 100).size(), 2U);
  const rule_table::entry& one = find(b, 0, 10, dst(1));
  EXPECT_EQ(one.rule->instructions, apply({output(5)}));
  EXPECT_EQ(one.rule->cookie, 1U);
  EXPECT_EQ(one.rule->idle_timeout_s, 9);
  EXPECT_EQ(one.rule->added, 5U);
  EXPECT_EQ(one.rule->id, id);
  EXPECT_EQ(one.state, (rule_state{{1, 60}, 7}));
  EXPECT_EQ(find(b, 0, 20, dst(2)).rule->instructions, apply({output(1)}));
  EXPECT_EQ(find(b, 1, 10, dst(1)).rule->instructions, apply({output(1)}));
  asked.flags = rule_reset_counts;
  must(b, asked, 101);
  EXPECT_EQ(find(b, 0, 10, dst(1)).state.counted, traffic{});
  EXPECT_TRUE(must(b, change_rules(rule_command::modify, 0, 1, dst(99)), 5).empty());
  EXPECT_EQ(b.n_rules(), 4U);  // nothing is added
}

TEST(rule_ops, a_strict_modification_takes_priority_and_match_as_they_are) {
  bridge b = make_bridge();
  must(b, add_rule(0, 10, dst(1), apply({output(1)})));
  must(b, add_rule(0, 11, dst(1), apply({output(1)})));
  must(b, add_rule(0, 10, {}, apply({output(1)})));
  EXPECT_EQ(
      must(b, change_rules(rule_command::modify_strict, 0, 10, {}, apply({output(7)}))).size(), 1U);
  EXPECT_EQ(find(b, 0, 10, {}).rule->instructions, apply({output(7)}));
  EXPECT_EQ(find(b, 0, 10, dst(1)).rule->instructions, apply({output(1)}));
}

TEST(rule_ops, a_modification_that_suits_not_every_rule_changes_none) {
  bridge b = make_bridge();
  must(b, add_rule(0, 10, where({ipv4()}), apply({output(1)})));
  must(b, add_rule(0, 9, dst(1), apply({output(1)})));
  EXPECT_EQ(refused(b, change_rules(rule_command::modify, 0, 1, {}, apply({act::dec_ip_ttl{}}))),
            of_error::bad_action_match_inconsistent);
  EXPECT_EQ(find(b, 0, 10, where({ipv4()})).rule->instructions, apply({output(1)}));
}

TEST(rule_ops, cookies_filter_modifications_and_removals) {
  bridge b = make_bridge();
  for (unsigned i = 0; i < 4; ++i) {
    rule_mod one = add_rule(0, 1, dst(i), {});
    one.cookie = 0xa0 + i;
    must(b, one);
  }
  rule_mod asked = change_rules(rule_command::modify, 0, 0, {}, apply({output(1)}));
  asked.cookie = 0xff02;
  asked.cookie_mask = 0x02;
  EXPECT_EQ(must(b, asked).size(), 2U);
  asked.command = rule_command::remove_strict;
  asked.priority = 1;
  asked.match = dst(0);
  EXPECT_TRUE(must(b, asked).empty());
  asked.command = rule_command::remove;
  asked.match = {};
  EXPECT_EQ(must(b, asked).size(), 2U);
  EXPECT_EQ(b.n_rules(), 2U);
}

TEST(rule_ops, out_port_and_out_group_filter_removals_only) {
  bridge b = make_bridge();
  must(b, add_group(1, group_type::all, {}));
  must(b, add_rule(0, 1, dst(1), apply({output(3)})));
  must(b, add_rule(0, 1, dst(2), write({output(3)})));
  must(b, add_rule(0, 1, dst(3), write({act::group{1}})));
  must(b, add_rule(0, 1, dst(4), apply({output(4), act::group{1}})));
  rule_mod asked = change_rules(rule_command::modify, 0, 0, {}, write({output(3)}));
  asked.match = dst(2);
  asked.out_port = 99;
  EXPECT_EQ(must(b, asked).size(), 1U);
  asked = change_rules(rule_command::remove, table_all, 0, {});
  asked.out_port = 4;
  asked.out_group = 2;
  EXPECT_TRUE(must(b, asked).empty());
  asked.out_group = 1;
  EXPECT_EQ(only_rule(must(b, asked)).before->match, dst(4));
  asked.out_port = port_any;
  EXPECT_EQ(only_rule(must(b, asked)).before->match, dst(3));
  asked.out_group = group_any;
  asked.out_port = 3;
  EXPECT_EQ(must(b, asked).size(), 2U);
}

TEST(rule_ops, removals_give_the_last_counters_and_a_reason) {
  bridge b = make_bridge();
  const rule_id id = only_rule(must(b, add_rule(2, 1, dst(1), {}), 4)).after->id;
  b.count_rule(id, {2, 120}, 9);
  const change_list done = must(b, change_rules(rule_command::remove_strict, 2, 1, dst(1)), 10);
  const rule_change& one = only_rule(done);
  EXPECT_EQ(one.after, nullptr);
  EXPECT_EQ(one.reason, removal_reason::deleted);
  EXPECT_EQ(one.state_before, (rule_state{{2, 120}, 9}));
  EXPECT_EQ(b.find_rule(id), nullptr);
  b.count_rule(id, {1, 1}, 11);  // a late report
  EXPECT_NE(only_rule(must(b, add_rule(2, 1, dst(1), {}))).after->id, id);
}

TEST(rule_ops, a_loose_removal_takes_what_the_match_covers_in_one_table_or_all) {
  bridge b = make_bridge();
  const match net = where({ipv4(), {field::ipv4_dst, 0x0a000000, 0xff000000}});
  const match host = where({ipv4(), exact(field::ipv4_dst, 0x0a000001)});
  for (const table_id table : {0, 1}) {
    must(b, add_rule(table, 1, where({ipv4()}), {}));
    must(b, add_rule(table, 2, net, {}));
    must(b, add_rule(table, 3, host, {}));
  }
  EXPECT_EQ(must(b, change_rules(rule_command::remove, 0, 0, net)).size(), 2U);
  EXPECT_EQ(b.tables()[1].size(), 3U);
  EXPECT_EQ(must(b, change_rules(rule_command::remove, table_all, 0, {})).size(), 4U);
  EXPECT_EQ(b.n_rules(), 0U);
}

TEST(expiry, idle_rules_go_when_no_packet_came_and_hard_ones_in_any_case) {
  bridge b = make_bridge();
  rule_mod asked = add_rule(0, 1, dst(1), {});
  asked.idle_timeout_s = 10;
  const rule_id idle = only_rule(must(b, asked, 100 * ns_per_s)).after->id;
  asked.match = dst(2);
  asked.idle_timeout_s = 0;
  asked.hard_timeout_s = 12;
  const rule_id hard = only_rule(must(b, asked, 100 * ns_per_s)).after->id;
  must(b, add_rule(0, 1, dst(3), {}), 100 * ns_per_s);
  EXPECT_EQ(b.next_expiry(), 110 * ns_per_s);
  EXPECT_TRUE(b.expire(110 * ns_per_s - 1).empty());
  b.count_rule(idle, {1, 60}, 105 * ns_per_s);
  b.count_rule(hard, {1, 60}, 105 * ns_per_s);
  EXPECT_TRUE(b.expire(110 * ns_per_s).empty());
  const std::uint64_t version = b.version();
  change_list gone = b.expire(112 * ns_per_s);
  EXPECT_EQ(only_rule(gone).before->id, hard);
  EXPECT_EQ(only_rule(gone).reason, removal_reason::hard_timeout);
  EXPECT_EQ(b.version(), version + 1);
  EXPECT_TRUE(b.expire(115 * ns_per_s - 1).empty());
  gone = b.expire(115 * ns_per_s);
  EXPECT_EQ(only_rule(gone).before->id, idle);
  EXPECT_EQ(only_rule(gone).reason, removal_reason::idle_timeout);
  EXPECT_EQ(b.n_rules(), 1U);
  EXPECT_EQ(b.next_expiry(), 0U);
}

TEST(expiry, adding_again_starts_the_time_anew_modifying_does_not) {
  bridge b = make_bridge();
  rule_mod asked = add_rule(0, 1, dst(1), {});
  asked.hard_timeout_s = 10;
  must(b, asked, 0);
  must(b, asked, 5 * ns_per_s);
  EXPECT_TRUE(b.expire(14 * ns_per_s).empty());
  asked.command = rule_command::modify_strict;
  asked.instructions = apply({output(1)});
  must(b, asked, 14 * ns_per_s);
  EXPECT_EQ(b.expire(15 * ns_per_s).size(), 1U);
}

TEST(expiry, follows_a_time_out_that_became_shorter) {
  bridge b = make_bridge();
  rule_mod asked = add_rule(0, 1, dst(1), {});
  asked.hard_timeout_s = 100;
  must(b, asked, 0);
  asked.hard_timeout_s = 1;
  must(b, asked, 0);
  EXPECT_EQ(b.expire(ns_per_s).size(), 1U);
}

TEST(bundle, is_done_as_a_whole_or_not_at_all) {
  bridge b = make_bridge();
  must(b, add_port(1));
  must(b, add_group(1, group_type::select, {to({output(1)}, 1)}));
  must(b, add_meter(1, meter_unit::kbps, {{band_type::drop, 5, 0, 0}}));
  rule_mod kept = add_rule(0, 10, dst(1), apply({act::group{1}}));
  kept.idle_timeout_s = 5;
  kept.instructions.meter = 1;
  const rule_id id = only_rule(must(b, kept, 3)).after->id;
  b.count_rule(id, {4, 400}, 4);
  b.count_group(1, {4, 400});
  b.count_bucket(1, 0, {4, 400});
  b.count_band(1, 0, {1, 100});
  const std::uint64_t version = b.version();

  group_mod other_buckets = add_group(1, group_type::all, {});
  other_buckets.command = mod_command::modify;
  rule_mod again = kept;
  again.flags = rule_reset_counts;
  const std::vector<operation> bundle = {
      again,
      other_buckets,
      add_rule(1, 1, dst(5), {}),
      add_port(2),
      port_mod{mod_command::modify, {.number = 1, .live = false}},
      port_mod{mod_command::remove, {.number = 2}},
      change_rules(rule_command::modify, 0, 0, {}, apply({output(1)})),
      meter_mod{mod_command::remove, {.id = meter_all}},
      group_mod{mod_command::remove, {.id = group_all}},
      add_rule(0, 1, {}, go(0)),
  };
  const of_result<change_list> done = b.apply(bundle, 50);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, of_error::bad_instruction_table_id);
  EXPECT_EQ(done.error().where.substr(0, 13), "operation 10:");

  EXPECT_EQ(b.version(), version);
  EXPECT_EQ(b.n_rules(), 1U);
  const rule_table::entry* one = b.find_rule(id);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(&find(b, 0, 10, dst(1)), one);
  EXPECT_EQ(one->rule->instructions, kept.instructions);
  EXPECT_EQ(one->rule->added, 3U);
  EXPECT_EQ(one->state, (rule_state{{4, 400}, 4}));
  EXPECT_EQ(b.next_expiry(), 4 + 5 * ns_per_s);
  EXPECT_EQ(b.find_group(1)->group->type, group_type::select);
  EXPECT_EQ(b.find_group(1)->state.n_rules, 1U);
  EXPECT_EQ(b.find_group(1)->state.buckets, (std::vector<traffic>{{4, 400}}));
  EXPECT_EQ(b.find_meter(1)->state.n_rules, 1U);
  EXPECT_EQ(b.find_meter(1)->state.bands, (std::vector<traffic>{{1, 100}}));
  EXPECT_EQ(b.find_port(2), nullptr);
  EXPECT_TRUE(b.find_port(1)->live);

  const of_result<change_list> fewer = b.apply(std::span(bundle).first(9), 50);
  ASSERT_TRUE(fewer.has_value());
  EXPECT_EQ(b.version(), version + 1);
  EXPECT_EQ(b.find_rule(id)->rule->instructions, apply({output(1)}));
  EXPECT_EQ(b.tables()[1].size(), 1U);
  EXPECT_EQ(b.groups().size(), 0U);
}

TEST(bundle, later_operations_see_what_earlier_ones_did) {
  bridge b = make_bridge();
  const std::vector<operation> bundle = {add_group(1, group_type::all, {}),
                                         add_rule(0, 1, {}, apply({act::group{1}}))};
  ASSERT_TRUE(b.apply(bundle, 0).has_value());
  EXPECT_EQ(b.find_group(1)->state.n_rules, 1U);
}

TEST(rule_table, of_rules_of_one_priority_the_first_added_counts) {
  bridge b = make_bridge();
  must(b, add_rule(0, 10, {}, apply({output(1)})));
  must(b, add_rule(0, 10, dst(1), apply({output(2)})));
  must(b, add_rule(0, 10, where({exact(field::eth_src, 1)}), apply({output(3)})));
  must(b, change_rules(rule_command::remove_strict, 0, 10, {}));  // the order in memory changes
  field_values packet;
  packet.set(field::eth_dst, 1);
  packet.set(field::eth_src, 1);
  EXPECT_EQ(b.tables()[0].look_up(packet)->rule->match, dst(1));
}

// A linear search for every step would take minutes.
// In a time that grows with their square: minutes. Sanitizers look at memory, not at time.
#ifdef COUA_SANITIZED
constexpr unsigned many = 20'000;
#else
constexpr unsigned many = 300'000;
#endif

TEST(rule_table, many_rules_come_and_go_by_hash) {
  bridge b = make_bridge();
  constexpr unsigned n = many;
  for (unsigned i = 0; i < n; ++i) must(b, add_rule(0, 10, dst(i), {}));
  EXPECT_EQ(b.tables()[0].size(), n);
  for (unsigned i = 0; i < n; ++i) {
    must(b, change_rules(rule_command::modify_strict, 0, 10, dst(i), apply({output(1)})));
  }
  for (unsigned i = 0; i < n; ++i) {
    must(b, change_rules(rule_command::remove_strict, 0, 10, dst(i)));
  }
  EXPECT_EQ(b.n_rules(), 0U);
}

TEST(rule_ops, many_rules_come_back_when_a_bundle_fails) {
  bridge b = make_bridge();
  constexpr unsigned n = many;
  for (unsigned i = 0; i < n; ++i) {
    must(b, add_rule(0, 5, where({exact(field::eth_dst, i)}), test::apply({})));
  }
  const std::vector<operation> bundle = {change_rules(rule_command::remove, 0, 0, {}),
                                         add_rule(254, 5, {}, test::go(3))};
  ASSERT_FALSE(b.apply(bundle, 0).has_value());
  ASSERT_EQ(b.tables()[0].size(), n);
  rule_id last = 0;
  b.tables()[0].each([&](const rule_table::entry& one) {
    ASSERT_LT(last, one.rule->id);
    last = one.rule->id;
  });
}

TEST(rule_ops, a_clause_of_a_conjunction_does_nothing_else) {
  bridge b = make_bridge();
  const action clause = act::conjunction{1, 0, 2};
  instructions one = apply({clause, act::conjunction{2, 1, 2}});
  must(b, add_rule(0, 1, {}, one));
  EXPECT_EQ(refused(b, add_rule(0, 2, {}, apply({clause, output(1)}))),
            of_error::nicira_bad_conjunction);
  one.goto_table = 1;
  EXPECT_EQ(refused(b, add_rule(0, 2, {}, one)), of_error::nicira_bad_conjunction);
}

}  // namespace
}  // namespace coua::pipeline
