// SPDX-License-Identifier: Apache-2.0
//
// What tables that come and go, or cannot be built, leave in the store that exact tables share.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "mac_rules.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::output;
using pipeline::test::where;

constexpr unsigned n_few = 20;  // more than a direct table takes

rule_mod removal(table_id table) {
  return pipeline::test::change_rules(rule_command::remove, table, 0, {});
}
void must(checked_pipeline& in, const std::vector<operation>& bundle) {
  ASSERT_TRUE(in.apply(bundle));
}
void add_macs(checked_pipeline& in, table_id table, unsigned n) {
  std::vector<operation> bundle;
  for (unsigned i = 0; i < n; ++i) bundle.emplace_back(mac_rule(table, i));
  must(in, bundle);
}
/// Removes the others of `n`, in one bundle.
void leave_few(checked_pipeline& in, table_id table, unsigned n) {
  std::vector<operation> bundle;
  for (unsigned i = n_few; i < n; ++i)
    bundle.emplace_back(strict(rule_command::remove_strict, mac_rule(table, i)));
  must(in, bundle);
}
/// A port for each table leads there.
void begin(checked_pipeline& in) {
  for (port_no i = 1; i <= 3; ++i) {
    must(in, {pipeline::test::add_port(i)});
    must(in, {add_rule(0, 5, where({exact(field::in_port, i)}),
                       pipeline::test::go(static_cast<table_id>(i)))});
  }
}
/// Packets at all tables; grace periods pass.
void see(checked_pipeline& in) {
  for (int round = 0; round < 3; ++round) {
    std::vector<packet> burst;
    for (unsigned i = 0; i < executor::burst_max; ++i) {
      burst.push_back(packet_to(i * (n_few + 4) / executor::burst_max, 1 + i % 3));
    }
    in.receive(burst);
  }
  in.check_counters();
}
const auto& stores(checked_pipeline& in) { return in.bridge().compiler().stores(); }
const exact_store* store_of(checked_pipeline& in, table_id table) {
  return in.bridge().compiler().form(table)->stage().exact;
}

TEST(shared_store, is_left_clean) {
  checked_pipeline in;
  begin(in);
  for (table_id t = 1; t <= 3; ++t) add_macs(in, t, n_few);
  const exact_store* all = store_of(in, 1);
  ASSERT_EQ(store_of(in, 2), all);
  for (int round = 0; round < 30; ++round) {
    must(in, {removal(1)});
    EXPECT_EQ(all->size(), 3 * n_few);  // a batch may still look
    see(in);
    EXPECT_EQ(all->size(), 2 * n_few);
    EXPECT_TRUE(stores(in)[0]->left.empty());
    add_macs(in, 1, n_few);
    EXPECT_EQ(store_of(in, 1), all);
    see(in);
  }
  EXPECT_EQ(stores(in).size(), 1U);
  for (table_id t = 1; t <= 3; ++t) must(in, {removal(t)});
  EXPECT_TRUE(stores(in).empty());
}

TEST(shared_store, is_divided_among_its_tables_to_the_byte) {
  checked_pipeline in;
  begin(in);
  add_macs(in, 1, n_few);
  add_macs(in, 2, 2 * n_few);
  add_macs(in, 3, 2 * n_few + 1);
  const pipeline_compiler& compiler = in.bridge().compiler();
  const std::uint64_t all = store_of(in, 1)->bytes();
  EXPECT_EQ(compiler.bytes(1) + compiler.bytes(2) + compiler.bytes(3), all);
  EXPECT_NEAR(static_cast<double>(compiler.bytes(1)), static_cast<double>(all) * 20 / 101, 1);
  EXPECT_GT(compiler.bytes(0), 0U);
  EXPECT_EQ(compiler.bytes(4), 0U);
  must(in, {removal(2), removal(3)});
  EXPECT_EQ(compiler.bytes(1), store_of(in, 1)->bytes());
}

TEST(shared_store, is_not_taken_by_a_table_that_has_just_left_it) {
  checked_pipeline in;
  begin(in);
  for (table_id t = 1; t <= 3; ++t) add_macs(in, t, n_few);
  for (int round = 0; round < 30; ++round) {
    const exact_store* before = store_of(in, 1);
    must(in, {removal(1)});
    add_macs(in, 1, n_few);
    EXPECT_NE(store_of(in, 1), before);
    if (round % 3 == 0) see(in);
    EXPECT_LE(stores(in).size(), 2U);
  }
  see(in);
  std::uint64_t n_entries = 0;
  for (const auto& each : stores(in)) n_entries += each->store->size();
  EXPECT_EQ(n_entries, 3 * n_few);
}

TEST(shared_store, shrinks_when_a_large_table_has_gone) {
  checked_pipeline in;
  begin(in);
  add_macs(in, 1, 10'000);
  add_macs(in, 2, n_few);
  const exact_store* large = store_of(in, 1);
  ASSERT_EQ(store_of(in, 2), large);
  must(in, {removal(1)});
  must(in, {mac_rule(2, 30)});
  EXPECT_EQ(store_of(in, 2), large);  // what the table left is still there
  see(in);
  must(in, {mac_rule(0, 1)});  // any change
  EXPECT_LT(store_of(in, 2)->room(), 1000U);
  see(in);
  EXPECT_EQ(stores(in).size(), 1U);
}

TEST(shared_store, takes_a_removal_of_most_of_what_fills_it) {
  checked_pipeline in;
  begin(in);
  for (unsigned i = 0; i < 1'000; ++i) must(in, {mac_rule(1, i)});
  const exact_store& full = *store_of(in, 1);
  ASSERT_GT(full.size(), full.room() / 4 * 3);
  leave_few(in, 1, 1'000);
  see(in);
}

TEST(shared_store, shrinks_with_its_table) {
  checked_pipeline in;
  begin(in);
  add_macs(in, 1, 10'000);
  leave_few(in, 1, 10'000);
  see(in);
  must(in, {mac_rule(1, 30)});
  EXPECT_LT(store_of(in, 1)->room(), 1000U);
  see(in);
}

/// Below that of mac_rule(), for the same packets.
rule_mod lower_rule(table_id table, unsigned which) {
  rule_mod made = mac_rule(table, which, 3);
  made.priority = 5;
  return made;
}
rule_mod rest_rule(table_id table, port_no port) {
  return add_rule(table, 0, {}, pipeline::test::apply({output(port)}));
}

// Each step sees the larger store with all that was in the smaller one: rules that wait behind
// others, the catch-all, what goes and what has gone.
TEST(shared_store, takes_all_along_when_it_grows) {
  checked_pipeline in;
  begin(in);
  for (table_id t = 1; t <= 2; ++t) {
    add_macs(in, t, n_few);
    for (unsigned i = 0; i < 8; ++i) must(in, {lower_rule(t, i)});
    must(in, {rest_rule(t, 3)});
  }
  unsigned n_moves = 0, number = 1000;
  const exact_store* has = store_of(in, 1);
  while (n_moves < 3) {
    // Gone, but not buried when the store grows.
    must(in, {strict(rule_command::remove_strict, mac_rule(2, number % n_few)),
              strict(rule_command::remove_strict, rest_rule(1, 3))});
    must(in, {mac_rule(1, ++number)});
    const exact_store* const now = store_of(in, 1);
    if (std::exchange(has, now) != now) {
      ++n_moves;
      EXPECT_EQ(store_of(in, 2), now);
      see(in);
      // What waited has its turn, and what counted then waits.
      must(in, {strict(rule_command::remove_strict, mac_rule(1, n_moves)),
                strict(rule_command::remove_strict, mac_rule(2, n_moves + 1))});
      see(in);
      must(in, {mac_rule(1, n_moves), mac_rule(2, n_moves + 1),
                strict(rule_command::remove_strict, rest_rule(2, 3))});
      see(in);
      must(in, {rest_rule(2, 1 + n_moves % 2)});
    }
    must(in, {mac_rule(2, (number - 1) % n_few, 1 + number % 3), rest_rule(1, 1 + number % 3)});
    if (number % 16 == 0) see(in);
  }
  see(in);
  EXPECT_EQ(stores(in).size(), 1U);
  in.check_nothing_stays();
}

TEST(shared_store, counts_all_of_its_memory) {
  checked_pipeline in;
  begin(in);
  add_macs(in, 1, 10'000);
  const exact_store* const store = store_of(in, 1);
  const std::uint64_t lines = store->n_buckets() * 64;
  const std::uint64_t slots = store->n_buckets() * 8;
  // A key, a value, and of each bucket's filter the share that is being rebuilt.
  EXPECT_GT(slots, 10'000U);
  EXPECT_GE(store->bytes(),
            lines + slots * (store->stride() + 1) * 8 + store->n_buckets() * 9 / 20);
}

constexpr std::size_t rules_max = 64;
constexpr compiler_params few_records = {.spare_records = 256};

/// Changes a rule of table 7 so often.
bool spend_records(checked_pipeline& in, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!in.apply({mac_rule(7, 0, 1 + i % 3)})) return false;
  }
  return true;
}

TEST(shared_store, keeps_nothing_of_a_table_that_could_not_be_built) {
  const auto ready = [](checked_pipeline& in) {
    begin(in);
    add_macs(in, 2, n_few);
    add_macs(in, 1, 16);
  };
  std::size_t n_left = 0;
  {
    checked_pipeline twin(rules_max, few_records);
    ready(twin);
    while (twin.apply({mac_rule(7, 0, 1 + n_left % 3)})) ++n_left;
  }
  checked_pipeline in(rules_max, few_records);
  ready(in);
  ASSERT_TRUE(spend_records(in, n_left - 9));
  const shared_store& store = *stores(in)[0];
  ASSERT_EQ(in.bridge().compiler().form(1)->kind(), table_template::direct);
  ASSERT_FALSE(in.apply({mac_rule(1, 16)}));  // an exact table of 17 rules needs 17 records
  EXPECT_EQ(in.n_full, 1U);
  EXPECT_GT(store.store->size(), n_few);
  EXPECT_EQ(store.tables, std::set<table_id>{2});
  EXPECT_EQ(store.left, std::set<table_id>{1});
  see(in);
  EXPECT_EQ(store.store->size(), n_few);
  EXPECT_TRUE(store.left.empty());
  must(in, {mac_rule(1, 16)});
  EXPECT_EQ(store_of(in, 1), store.store.get());
  see(in);
}

// Red when each is made for the rules of all tables of the bundle.
TEST(shared_store, is_as_large_as_the_tables_that_share_it) {
  constexpr unsigned n = 1000;
  checked_pipeline in;
  begin(in);
  std::vector<operation> bundle;
  const field keys[] = {field::eth_dst, field::eth_src, field::metadata, field::tunnel_id, reg(3)};
  for (table_id t = 1; t <= 5; ++t) {
    for (unsigned i = 0; i < n; ++i) {
      bundle.emplace_back(add_rule(t, 10, where({exact(keys[t - 1], first_mac % 7 + i)}),
                                   pipeline::test::apply({output(2)})));
      if (t == 5) bundle.emplace_back(mac_rule(6, i));
    }
  }
  must(in, bundle);
  ASSERT_EQ(stores(in).size(), 5U);
  ASSERT_EQ(store_of(in, 6), store_of(in, 1));
  for (const auto& each : stores(in)) {
    EXPECT_GE(each->store->room(), each->store->size());
    EXPECT_LE(each->store->room(), 4 * each->store->size());
  }
  see(in);
}

TEST(shared_store, is_not_kept_for_a_table_that_could_not_be_built) {
  std::size_t n_left = 0;
  {
    checked_pipeline twin(rules_max, few_records);
    add_macs(twin, 1, 16);
    while (twin.apply({mac_rule(7, 0, 1 + n_left % 3)})) ++n_left;
  }
  checked_pipeline in(rules_max, few_records);
  add_macs(in, 1, 16);
  ASSERT_TRUE(spend_records(in, n_left - 9));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(in.apply({mac_rule(1, 16)}));
  EXPECT_TRUE(stores(in).empty());
  see(in);
}

}  // namespace
}  // namespace coua::test
