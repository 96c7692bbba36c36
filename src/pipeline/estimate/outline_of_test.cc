// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/outline_of.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/datapath/executor.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using test::add_port;
using test::add_rule;
using test::apply;
using test::go;
using test::ipv4;
using test::output;
using test::where;

constexpr std::uint64_t mac(unsigned i) { return 0x0200'0000'0000 + i; }

class outline : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = running_bridge::create();
    ASSERT_TRUE(made.has_value());
    bridge_ = std::move(*made);
    std::vector<operation> ports;
    for (port_no i = 1; i <= 4; ++i) ports.emplace_back(add_port(i));
    must(ports);
    auto worker = executor::create(bridge_->compiler().published(), 0,
                                   bridge_->compiler().counts(0), no_copies_);
    ASSERT_TRUE(worker.has_value());
    worker_ = std::move(*worker);
  }
  void must(const std::vector<operation>& bundle) {
    ASSERT_TRUE(bridge_->apply(bundle, 0).has_value());
  }

  /// Frames to an address, by port 1.
  void send(std::uint64_t to, unsigned n) {
    std::uint8_t frame[64] = {};
    net::store_mac(frame, to);
    frame[12] = 0x88;
    frame[13] = 0xb5;
    for (unsigned i = 0; i < n; ++i) {
      const executor::arrival one{{{frame, 60, 60, 0}, frame}, 1};
      worker_->run({&one, 1}, 0);
    }
    bridge_->collect(0);
  }

  void batches_go_on() {
    for (int i = 0; i < 4; ++i) {
      worker_->rest();
      bridge_->reclaim();
    }
  }

  pipeline_outline of() const { return outline_of(*bridge_); }
  static const stage_outline& stage(const pipeline_outline& in, table_id table) {
    const auto found = std::find_if(in.stages.begin(), in.stages.end(),
                                    [&](const stage_outline& one) { return one.table == table; });
    COUA_CHECK(found != in.stages.end());
    return *found;
  }
  /// The uses of an atom at a table, added up.
  static atom_use use(const std::vector<atom_use>& in, atom which) {
    atom_use sum{which, 0, 0};
    for (const atom_use& each : in) {
      if (each.which != which) continue;
      sum.fewest += each.fewest;
      sum.most += each.most;
    }
    return sum;
  }
  static double most(const stage_outline& in, atom which) { return use(in.atoms, which).most; }
  static double fewest(const stage_outline& in, atom which) { return use(in.atoms, which).fewest; }

  class none final : public packet_copier {
    bool copy(const owned_packet&, owned_packet&) noexcept override { return false; }
    void give_back(const owned_packet&) noexcept override {}
  };
  none no_copies_;
  std::unique_ptr<running_bridge> bridge_;
  std::unique_ptr<executor> worker_;
};

TEST_F(outline, of_a_bridge_without_rules_has_no_tables) {
  const pipeline_outline got = of();
  EXPECT_TRUE(got.stages.empty());
  ASSERT_EQ(got.always.size(), 1U);
  EXPECT_EQ(got.always[0].which, atom::packet);
}

TEST_F(outline, parses_as_deep_as_the_rules_need) {
  must({add_rule(0, 1, where({ipv4(), exact(field::ipv4_dst, 1)}), apply({output(2)}))});
  EXPECT_EQ(of().always.size(), 2U);
  must({add_rule(0, 1, where({ipv4(), exact(field::ip_proto, 6), exact(field::tcp_dst, 1)}),
                 apply({output(2)}))});
  EXPECT_EQ(of().always.size(), 3U);
}

TEST_F(outline, names_the_atoms_of_each_template) {
  must({add_rule(0, 1, {}, go(1)), add_rule(1, 1, where({exact(field::eth_dst, 5)}), go(2))});
  std::vector<operation> rules;
  for (unsigned i = 0; i < 64; ++i) {
    rules.emplace_back(add_rule(2, 1, where({exact(field::eth_dst, mac(i))}), go(3)));
    const auto length = static_cast<std::uint16_t>(8 + i % 2);
    const value128 mask = ones(32) & ~ones(32 - length);
    rules.emplace_back(
        add_rule(3, length, where({ipv4(), {field::ipv4_dst, i << 24, mask}}), go(4)));
    const match_term either =
        i % 2 == 0 ? exact(field::eth_dst, mac(i)) : exact(field::eth_src, mac(i));
    rules.emplace_back(add_rule(4, 1, where({either}), apply({output(2)})));
  }
  must(rules);
  const pipeline_outline got = of();
  ASSERT_EQ(got.stages.size(), 5U);
  EXPECT_EQ(most(stage(got, 0), atom::all_packets), 1);
  EXPECT_EQ(most(stage(got, 1), atom::direct), 1);
  EXPECT_EQ(most(stage(got, 1), atom::direct_word), 0);
  EXPECT_EQ(most(stage(got, 2), atom::exact), 1);
  EXPECT_EQ(most(stage(got, 2), atom::exact_word), 0);
  EXPECT_EQ(most(stage(got, 3), atom::lpm), 1);
  EXPECT_EQ(most(stage(got, 4), atom::classifier), 1);
  EXPECT_EQ(fewest(stage(got, 4), atom::classifier_mask), 0);
  EXPECT_EQ(most(stage(got, 4), atom::classifier_mask), 1);
  for (const stage_outline& each : got.stages) {
    EXPECT_DOUBLE_EQ(each.visits, 1) << int{each.table};
    EXPECT_GE(each.lines.size(), 2U);
  }
}

TEST_F(outline, weighs_rules_alike_until_packets_come) {
  must({add_rule(0, 1, where({exact(field::eth_dst, mac(1))}), go(1)),
        add_rule(0, 1, where({exact(field::eth_dst, mac(2))}), go(2)),
        add_rule(1, 1, {}, apply({output(2)})),
        add_rule(2, 1, {}, apply({act::push_vlan{}, output(2)}))});
  EXPECT_DOUBLE_EQ(stage(of(), 1).visits, 0.5);
  EXPECT_DOUBLE_EQ(stage(of(), 2).visits, 0.5);
  send(mac(1), 3);
  send(mac(2), 1);
  const pipeline_outline got = of();
  EXPECT_DOUBLE_EQ(stage(got, 1).visits, 0.75);
  EXPECT_DOUBLE_EQ(stage(got, 2).visits, 0.25);
  EXPECT_EQ(most(stage(got, 2), atom::push), 1);
  // Those that find no rule go nowhere.
  send(mac(3), 4);
  EXPECT_DOUBLE_EQ(stage(of(), 1).visits, 0.375);
}

TEST_F(outline, counts_what_packets_of_a_burst_do_not_share) {
  must({add_rule(0, 1, where({exact(field::eth_dst, mac(1))}), go(1)),
        add_rule(0, 1, where({exact(field::eth_dst, mac(2))}), go(2)),
        add_rule(1, 1, {}, apply({output(2)})), add_rule(2, 1, {}, apply({output(2)}))});
  const pipeline_outline two = of();
  EXPECT_EQ(most(stage(two, 0), atom::call), 0);
  // Both tables are called for in nearly each burst: twice what half of the packets need.
  EXPECT_NEAR(most(stage(two, 1), atom::call), 1, 0.01);
  EXPECT_EQ(fewest(stage(two, 1), atom::call), 0);
  EXPECT_EQ(most(stage(two, 1), atom::shape), 0);
  must({add_rule(1, 2, where({exact(field::eth_src, 9)}), apply({act::push_vlan{}, output(2)}))});
  EXPECT_GT(most(stage(of(), 1), atom::shape), 0.9);
}

TEST_F(outline, both_addresses_are_written_at_once_where_nothing_is_between_them) {
  const action to = act::set(field::eth_dst, mac(1)), from = act::set(field::eth_src, mac(2));
  const auto n_written = [&](const action_list& list) {
    must({add_rule(0, 1, {}, apply(list))});
    return most(stage(of(), 0), atom::set_mac);
  };
  EXPECT_EQ(n_written({from, to, output(2)}), 1);
  EXPECT_EQ(n_written({to, from, to, output(2)}), 2);
  EXPECT_EQ(n_written({to, act::push_vlan{}, from, output(2)}), 2);
}

TEST_F(outline, tables_that_share_a_store_are_apart_but_one_call) {
  std::vector<operation> rules;
  for (unsigned i = 0; i < 40; ++i) {
    rules.emplace_back(
        add_rule(1 + i % 2, 1, where({exact(field::eth_dst, mac(i))}), apply({output(2)})));
  }
  rules.emplace_back(add_rule(0, 1, where({exact(field::eth_src, mac(1))}), go(1)));
  rules.emplace_back(add_rule(0, 1, where({exact(field::eth_src, mac(2))}), go(2)));
  must(rules);
  const pipeline_outline got = of();
  EXPECT_EQ(most(stage(got, 1), atom::apart), 1);
  EXPECT_EQ(most(stage(got, 1), atom::call), 0);
  // One store, and the records and counters of each of the three tables.
  EXPECT_EQ(got.areas.size(), 2U + 3 * 2);
  EXPECT_EQ(stage(got, 1).lines[0].area, stage(got, 2).lines[0].area);
}

/// Each packet pays for the joined look-up, and for those of both tables as often as it met no
/// pair.
TEST_F(outline, joined_tables_are_one_look_up_at_the_first_one) {
  constexpr unsigned n = 60;
  must({add_rule(0, 1, where({exact(field::in_port, 1)}), go(1)),
        add_rule(0, 1, where({exact(field::in_port, 2)}), apply({output(3)}))});
  std::vector<operation> bundle;
  for (unsigned i = 0; i < n; ++i)
    bundle.emplace_back(add_rule(1, 1, where({exact(field::eth_dst, mac(i))}), apply({output(2)})));
  must(bundle);
  const auto uses = [this](table_id table, atom which) {
    const pipeline_outline of = outline_of(*bridge_);
    const auto stage = std::find_if(of.stages.begin(), of.stages.end(),
                                    [=](const stage_outline& one) { return one.table == table; });
    double most = 0;
    for (const atom_use& each : stage->atoms) most += each.which == which ? each.most : 0;
    return most;
  };
  EXPECT_EQ(uses(0, atom::direct), 1);
  EXPECT_EQ(uses(0, atom::exact), 0);
  EXPECT_EQ(uses(1, atom::exact), 1);
  bridge_->tend(ns_per_s);
  ASSERT_EQ(bridge_->compiler().joined().n_pairs(), n);
  // One of two rules of the first table has pairs, and all behind it are in one.
  EXPECT_EQ(uses(0, atom::direct), 0.5);
  EXPECT_EQ(uses(0, atom::exact), 1);
  EXPECT_EQ(uses(1, atom::exact), 0);
  EXPECT_GT(bridge_->compiler().bytes(0), n * sizeof(std::uint64_t));
  send(mac(3), 30);
  EXPECT_EQ(uses(0, atom::direct), 0);
  must({add_rule(0, 0, {}, apply({output(3)}))});
  EXPECT_EQ(uses(1, atom::exact), 1);
}

/// Beside entries and prefixes they are a direct table, and the table is looked up alone. Rules of
/// ports are looked up once for a burst of one port.
TEST_F(outline, rules_apart_cost_what_those_of_direct_do) {
  enum apart { none, of_port, of_port_and_type };
  const auto add_rules = [&](table_id table, apart some) {
    std::vector<operation> rules;
    for (unsigned i = 0; i < 60; ++i) {
      const unsigned length = 16 + i % 8;
      const match_term prefix{field::ipv4_dst, (i << 24) & ~ones(32 - length),
                              ones(32) & ~ones(32 - length)};
      rules.emplace_back(
          table == 1 ? add_rule(1, 5, where({exact(field::eth_dst, mac(i))}), apply({output(2)}))
                     : add_rule(2, static_cast<std::uint16_t>(length), where({ipv4(), prefix}),
                                apply({output(2)})));
    }
    if (some != none)
      rules.emplace_back(
          add_rule(table, 90, where({exact(field::in_port, 1)}), apply({output(2)})));
    if (some == of_port_and_type)
      rules.emplace_back(
          add_rule(table, 90, where({exact(field::eth_type, 0x806)}), apply({output(2)})));
    return rules;
  };
  for (const table_id table : {table_id{1}, table_id{2}}) {
    const atom others = table == 1 ? atom::exact : atom::lpm;
    for (const apart some : {none, of_port, of_port_and_type}) {
      must(add_rules(table, some));
      must({add_rule(0, 1, {}, go(table))});
      const pipeline_outline got = of();
      EXPECT_EQ(most(stage(got, table), others), 1);
      EXPECT_EQ(most(stage(got, table), atom::direct), some == none ? 0 : 1);
      EXPECT_EQ(fewest(stage(got, table), atom::direct), some == of_port_and_type ? 1 : 0);
    }
  }
}

TEST_F(outline, working_sets_grow_with_the_rules) {
  std::uint64_t before = 0;
  for (const unsigned n : {20, 200, 2000}) {
    std::vector<operation> rules;
    for (unsigned i = 0; i < n; ++i) {
      rules.emplace_back(
          add_rule(0, 1, where({exact(field::eth_dst, mac(i))}), apply({output(2)})));
    }
    must(rules);
    std::uint64_t sum = 0;
    for (const memory_area& each : of().areas) sum += each.bytes;
    EXPECT_GT(sum, 4 * before) << n;
    // Of each rule a record, a counter, a slot with key and value, and its share of a bucket.
    EXPECT_GE(sum, n * (64 + 16 + 24 + 8U));
    before = sum;
  }
}

TEST_F(outline, records_that_rules_share_are_few) {
  constexpr unsigned n = 5000;
  std::vector<operation> rules;
  for (unsigned i = 0; i < n; ++i) {
    rules.emplace_back(
        add_rule(0, 1, where({exact(field::eth_dst, mac(i))}), apply({output(2 + i / (n / 2))})));
  }
  must(rules);
  const auto bytes = [&] {
    std::uint64_t sum = 0;
    for (const memory_area& each : of().areas) sum += each.bytes;
    return sum;
  };
  const std::uint64_t before = bytes();
  batches_go_on();
  ASSERT_EQ(bridge_->compiler().usage().shared, 2U);
  EXPECT_EQ(bytes(), before - (n - 4) * 64);
}

TEST_F(outline, long_lists_of_ops_are_memory_once_for_all_who_have_them) {
  const action_list list = {act::push_vlan{}, act::set_queue{1}, output(2)};
  std::vector<operation> rules;
  for (unsigned i = 0; i < 100; ++i) {
    rules.emplace_back(add_rule(0, 1, where({exact(field::eth_dst, mac(i))}), apply(list)));
  }
  must(rules);
  const pipeline_outline got = of();
  EXPECT_EQ(got.areas[stage(got, 0).lines.back().area].bytes, 64U);
  EXPECT_DOUBLE_EQ(most(stage(got, 0), atom::push), 1);
  EXPECT_DOUBLE_EQ(most(stage(got, 0), atom::note), 1);
}

TEST_F(outline, groups_have_the_ops_of_their_buckets) {
  must({test::add_group(1, group_type::select,
                        {test::to({output(2)}, 1), test::to({act::push_vlan{}, output(3)}, 1)}),
        test::add_group(2, group_type::all, {test::to({output(2)}), test::to({output(3)})}),
        add_rule(0, 1, where({exact(field::eth_dst, mac(1))}), apply({act::group{1}})),
        add_rule(1, 1, {}, apply({act::group{2}}))});
  const pipeline_outline got = of();
  EXPECT_EQ(most(stage(got, 0), atom::group), 1);
  EXPECT_EQ(most(stage(got, 0), atom::push), 0.5);
  EXPECT_EQ(most(stage(got, 0), atom::output), 1);
  EXPECT_EQ(most(stage(got, 0), atom::copy), 0);
  EXPECT_EQ(most(stage(got, 1), atom::output), 2);
  EXPECT_EQ(most(stage(got, 1), atom::copy), 1);
}

TEST_F(outline, flooding_is_a_copy_for_each_port_but_one) {
  must({add_rule(0, 1, {}, apply({output(port_flood)}))});
  const pipeline_outline got = of();
  EXPECT_EQ(most(stage(got, 0), atom::output), 3);
  EXPECT_EQ(most(stage(got, 0), atom::copy), 2);
}

TEST_F(outline, of_many_rules_some_stand_for_all) {
  std::vector<operation> rules;
  for (unsigned i = 0; i < 20'000; ++i) {
    rules.emplace_back(
        add_rule(0, 1, where({exact(field::eth_dst, mac(i))}), i % 2 == 0 ? go(1) : go(2)));
  }
  rules.emplace_back(add_rule(1, 1, {}, apply({output(2)})));
  rules.emplace_back(add_rule(2, 1, {}, apply({output(2)})));
  must(rules);
  EXPECT_NEAR(stage(of(), 1).visits, 0.5, 0.1);
  EXPECT_NEAR(stage(of(), 1).visits + stage(of(), 2).visits, 1, 1e-9);
}

TEST_F(outline, one_burst_in_sixteen_is_timed) {
  must({add_rule(0, 1, {}, apply({output(2)}))});
  const worker_counts& counts = bridge_->compiler().counts(0);
  EXPECT_EQ(counts.times().all().bursts, 0U);
  send(mac(1), 1);
  EXPECT_EQ(counts.times().all().bursts, 1U);
  send(mac(1), 2 * executor::timed_each);
  EXPECT_EQ(counts.times().all().bursts, 3U);
  EXPECT_EQ(counts.times().all().packets, 3U);
  EXPECT_GT(counts.times().all().cycles, 0U);
}

/// Of other packets than before, what comes of them now is told, not what came of all.
TEST_F(outline, tells_the_way_of_packets_since_the_last_one) {
  must({add_rule(0, 1, where({exact(field::eth_dst, 1)}), go(1)),
        add_rule(0, 1, where({exact(field::eth_dst, 2)}), go(2)),
        add_rule(1, 1, {}, apply({output(2)})), add_rule(2, 1, {}, apply({output(3)}))});
  met_until until;
  const auto visits = [&] {
    const pipeline_outline got = outline_of(*bridge_, &until);
    return std::pair(stage(got, 1).visits, stage(got, 2).visits);
  };
  send(1, 30);
  EXPECT_EQ(visits(), std::pair(1.0, 0.0));
  send(2, 10);
  EXPECT_EQ(visits(), std::pair(0.0, 1.0));
  EXPECT_EQ(visits(), std::pair(0.75, 0.25));  // nothing since
  // A rule that came since, one whose counters began again, and one that is another one now.
  must({add_rule(0, 2, where({exact(field::eth_dst, 1)}), go(2))});
  send(1, 10);
  EXPECT_EQ(visits(), std::pair(0.0, 1.0));
  rule_mod again = add_rule(0, 2, where({exact(field::eth_dst, 1)}), go(1));
  again.flags = rule_reset_counts;
  must({again});
  send(1, 6);
  send(2, 2);
  EXPECT_EQ(visits(), std::pair(0.75, 0.25));
}

/// Rules of which it is not known what they had met are left out; the sample of a larger table is
/// part of that of a smaller one.
TEST_F(outline, tells_the_way_of_packets_while_a_table_grows_and_shrinks) {
  must({add_rule(1, 1, {}, apply({output(2)})), add_rule(2, 1, {}, apply({output(3)}))});
  const auto add = [this](unsigned from, unsigned to, table_id next) {
    std::vector<operation> rules;
    for (unsigned i = from; i < to; ++i)
      rules.emplace_back(add_rule(0, 1, where({exact(field::eth_dst, mac(i))}), go(next)));
    must(rules);
  };
  met_until until;
  add(0, 900, 1);
  for (unsigned i = 0; i < 900; ++i) send(mac(i), 1);
  EXPECT_NEAR(stage(outline_of(*bridge_, &until), 1).visits, 1, 1e-9);
  EXPECT_EQ(until.packets.size(), 902U);
  add(900, 1800, 2);
  for (unsigned i = 900; i < 1800; ++i) send(mac(i), 1);
  const pipeline_outline got = outline_of(*bridge_, &until);
  EXPECT_EQ(stage(got, 1).visits, 0);
  EXPECT_NEAR(stage(got, 2).visits, 1, 1e-9);
  EXPECT_LT(until.packets.size(), 1100U);
  EXPECT_GT(until.packets.size(), 700U);
  std::vector<operation> removals;
  for (unsigned i = 900; i < 1700; ++i) {
    removals.emplace_back(test::change_rules(rule_command::remove_strict, 0, 1,
                                             where({exact(field::eth_dst, mac(i))})));
  }
  must(removals);
  for (unsigned i = 1700; i < 1800; ++i) send(mac(i), 1);
  EXPECT_EQ(stage(outline_of(*bridge_, &until), 1).visits, 0);
  EXPECT_EQ(until.packets.size(), 1002U);
}

}  // namespace
}  // namespace coua::pipeline
