// SPDX-License-Identifier: Apache-2.0
//
// Rules of large tables that do the same share records (compiler/shared_records.h): each counts its
// own packets all the same, and changes by itself.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "mac_rules.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::output;
using pipeline::test::where;

constexpr unsigned n_macs = 64;

instructions to_port(port_no port) { return pipeline::test::apply({output(port)}); }

class shared_records_test : public ::testing::Test {
 protected:
  explicit shared_records_test(const compiler_params& params = no_mixed,
                               std::size_t rules_max = 4096)
      : in(rules_max, params) {
    for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
  }

  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in.apply(bundle)); }
  void add_macs(unsigned first, unsigned n, port_no port = 2) {
    std::vector<operation> bundle;
    for (unsigned i = 0; i < n; ++i) bundle.emplace_back(mac_rule(0, first + i, port));
    must(bundle);
  }
  /// Packets to all, in bursts; grace periods pass. `packet_of(i)`: one of `n`.
  template <class PacketOf>
  void see(unsigned n, PacketOf packet_of) {
    for (unsigned first = 0; first < n; first += executor::burst_max) {
      std::vector<packet> burst;
      for (unsigned i = 0; i < executor::burst_max; ++i) burst.push_back(packet_of(first + i));
      in.receive(burst);
    }
    for (int i = 0; i < 5; ++i) in.receive({});
    in.check_counters();
  }
  void see(unsigned n = n_macs) {
    see(n, [](unsigned i) { return packet_to(i); });
  }
  compiler_usage usage() { return in.bridge().compiler().usage(); }

  checked_pipeline in;
};

TEST_F(shared_records_test, are_one_for_all_that_do_the_same) {
  add_macs(0, n_macs / 2, 2);
  add_macs(n_macs / 2, n_macs / 2, 3);
  EXPECT_EQ(usage().records, n_macs);
  EXPECT_EQ(usage().shared, 0U);  // a batch may be at the version from before
  see();
  EXPECT_EQ(usage().shared, 2U);
  EXPECT_EQ(usage().records, 4U);  // the first of each kind keeps its own
  see();
  in.check_nothing_stays();
}

TEST_F(shared_records_test, are_not_for_what_comes_once) {
  constexpr unsigned n = 400;  // the store is made anew as they come
  const auto add = [&](unsigned i) {
    must({add_rule(0, 10, to_mac(i),
                   pipeline::test::apply({act::set(field::eth_src, i + 1), output(2)}))});
  };
  for (unsigned i = 0; i < n; ++i) {
    add(i);
    if (i % 20 == 0) see(n);
  }
  see(n);
  for (unsigned i = 0; i < n; ++i) add(i);  // once more
  see(n);
  EXPECT_EQ(usage().shared, 0U);
  EXPECT_EQ(usage().records, n);
  in.check_nothing_stays();
}

TEST_F(shared_records_test, are_left_by_who_changes) {
  add_macs(0, n_macs);
  see();
  ASSERT_EQ(usage().shared, 1U);
  // In one version: packets that come before batches have gone on see it, too.
  must({strict(rule_command::modify_strict, mac_rule(0, 3, 3)), mac_rule(0, 4, 3),
        strict(rule_command::remove_strict, mac_rule(0, 5)), mac_rule(0, 6, 4, 20),
        mac_rule(0, 7, 4, 5), strict(rule_command::remove_strict, mac_rule(0, 8)),
        mac_rule(0, 8, 2)});
  see();
  must({strict(rule_command::remove_strict, mac_rule(0, 6, 4, 20)),
        strict(rule_command::remove_strict, mac_rule(0, 7))});
  see();
  must({strict(rule_command::modify_strict, mac_rule(0, 3, 2)), mac_rule(0, 5)});
  see();
  // All of them, twice before any batch goes on.
  for (const port_no port : {3, 4}) {
    must({strict(rule_command::modify, add_rule(0, 0, {}, to_port(port)))});
  }
  see();
  for (unsigned i = 0; i < n_macs; ++i) {
    must({strict(rule_command::remove_strict, mac_rule(0, i))});
    if (i % 16 == 0) see();
  }
  see();
  EXPECT_EQ(usage().shared, 0U);
  in.check_nothing_stays();
}

TEST_F(shared_records_test, count_rule_by_rule_in_a_burst_of_one_effect) {
  add_macs(0, n_macs);
  see();
  ASSERT_EQ(usage().shared, 1U);
  // One flow; two in turns; one that differs where nobody samples.
  std::vector<packet> burst(executor::burst_max, packet_to(7));
  in.receive(burst);
  in.check_counters();
  for (std::size_t i = 0; i < burst.size(); i += 2) burst[i] = packet_to(8);
  in.receive(burst);
  in.check_counters();
  burst.assign(executor::burst_max, packet_to(9));
  burst[5] = packet_to(10);
  in.receive(burst);
  in.check_counters();
}

TEST_F(shared_records_test, go_with_the_group_that_they_send_to) {
  const auto group = [](mod_command command) {
    group_mod made =
        pipeline::test::add_group(1, group_type::indirect, {pipeline::test::to({output(3)})});
    made.command = command;
    return made;
  };
  add_macs(n_macs / 2, n_macs / 2);
  for (int round = 0; round < 3; ++round) {
    must({group(mod_command::add)});
    for (unsigned i = 0; i < n_macs / 2; ++i) {
      must({add_rule(0, 10, to_mac(i), pipeline::test::apply({act::group{1}}))});
    }
    see();
    EXPECT_EQ(usage().shared, 2U);
    // The next one has the same number; some packets come before and some after batches go on.
    must({group(mod_command::remove)});
    if (round == 1) must({group(mod_command::add)});
    see();
    EXPECT_EQ(usage().shared, 1U);
    if (round == 1) must({group(mod_command::remove)});
  }
  in.check_nothing_stays();
}

/// A store with more room takes what there is, and what has not been shared yet.
TEST_F(shared_records_test, go_along_to_another_store) {
  const auto store = [&] { return in.bridge().compiler().form(0)->stage().exact; };
  add_macs(0, 200);
  see();
  ASSERT_EQ(usage().shared, 1U);
  const exact_store* const before = store();
  add_macs(200, 800);
  ASSERT_NE(store(), before);
  see(1000);
  EXPECT_EQ(usage().shared, 1U);
  EXPECT_LT(usage().records, 10U);
  std::vector<operation> bundle;
  for (unsigned i = n_macs; i < 1000; ++i) {
    bundle.emplace_back(strict(rule_command::remove_strict, mac_rule(0, i)));
  }
  must(bundle);
  see(1000);
  see();
  EXPECT_EQ(usage().shared, 1U);
  in.check_nothing_stays();
}

/// The table is built anew, by another template and back.
TEST_F(shared_records_test, go_with_the_template) {
  add_macs(0, n_macs);
  see();
  ASSERT_EQ(usage().shared, 1U);
  const rule_mod odd = add_rule(0, 5, where({exact(field::in_port, 1)}), to_port(3));
  must({odd});
  EXPECT_NE(in.bridge().compiler().form(0)->kind(), table_template::exact);
  see();
  EXPECT_EQ(usage().shared, 0U);
  must({strict(rule_command::remove_strict, odd)});
  for (unsigned i = 0; i < n_macs; ++i) {
    must({strict(rule_command::modify_strict, mac_rule(0, i, 3))});
  }
  ASSERT_EQ(in.bridge().compiler().form(0)->kind(), table_template::exact);
  see();
  EXPECT_EQ(usage().shared, 1U);
  in.check_nothing_stays();
}

class shared_and_apart : public shared_records_test {
 protected:
  shared_and_apart() : shared_records_test({.limits = {.direct_long = 0}, .share_from = 1}) {}
};

TEST_F(shared_and_apart, of_one_priority_the_older_counts) {
  const auto odd = [](std::uint64_t number, port_no port) {
    return add_rule(0, 10, where({exact(field::in_port, 1), {field::eth_dst, number, 1}}),
                    to_port(port));
  };
  add_macs(0, n_macs / 2);
  must({odd(0, 3)});  // younger than these, older than those
  add_macs(n_macs / 2, n_macs / 2);
  see();
  ASSERT_EQ(in.bridge().compiler().form(0)->kind(), table_template::exact);
  ASSERT_TRUE(in.bridge().compiler().form(0)->has_rules_apart());
  EXPECT_EQ(usage().shared, 1U);
  must({odd(1, 4)});
  see();
  // What changes keeps its place.
  must({strict(rule_command::modify, add_rule(0, 0, {}, to_port(4)))});
  see();
  in.check_nothing_stays();
}

class shared_from_100 : public shared_records_test {
 protected:
  shared_from_100() : shared_records_test({.limits = no_mixed_tables, .share_from = 100}) {}
};

TEST_F(shared_from_100, are_none_in_small_tables) {
  add_macs(0, n_macs);
  see();
  EXPECT_EQ(usage().shared, 0U);
  EXPECT_EQ(usage().records, n_macs);
  for (unsigned i = n_macs; i < 2 * n_macs; ++i) must({mac_rule(0, i)});
  see(2 * n_macs);
  EXPECT_EQ(usage().shared, 1U);
  EXPECT_LT(usage().records, 4U);
  add_macs(2 * n_macs, 4 * n_macs);  // another store
  see(6 * n_macs);
  EXPECT_LT(usage().records, 4U);
  in.check_nothing_stays();
}

/// What counts are the entries of a store, whichever table they are of, and when they came: before
/// those of another table, along with them, or before there was another store.
TEST_F(shared_from_100, are_those_of_all_tables_of_a_store) {
  const pipeline_compiler& compiler = in.bridge().compiler();
  for (const unsigned n_other : {n_macs, 6 * n_macs}) {
    for (const bool at_once : {false, true}) {
      std::vector<operation> bundle;
      for (unsigned i = 0; i < n_other; ++i) bundle.emplace_back(mac_rule(1, i, 3));
      if (at_once) {
        for (unsigned i = 0; i < n_macs; ++i) bundle.emplace_back(mac_rule(0, i));
        must(bundle);
      } else {
        add_macs(0, n_macs);
        see();
        ASSERT_EQ(usage().shared, 0U);
        for (const operation& each : bundle) must({each});
      }
      ASSERT_EQ(compiler.form(0)->stage().exact, compiler.form(1)->stage().exact);
      see();
      // The first one has nobody to share with, but for one that was there before the removals.
      EXPECT_GE(compiler.form(0)->shared().rules, n_macs - 1);
      EXPECT_GE(compiler.form(1)->shared().rules, n_other - 1);
      for (const table_id table : {0, 1}) {
        must({pipeline::test::change_rules(rule_command::remove, table, 0, {})});
      }
      see();
    }
  }
  in.check_nothing_stays();
}

/// While one rule or another changes all the time, what waits does not grow.
TEST_F(shared_records_test, wait_once_for_each_grace_period) {
  add_macs(0, n_macs);
  see();
  std::size_t most = 0;
  for (unsigned i = 0; i < 500; ++i) {
    must({strict(rule_command::modify_strict, mac_rule(0, i % n_macs, 2 + i % 3))});
    if (i % 4 == 0) in.receive({});
    most = std::max(most, in.bridge().compiler().n_deferred());
  }
  EXPECT_LT(most, 100U);
  see();
  in.check_nothing_stays();
}

class shared_routes : public shared_records_test {
 protected:
  static rule_mod route(unsigned which, port_no port, unsigned length = 24) {
    const value128 mask = ones(32) & ~ones(32 - length);
    return add_rule(0, static_cast<std::uint16_t>(length),
                    where({pipeline::test::ipv4(),
                           {field::ipv4_dst, (0x0a00'0000 + (which << 8)) & mask, mask}}),
                    to_port(port));
  }
  void see_routes(unsigned n) {
    see(n, [](unsigned i) {
      packet one = packet_to(0);
      net::store_be32(one.bytes.data() + net::ethernet_header_bytes + net::wire::ipv4::destination,
                      0x0a00'0001 + (i << 8));
      return one;
    });
  }
};

TEST_F(shared_routes, share_by_length_and_port) {
  constexpr unsigned n = 100;
  for (unsigned i = 0; i < n; ++i) must({route(i, 2 + i / 50)});
  must({route(0, 4, 16), route(256, 4, 16), route(512, 4, 16)});
  ASSERT_EQ(in.bridge().compiler().form(0)->kind(), table_template::lpm);
  see_routes(n + 4);
  EXPECT_EQ(usage().shared, 3U);
  EXPECT_EQ(usage().records, 6U);
  see_routes(n + 4);
  // A shorter one counts where one goes, at once and afterwards.
  must({strict(rule_command::remove_strict, route(7, 2)),
        strict(rule_command::modify_strict, route(8, 3))});
  see_routes(n + 4);
  must({strict(rule_command::remove_strict, route(0, 4, 16)), route(7, 4)});
  see_routes(n + 4);
  must({strict(rule_command::modify, add_rule(0, 0, {}, to_port(3)))});
  see_routes(n + 4);
  in.check_nothing_stays();
}

class shared_with_few_records : public shared_records_test {
 protected:
  shared_with_few_records()
      : shared_records_test({.spare_records = 256, .limits = no_mixed_tables, .share_from = 1},
                            n_macs) {}
};

/// Each change takes records, of which none comes back while a batch may be anywhere.
TEST_F(shared_with_few_records, change_until_there_are_none) {
  add_macs(0, n_macs);
  see();
  ASSERT_EQ(usage().shared, 1U);
  for (unsigned i = 0; in.n_full == 0; ++i) {
    ASSERT_LT(i, 10 * n_macs + 256);
    (void)in.apply({strict(rule_command::modify_strict, mac_rule(0, i % n_macs, 2 + i % 3))});
  }
  see();
  must({strict(rule_command::modify, add_rule(0, 0, {}, to_port(3)))});
  see();
  EXPECT_EQ(usage().shared, 1U);
  in.check_nothing_stays();
}

TEST(shared_records_bounds, no_record_has_more_than_28_bits) {
  const auto made = running_bridge::create({}, {.spare_records = std::size_t{1} << 28});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("spare_records: must be at most 2^28"), std::string::npos)
      << made.error().message();
}

}  // namespace
}  // namespace coua::test
