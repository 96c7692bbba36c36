// SPDX-License-Identifier: Apache-2.0
#include "bench/cases/use_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "pipeline/compiler/running_bridge.h"
#include "pipeline/model/test_model.h"
#include "pipeline/oracle/oracle.h"
#include "pipeline/oracle/test_packet.h"

namespace coua::bench {
namespace {

using namespace pipeline;

std::unique_ptr<use_case> make(const case_params& params) {
  auto made = make_use_case(params);
  if (!made) ADD_FAILURE() << made.error().message();
  return std::move(*made);
}

case_params named(const char* name, std::uint64_t rules, std::uint64_t flows) {
  case_params made;
  made.name = name;
  made.rules = rules;
  made.flows = flows;
  return made;
}
case_params gateway(const char* name, std::uint64_t users, flow_direction direction) {
  case_params made = named(name, 300, 600);
  made.users = users;
  made.direction = direction;
  return made;
}
case_params attacked(std::uint64_t masks, std::uint64_t flows, unsigned percent) {
  case_params out = named("classify", masks, flows);
  out.attack = percent;
  return out;
}

case_params one_table() {
  case_params made = named("lb", 30, 600);
  made.single_table = true;
  return made;
}
/// All cases, small.
std::vector<case_params> all_cases() {
  std::vector<case_params> all = {named("l2-flows", 100, 300),
                                  named("l2-flows", 300, 100),
                                  named("l3", 4000, 1000),
                                  named("vrf", 4000, 1000),
                                  named("lb", 30, 600),
                                  one_table(),
                                  named("classify", 20, 300),
                                  named("classify", 600, 1000),
                                  attacked(600, 6000, 10),
                                  gateway("gateway", 20, flow_direction::up),
                                  gateway("gateway", 20, flow_direction::down),
                                  gateway("gateway", 20, flow_direction::both),
                                  gateway("gateway-1m", 60, flow_direction::both)};
  all[1].size = 65;
  all[4].size = 1518;
  all[7].size = 300;
  return all;
}
std::string label(const case_params& of) {
  return of.name + (of.single_table ? " as one table" : "") + ", " + to_string(of.direction);
}

packet packet_of(const use_case& of, const case_flow& flow) {
  packet made;
  made.bytes.resize(of.sent_bytes());
  write_frame(flow.sent, made.bytes);
  made.in_port = flow.in_port;
  return made;
}
std::vector<std::uint8_t> expected_of(const use_case& of, const case_flow& flow) {
  std::vector<std::uint8_t> made(of.expected_bytes(flow));
  write_frame(flow.expected, made);
  return made;
}

template <class Bridge>
void load(Bridge& into, const use_case& of) {
  std::vector<operation> all;
  for (port_no number = 1; number <= of.n_ports(); ++number) all.push_back(test::add_port(number));
  of.each_rule([&all](rule_mod each) { all.emplace_back(std::move(each)); });
  const auto done = into.apply(all, 0);
  ASSERT_TRUE(done.has_value()) << done.error().message();
}

TEST(use_case, the_oracle_sends_every_packet_where_the_case_says) {
  for (const case_params& params : all_cases()) {
    SCOPED_TRACE(label(params));
    const auto of = make(params);
    bridge model = test::make_bridge();
    load(model, *of);
    oracle judge(model);
    for (std::uint64_t i = 0; i < params.flows; ++i) {
      const case_flow flow = of->flow(i);
      const packet sent = packet_of(*of, flow);
      ASSERT_TRUE(test::checksums_right(sent)) << i;
      ASSERT_GE(flow.in_port, 1U);
      ASSERT_LE(flow.in_port, of->n_ports());
      const verdict got = judge.receive(sent, 0);
      ASSERT_TRUE(got.packet_ins.empty()) << i;
      ASSERT_EQ(got.outputs.size(), 1U) << i;
      ASSERT_EQ(got.outputs[0].port, flow.out_port) << i;
      ASSERT_EQ(got.outputs[0].bytes, expected_of(*of, flow)) << i;
      got.counts.add_to(model, 0);
    }
    for (const rule_table& table : model.tables()) {
      EXPECT_EQ(table.lookups, table.matches);
    }
  }
}

TEST(use_case, flows_are_spread_over_all_rules) {
  for (const case_params& params : all_cases()) {
    if (params.attack) continue;  // they have popular masks
    SCOPED_TRACE(label(params));
    const auto of = make(params);
    bridge model = test::make_bridge();
    load(model, *of);
    oracle judge(model);
    for (std::uint64_t i = 0; i < params.flows; ++i) {
      judge.receive(packet_of(*of, of->flow(i)), 0).counts.add_to(model, 0);
    }
    std::size_t n_met = 0, n_all = 0;
    std::uint64_t most = 0;
    for (const rule_table& table : model.tables()) {
      // Of a table of a few rules all are met; those of others are what flows are spread over.
      if (table.lookups == 0 || table.size() <= 11) continue;
      table.each([&](const rule_table::entry& one) {
        n_met += one.state.counted.packets != 0;
        most = std::max(most, one.state.counted.packets);
        ++n_all;
      });
    }
    // Prefixes of a gateway are drawn: of 300 that 300 or 600 flows ask for, 63 % or more are met.
    EXPECT_GT(n_met, std::min<std::size_t>(n_all, params.flows) * 6 / 10);
    EXPECT_LT(most, 60U);
  }
}

TEST(use_case, spare_rules_are_in_the_table_of_the_others_and_meet_no_packet) {
  for (const case_params& params : all_cases()) {
    SCOPED_TRACE(label(params));
    const auto of = make(params);
    bridge model = test::make_bridge();
    load(model, *of);
    const std::size_t before = model.n_rules();
    std::set<table_id> tables;
    for (std::uint64_t i = 0; i < spare_rules; ++i) {
      const rule_mod spare = of->spare_rule(i);
      tables.insert(spare.table);
      test::must(model, spare);
    }
    EXPECT_EQ(model.n_rules(), before + spare_rules);  // none replaced another
    for (const table_id table : tables) {
      EXPECT_GE(model.tables()[table].size(), spare_rules / tables.size() + params.rules);
    }
    oracle judge(model);
    for (std::uint64_t i = 0; i < params.flows; ++i) {
      judge.receive(packet_of(*of, of->flow(i)), 0).counts.add_to(model, 0);
    }
    for (std::uint64_t i = 0; i < spare_rules; ++i) {
      const rule_mod spare = of->spare_rule(i);
      const auto* entry = model.tables()[spare.table].find(spare.priority, spare.match);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->state.counted.packets, 0U);
    }
  }
}

TEST(use_case, longer_prefixes_count) {
  const auto of = make(named("l3", 4000, 1000));
  bridge model = test::make_bridge();
  load(model, *of);
  std::size_t n_several = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint32_t to = of->flow(i).sent.ip_dst;
    std::size_t n = 0;
    model.tables()[0].each([&](const rule_table::entry& one) {
      const match_term* prefix = one.rule->match.find(field::ipv4_dst);
      n += (to & prefix->mask) == prefix->value;
    });
    ASSERT_GE(n, 1U);
    n_several += n > 1;
  }
  // Else the test of all cases would not see whether priorities are right.
  EXPECT_GE(n_several, 3U);
}

TEST(use_case, a_load_balancer_halves_the_clients) {
  for (const case_params& params : {named("lb", 30, 1000), one_table()}) {
    const auto of = make(params);
    std::map<port_no, int> n;
    for (std::uint64_t i = 0; i < params.flows; ++i) ++n[of->flow(i).out_port];
    EXPECT_EQ(n.size(), 2U);
    EXPECT_NEAR(n[2], n[3], static_cast<int>(params.flows) / 10);
  }
}

/// The templates of the paper, where its limit of what is compared one by one is not ours.
TEST(use_case, the_compiler_finds_the_templates_of_the_paper) {
  const auto t = [](table_template which, unsigned first, unsigned last) {
    std::map<unsigned, table_template> all;
    for (; first <= last; ++first) all[first] = which;
    return all;
  };
  const auto check = [](const case_params& params, std::map<unsigned, table_template> expected) {
    SCOPED_TRACE(label(params));
    const auto of = make(params);
    auto compiled = running_bridge::create();
    ASSERT_TRUE(compiled.has_value());
    load(**compiled, *of);
    std::map<unsigned, table_template> got;
    for (unsigned table = 0; table <= table_max; ++table) {
      const table_form* form = (*compiled)->compiler().form(static_cast<table_id>(table));
      if (form != nullptr) got[table] = form->kind();
    }
    EXPECT_EQ(got, expected);
  };
  using enum table_template;
  check(named("l2-flows", 17, 1), t(exact, 0, 0));
  check(named("l3", 100, 1), t(lpm, 0, 0));
  check(named("vrf", 1000, 1), t(decomposed, 0, 0));
  auto balancer = t(direct, 0, 0);
  balancer.merge(t(exact, 1, 2));
  check(named("lb", 17, 1), balancer);
  check(one_table(), t(exact, 0, 0));
  auto access = t(direct, 0, 1);
  access.merge(t(exact, 2, 21));
  access.merge(t(lpm, 110, 110));
  check(gateway("gateway", 20, flow_direction::up), access);
  check(gateway("gateway-1m", 200, flow_direction::up), access);
}

TEST(use_case, a_seed_makes_the_same_case_and_another_seed_another) {
  const auto bytes_of = [](case_params params, std::uint64_t seed) {
    params.seed = seed;
    const auto of = make(params);
    std::vector<std::vector<std::uint8_t>> all;
    for (std::uint64_t i = 0; i < params.flows; ++i) {
      all.push_back(packet_of(*of, of->flow(i)).bytes);
    }
    return all;
  };
  for (const case_params& params : all_cases()) {
    SCOPED_TRACE(label(params));
    const auto once = bytes_of(params, 5);
    EXPECT_EQ(once, bytes_of(params, 5));
    EXPECT_EQ(std::set(once.begin(), once.end()).size(), params.flows);  // no flow twice
  }
  EXPECT_NE(bytes_of(named("l3", 50, 50), 5), bytes_of(named("l3", 50, 50), 6));
}

/// By the length of the prefix in its source address, which tells the 32 masks apart.
std::map<unsigned, unsigned> flows_by_mask(const use_case& of, std::uint64_t from,
                                           std::uint64_t to) {
  std::map<unsigned, unsigned> n;
  for (std::uint64_t i = from; i < to; ++i) {
    ++n[static_cast<unsigned>(std::countl_one(of.flow(i).sent.ip_src))];
  }
  return n;
}

TEST(use_case, an_attack_is_spread_over_the_masks_that_are_not_popular) {
  const auto of = make_use_case(attacked(32, 1000, 25));
  ASSERT_TRUE(of.has_value());
  EXPECT_EQ(flows_by_mask(**of, 0, 750), (std::map<unsigned, unsigned>{{0, 750}}));
  const auto attackers = flows_by_mask(**of, 750, 1000);
  EXPECT_EQ(attackers.size(), 31U);
  EXPECT_FALSE(attackers.contains(0));
  for (const auto& [mask, n] : attackers) EXPECT_LE(n, 9U) << mask;
  // What rules of other masks take differs from flow to flow.
  std::set<std::uint32_t> sources;
  for (std::uint64_t i = 750; i < 760; ++i) {
    sources.insert((*of)->flow(i).sent.ip_src << 1 >> 1);
  }
  EXPECT_EQ(sources.size(), 10U);
}

TEST(use_case, an_order_has_every_flow_once_in_each_round) {
  const std::vector<std::uint32_t> order = draw_order(100, 250, 7);
  ASSERT_EQ(order.size(), 250U);
  const auto sorted = [&order](std::size_t from, std::size_t n) {
    std::vector<std::uint32_t> part(order.begin() + static_cast<std::ptrdiff_t>(from),
                                    order.begin() + static_cast<std::ptrdiff_t>(from + n));
    std::sort(part.begin(), part.end());
    return part;
  };
  std::vector<std::uint32_t> all(100);
  for (std::uint32_t i = 0; i < 100; ++i) all[i] = i;
  EXPECT_EQ(sorted(0, 100), all);
  EXPECT_EQ(sorted(100, 100), all);
  const std::vector<std::uint32_t> rest = sorted(200, 50);
  EXPECT_EQ(std::set(rest.begin(), rest.end()).size(), 50U);
  EXPECT_FALSE(std::equal(order.begin(), order.begin() + 100, order.begin() + 100));
  EXPECT_EQ(draw_order(100, 250, 7), order);
  EXPECT_NE(draw_order(100, 250, 8), order);
  EXPECT_EQ(draw_order(1, 3, 1), (std::vector<std::uint32_t>{0, 0, 0}));
}

TEST(use_case, what_cannot_be_is_refused_by_the_option) {
  const auto refused = [](const case_params& params) {
    const auto made = make_use_case(params);
    return made ? "taken" : made.error().where;
  };
  EXPECT_EQ(refused(named("l4", 1, 1)), "--case l4");
  EXPECT_EQ(refused(named("l3", most_case_rules + 1, 1)), "--rules 4000001");
  EXPECT_EQ(refused(named("lb", 1, 0)), "--flows 0");
  case_params params = named("lb", 1, 1);
  params.size = 63;
  EXPECT_EQ(refused(params), "--size 63");
  EXPECT_EQ(refused(gateway("l3", 5, flow_direction::up)), "--users");
  EXPECT_EQ(refused(gateway("l3", 0, flow_direction::down)), "--direction");
  EXPECT_EQ(refused(gateway("gateway", most_users + 1, flow_direction::up)), "--users 100001");
  params = one_table();
  params.name = "l3";
  EXPECT_EQ(refused(params), "--single-table");
  params = attacked(600, 1000, 10);
  params.name = "l3";
  EXPECT_EQ(refused(params), "--attack");
  EXPECT_EQ(refused(attacked(600, 1000, most_attack + 1)), "--attack 91");
  EXPECT_EQ(refused(attacked(1, 1000, 10)), "--masks 1");
  // 594 masks are attacked.
  EXPECT_EQ(refused(attacked(600, 5939, 10)), "--attack 10");
  EXPECT_EQ(refused(attacked(600, 5940, 10)), "taken");
  EXPECT_EQ(refused(attacked(600, 1, 0)), "taken") << "no attack needs flows";
  const result<case_params> whole = complete(named("gateway-1m", 0, 1));
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->rules, 10'000U);
  EXPECT_EQ(whole->users, 100'000U);
}

}  // namespace
}  // namespace coua::bench
