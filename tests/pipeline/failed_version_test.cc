// SPDX-License-Identifier: Apache-2.0
//
// Versions that cannot be completed, some of their tables changed already: the datapath must do
// afterwards what it did before, now and through the next changes.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "mac_rules.h"
#include "spoiled_table.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::change_rules;
using pipeline::test::output;
using pipeline::test::where;

constexpr port_no n_ports = 6;

rule_mod removal(table_id table, unsigned which, std::uint16_t priority = 10) {
  return change_rules(rule_command::remove_strict, table, priority, to_mac(which));
}

std::vector<packet> packets_to(unsigned first, unsigned n, port_no from = 1) {
  std::vector<packet> made;
  for (unsigned i = first; i < first + n; ++i) {
    made.push_back(packet_to(i, from));
  }
  return made;
}

class failed_version : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= n_ports; ++i) must({pipeline::test::add_port(i)});
    must(table_to_spoil(spoiled));
    must({add_rule(spoiled, 0, {}, pipeline::test::apply({}))});
    ASSERT_EQ(form(spoiled)->kind(), table_template::decomposed);
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void add_macs(table_id table, unsigned n) {
    for (unsigned i = 0; i < n; ++i) must({mac_rule(table, i, 1 + i % n_ports)});
  }
  void fail_with(std::vector<operation> bundle) {
    spoil(bundle, spoiled);
    const std::size_t before = in_.n_full;
    const table_form* const was = form(spoiled);
    ASSERT_FALSE(in_.apply(bundle));
    ASSERT_EQ(in_.n_full, before + 1);
    ASSERT_NE(form(spoiled), was);  // it was touched, as all before it were
  }
  void see(unsigned first, unsigned n, port_no from = 1) {
    for (unsigned i = first; i < first + n; i += executor::burst_max) {
      in_.receive(packets_to(i, std::min(first + n - i, executor::burst_max), from));
    }
    in_.check_counters();
  }
  const table_form* form(table_id table) { return in_.bridge().compiler().form(table); }

  static constexpr table_id spoiled = 7;  // the last one: tables are changed in order
  checked_pipeline in_;
};

TEST_F(failed_version, leaves_a_table_its_template) {
  add_macs(0, 80);
  ASSERT_EQ(form(0)->kind(), table_template::exact);
  std::vector<operation> bundle;
  for (unsigned i = 5; i < 80; ++i) bundle.emplace_back(removal(0, i));
  fail_with(bundle);  // 5 rules would have the direct template
  EXPECT_EQ(form(0)->kind(), table_template::exact);
  see(0, 90);
  must({mac_rule(0, 85, 2)});
  see(0, 90);
}

TEST_F(failed_version, leaves_what_was_in_a_store_that_grew) {
  add_macs(0, 20);
  add_macs(1, 20);
  must({mac_rule(1, 3, 5, 5), add_rule(1, 0, {}, pipeline::test::apply({output(6)}))});
  const auto store = [this](table_id table) { return form(table)->stage().exact; };
  unsigned number = 100;
  while (store(0)->size() < store(0)->room()) must({mac_rule(0, number++, 2)});
  const std::uint64_t room = store(0)->room();
  ASSERT_EQ(store(1), store(0));
  must({removal(1, 4)});  // it waits to be buried
  for (int i = 0; i < 2; ++i) fail_with({mac_rule(0, number, 3), removal(1, 3), removal(1, 5)});
  see(0, 64);
  must({mac_rule(0, number, 3), removal(1, 3)});
  EXPECT_EQ(store(1), store(0));
  EXPECT_GT(store(0)->room(), room);
  see(0, 64);
  see(number - 8, 16);
  in_.check_nothing_stays();
}

TEST_F(failed_version, leaves_rules_the_records_that_they_share) {
  add_macs(0, 60);
  add_macs(1, 60);
  for (int i = 0; i < 3; ++i) see(0, 60);  // grace periods pass
  const std::size_t n_shared = in_.bridge().compiler().usage().shared;
  ASSERT_EQ(n_shared, n_ports);
  rule_mod changed = mac_rule(0, 7, 5);
  changed.command = rule_command::modify_strict;
  for (int i = 0; i < 2; ++i) {
    fail_with({changed, removal(0, 8), mac_rule(0, 9, 3, 20), mac_rule(1, 70, 2), removal(1, 3)});
    see(0, 80);
  }
  for (int i = 0; i < 3; ++i) see(0, 0);
  EXPECT_EQ(in_.bridge().compiler().usage().shared, n_shared);
  must({changed, removal(0, 8), mac_rule(0, 9, 3, 20), mac_rule(1, 70, 2), removal(1, 3)});
  see(0, 80);
  in_.check_nothing_stays();
}

TEST_F(failed_version, forgets_a_rule_that_it_added_and_changed) {
  add_macs(0, 3);
  rule_mod changed = mac_rule(0, 9, 4);
  changed.command = rule_command::modify_strict;
  fail_with({mac_rule(0, 9, 3), changed});
  see(0, 10);
  must({mac_rule(0, 9, 5)});
  see(0, 10);
}

TEST_F(failed_version, leaves_a_rule_that_waits_its_instructions) {
  add_macs(0, 20);
  ASSERT_EQ(form(0)->kind(), table_template::exact);
  rule_mod first = mac_rule(0, 3, 5), second = mac_rule(0, 3, 6);
  first.command = second.command = rule_command::modify_strict;
  fail_with({first, second});
  must({mac_rule(0, 3, 2, 20)});  // the other one counts again when this is gone
  see(0, 20);
  must({removal(0, 3, 20)});
  see(0, 20);
}

/// A match on VLAN bits that leaves the present bit out takes two rows of a direct table.
rule_mod two_rows(unsigned i) {
  return add_rule(0, 10,
                  where({{field::vlan_vid, 0, 0x0fff}, exact(field::eth_dst, first_mac + i)}),
                  pipeline::test::apply({output(1 + i % n_ports)}));
}

TEST_F(failed_version, is_none_where_a_direct_table_has_no_room_for_those_that_go) {
  must({mac_rule(0, 99, 2)});  // needs other layers: else one row would do
  std::vector<operation> before;
  for (unsigned round = 0; round < 6; ++round) {
    // No burst comes in between: the rules before are not buried.
    std::vector<operation> bundle;
    for (const operation& each : before) {
      bundle.push_back(each);
      std::get<rule_mod>(bundle.back()).command = rule_command::remove_strict;
    }
    before.clear();
    for (unsigned i = 0; i < 15; ++i) before.emplace_back(two_rows(15 * round + i));
    bundle.insert(bundle.end(), before.begin(), before.end());
    must(bundle);
    ASSERT_EQ(form(0)->kind(), table_template::direct);
  }
  see(0, 100);
}

TEST_F(failed_version, is_none_where_a_store_is_full_before_its_time) {
  for (table_id t = 1; t <= 6; ++t) {
    add_macs(t, 17);
    must({add_rule(0, 10, where({exact(field::in_port, t)}), pipeline::test::go(t))});
    ASSERT_EQ(form(t)->stage().exact, form(1)->stage().exact);
  }
  // Each table alone finds room, all of them do not.
  std::vector<operation> bundle;
  for (table_id t = 1; t <= 6; ++t) {
    for (unsigned i = 17; i < 117; ++i) bundle.emplace_back(mac_rule(t, i, 1 + i % n_ports));
  }
  must(bundle);
  for (table_id t = 1; t <= 6; ++t) see(0, 117, t);
  bundle.clear();
  for (table_id t = 1; t <= 6; ++t) {
    for (unsigned i = 10; i < 30; ++i) bundle.emplace_back(removal(t, i));
  }
  must(bundle);
  for (table_id t = 1; t <= 6; ++t) see(0, 117, t);
}

TEST_F(failed_version, leaves_groups_and_meters_as_they_were) {
  using pipeline::test::to;
  group_mod all = pipeline::test::add_group(1, group_type::all, {to({output(2)}), to({output(3)})});
  group_mod watching = pipeline::test::add_group(2, group_type::fast_failover,
                                                 {to({output(4)}, 0, 4), to({output(5)}, 0, 5)});
  meter_mod meter = pipeline::test::add_policer(1, 1, 40);
  rule_mod first = add_rule(0, 1, {}, pipeline::test::apply({act::group{1}, act::group{2}}));
  first.instructions.meter = 1;
  must({all, watching, meter, first});
  see(0, 30);  // of 40
  in_.receive(packets_to(0, 3));

  all.command = meter.command = mod_command::modify;
  all.what.buckets.pop_back();
  port_mod dead = pipeline::test::add_port(4);
  dead.command = mod_command::modify;
  dead.what.live = false;
  fail_with({all, meter, all, dead, pipeline::test::add_group(3, group_type::all, {})});
  in_.receive(packets_to(0, 3));
  // The rule goes with them, and comes again.
  group_mod no_group{mod_command::remove, {group_all, group_type::all, {}, {}}};
  meter_mod no_meter = meter;
  no_meter.command = mod_command::remove;
  fail_with({no_group, no_meter});
  in_.receive(packets_to(0, 3));
  all.command = watching.command = meter.command = mod_command::add;
  fail_with({no_group, no_meter, all, watching, meter, first, no_group});
  see(0, 10);  // the meter drops some

  must({dead});  // the second group still watches
  see(0, 3);
  all.command = mod_command::modify;
  must({all});
  see(0, 3);
  must({no_group});
  see(0, 3);
}

/// Asks for as many words as a flow table's key has, of IPv6 in all of them.
std::vector<match_term> wide_terms(unsigned which) {
  std::vector<match_term> terms{pipeline::test::ipv6(),        exact(field::ipv6_src, 1),
                                exact(field::ipv6_dst, which), exact(field::eth_src, 1),
                                exact(field::metadata, 0),     exact(field::tunnel_id, 0),
                                exact(field::ipv6_flabel, 0)};
  for (unsigned i = 0; i < n_registers; ++i) terms.push_back(exact(reg(i), 0));
  return terms;
}
rule_mod wide_rule(unsigned which) {
  return add_rule(0, 10, where(wide_terms(which)),
                  pipeline::test::apply({output(1 + which % n_ports)}));
}
std::vector<operation> gone(std::vector<rule_mod> rules) {
  std::vector<operation> made;
  for (rule_mod& each : rules) {
    each.command = rule_command::remove_strict;
    made.emplace_back(std::move(each));
  }
  return made;
}

TEST_F(failed_version, is_none_where_rules_go_from_an_exact_table) {
  must({add_rule(0, 1, {}, pipeline::test::apply({output(2)}))});
  std::vector<operation> bundle;  // one by one, the direct template would be asked for
  for (unsigned i = 0; i < 20; ++i) bundle.emplace_back(wide_rule(i));
  must(bundle);
  const auto layout = key_layout::of(std::vector{where(wide_terms(0))});
  ASSERT_EQ(layout.n_words(), exact_store::words_max);
  ASSERT_EQ(form(0)->kind(), table_template::exact);
  for (unsigned i = 0; i < 19; ++i) must(gone({wide_rule(i)}));
  EXPECT_EQ(form(0)->kind(), table_template::direct);
  see(0, 3);
  must(gone({wide_rule(19)}));
  EXPECT_EQ(form(0)->kind(), table_template::direct);
  see(0, 3);
}

TEST_F(failed_version, is_one_where_an_exact_table_would_need_a_classifier) {
  std::vector<operation> bundle;
  for (unsigned i = 0; i < 20; ++i) bundle.emplace_back(wide_rule(i));
  must(bundle);
  bundle.clear();  // above the others, and too many to be apart
  for (std::uint16_t i = 11; i <= 13; ++i) {
    bundle.emplace_back(add_rule(0, i, {}, pipeline::test::apply({output(2)})));
  }
  EXPECT_FALSE(in_.apply(bundle));
  EXPECT_EQ(form(0)->kind(), table_template::exact);
  see(0, 3);
}

TEST_F(failed_version, is_one_where_prefixes_would_need_a_classifier) {
  const auto prefix = [](unsigned which, value128 mask, std::uint16_t priority) {
    std::vector<match_term> terms = wide_terms(0);
    for (match_term& each : terms) {
      if (each.which == field::ipv6_dst) each = {each.which, value128{which} << 8 & mask, mask};
    }
    // So much that sets of prefixes would not be found by it, either.
    for (const match_term& each :
         {exact(field::eth_dst, first_mac), exact(field::ip_proto, 58),
          exact(field::icmpv6_type, 135), exact(field::nd_target, 1), exact(field::nd_sll, 1)}) {
      terms.push_back(each);
    }
    return add_rule(0, priority, where(std::move(terms)), pipeline::test::apply({output(2)}));
  };
  const value128 all = full_mask(field::ipv6_dst);
  std::vector<operation> bundle;
  for (unsigned i = 1; i < 20; ++i) bundle.emplace_back(prefix(i, all << 8, 20));
  bundle.emplace_back(prefix(0, all << 16, 10));
  must(bundle);
  ASSERT_EQ(form(0)->kind(), table_template::lpm);
  EXPECT_FALSE(in_.apply({prefix(0, all << 17, 30)}));      // shorter, and above
  EXPECT_FALSE(in_.apply({prefix(0, all << 16 | 1, 10)}));  // no prefix
  EXPECT_EQ(form(0)->kind(), table_template::lpm);
  must({prefix(0, all << 17, 5)});
  see(0, 3);
}

TEST_F(failed_version, is_none_where_rules_go_from_a_decomposed_table) {
  const auto service = [](unsigned which, unsigned bits) {
    std::vector<match_term> terms{exact(field::eth_dst, first_mac + which),
                                  exact(field::eth_src, 7)};
    if (bits != 0) terms.push_back({field::ipv4_src, 0, ones(32) & ~ones(32 - bits)});
    if (bits != 0) terms.push_back(pipeline::test::ipv4());
    return add_rule(0, static_cast<std::uint16_t>(10 + bits), where(std::move(terms)),
                    pipeline::test::apply({output(1 + which % n_ports)}));
  };
  std::vector<match_term> all = wide_terms(1);
  std::erase_if(all, [](const match_term& one) { return one.which == field::eth_src; });
  const rule_mod apart = add_rule(0, 1, where(all), pipeline::test::apply({output(3)}));
  std::vector<rule_mod> services;
  for (unsigned i = 0; i < 20; ++i) {
    for (const unsigned bits : {0U, 8U, 16U}) services.push_back(service(i, bits));
  }
  std::vector<operation> bundle(services.begin(), services.end());
  bundle.emplace_back(apart);
  must(bundle);
  ASSERT_EQ(form(0)->kind(), table_template::decomposed);
  for (std::size_t i = 0; i + 1 < services.size(); ++i) {
    must(gone({services[i]}));
    if (i % 10 == 0) see(0, 32);
  }
  must(gone({services.back()}));
  EXPECT_EQ(form(0)->kind(), table_template::direct);
  see(0, 32);
}

constexpr std::size_t few = 64;
constexpr compiler_params few_records = {.spare_records = 256};

/// Changes one rule over and over. How many changes were taken.
std::size_t spend_records(checked_pipeline& in, std::size_t n_most) {
  for (std::size_t n = 0; n < n_most; ++n) {
    if (!in.apply({mac_rule(6, 0, 1 + n % n_ports)})) return n;
  }
  return n_most;
}
constexpr std::size_t many = 10'000;

TEST(used_up_records, refuse_changes_until_packets_have_gone_on) {
  checked_pipeline in(few, few_records);
  for (port_no i = 1; i <= 3; ++i) in.apply({pipeline::test::add_port(i)});
  for (unsigned i = 0; i < 40; ++i) in.apply({mac_rule(0, i, 1 + i % 3)});
  ASSERT_LT(spend_records(in, many), many);
  for (unsigned i = 0; i < 200; ++i) {
    // Each touches both tables before it fails.
    EXPECT_FALSE(in.apply({removal(0, i % 40), mac_rule(6, 0, 2), mac_rule(0, 50, 2)}));
  }
  // Ports and groups ask for none.
  EXPECT_TRUE(in.apply({pipeline::test::add_port(4)}));
  EXPECT_TRUE(in.apply({pipeline::test::add_group(1, group_type::all, {})}));
  in.receive(packets_to(10, 20));
  in.receive(packets_to(10, 20));
  in.check_counters();
  EXPECT_TRUE(in.apply({removal(0, 20), mac_rule(6, 0, 2), mac_rule(0, 50, 2)}));
  in.receive(packets_to(0, 32));
}

TEST(used_up_records, leave_rules_whose_time_has_come_for_later) {
  checked_pipeline in(few, few_records);
  rule_mod one = mac_rule(0, 1, 2);
  one.hard_timeout_s = 5;
  in.apply({one});
  ASSERT_LT(spend_records(in, many), many);
  running_bridge& bridge = in.bridge();
  EXPECT_TRUE(bridge.expire(10 * ns_per_s).empty());
  EXPECT_EQ(bridge.model().n_rules(), 2U);
  in.receive(packets_to(0, 3));
  in.receive(packets_to(0, 3));
  EXPECT_EQ(bridge.expire(10 * ns_per_s).size(), 1U);
  EXPECT_EQ(in.bridge().compiler().form(0), nullptr);
}

}  // namespace
}  // namespace coua::test
