// SPDX-License-Identifier: Apache-2.0
//
// Rules, groups and meters of the file, on the model of a pipeline.
#include "ctl/pipeline_texts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "ctl/fake_pipeline.h"
#include "ctl/pipeline_bundle.h"
#include "ctl/test_random_config.h"

namespace coua::ctl {
namespace {

using said = std::vector<std::string>;

pipeline_texts say(said flows, said groups = {}, said meters = {}) {
  return {true, std::move(flows), std::move(groups), std::move(meters)};
}

pipeline_texts told(pipeline_control& by) {
  return print_pipeline(read_pipeline(by), by.port_names());
}

bool nothing_to_do(pipeline_control& by, const pipeline_texts& wanted) {
  const auto more = plan_bundle(read_pipeline(by), wanted, by.port_names());
  return more && more->operations.empty();
}

bool same(pipeline_texts a, pipeline_texts b) {
  for (const text_list list : text_lists) {
    std::ranges::sort(list_of(a, list));
    std::ranges::sort(list_of(b, list));
  }
  return a == b;
}

pipeline::operation add(const std::string& flow) { return *parse_text(text_list::flows, flow, {}); }

TEST(pipeline_texts, become_what_runs_and_are_printed_so) {
  fake_pipeline bridge;
  const pipeline_texts wanted =
      say({"priority=10,tcp,in_port=p0 actions=meter:1,group:1", "priority=0 actions=NORMAL",
           "cookie=0x5, table=3, idle_timeout=60, send_flow_rem udp actions=output:p3"},
          {"group_id=1,type=select,bucket=actions=group:2,bucket=actions=output:p1",
           "group_id=2,type=all,bucket=actions=output:p2"},
          {"meter=1 kbps bands= type=drop rate=1000"});
  const auto done = apply_texts(bridge, wanted);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(same(told(bridge), wanted));
  EXPECT_EQ(resolve_texts(wanted, bridge.port_names()), wanted);
  EXPECT_TRUE(nothing_to_do(bridge, wanted));
}

TEST(pipeline_texts, rules_that_stay_keep_their_counters) {
  fake_pipeline bridge;
  ASSERT_TRUE(apply_texts(bridge, say({"tcp actions=output:p1", "udp actions=output:p1",
                                       "cookie=1, icmp actions=drop"})));
  const pipeline_snapshot all = read_pipeline(bridge);
  bridge.change([&](pipeline::bridge& b) {
    for (const rule_record& one : all.rules) b.count_rule(one.rule->id, {7, 700}, 1);
  });
  ASSERT_TRUE(apply_texts(
      bridge, say({"udp actions=output:p2", "tcp actions=output:p1", "arp actions=drop"})));
  std::map<std::string, std::uint64_t> packets;
  for (const rule_record& one : read_pipeline(bridge).rules)
    packets[ofp::print_rule(*one.rule, bridge.port_names())] = one.state.counted.packets;
  const std::map<std::string, std::uint64_t> meant = {
      {"tcp actions=output:p1", 7}, {"udp actions=output:p2", 7}, {"arp actions=drop", 0}};
  EXPECT_EQ(packets, meant);
}

TEST(pipeline_texts, what_packets_left_behind_is_not_of_the_file) {
  fake_pipeline bridge;
  bridge.set_now(5);
  const pipeline_texts wanted = say({"actions=drop"});
  ASSERT_TRUE(apply_texts(bridge, wanted));
  pipeline::operation learned = add("table=1,tcp actions=output:2");
  std::get<pipeline::rule_mod>(learned).command = pipeline::rule_command::learn;
  ASSERT_TRUE(bridge.apply({&learned, 1}));
  EXPECT_TRUE(same(told(bridge), wanted));
  ASSERT_TRUE(apply_texts(bridge, wanted));
  EXPECT_EQ(bridge.status().rules, 2u);
  // Said, it is.
  const pipeline_texts both = say({"actions=drop", "table=1, tcp actions=output:p1"});
  ASSERT_TRUE(apply_texts(bridge, both));
  EXPECT_TRUE(same(told(bridge), both));
  EXPECT_EQ(bridge.status().rules, 2u);
  // And stays so when a packet asks for just that.
  ASSERT_TRUE(bridge.apply({&learned, 1}));
  EXPECT_TRUE(same(told(bridge), both));
  EXPECT_TRUE(nothing_to_do(bridge, both));
}

TEST(pipeline_texts, all_or_nothing_with_the_place) {
  fake_pipeline bridge;
  const pipeline_texts before = say({"actions=drop"}, {"group_id=1,type=all"});
  ASSERT_TRUE(apply_texts(bridge, before));
  const auto done = apply_texts(
      bridge, say({"tcp actions=output:p1", "udp actions=group:9"}, {"group_id=2,type=all"}));
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().where.starts_with("pipeline.flows[1]: ")) << done.error().where;
  EXPECT_EQ(done.error().what, "there is no such group");
  EXPECT_TRUE(same(told(bridge), before));
  const auto unknown = apply_texts(bridge, say({"actions=output:nobody"}));
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().where.starts_with("pipeline.flows[0]")) << unknown.error().where;
}

TEST(pipeline_texts, of_ports_that_are_gone_are_named_but_not_what_packets_left_behind) {
  fake_pipeline bridge;
  ASSERT_TRUE(apply_texts(bridge, say({"priority=7,tcp actions=output:p1"})));
  pipeline::operation learned = add("table=1,udp actions=output:2");
  std::get<pipeline::rule_mod>(learned).command = pipeline::rule_command::learn;
  ASSERT_TRUE(bridge.apply({&learned, 1}));
  const auto lost = [&] { return lost_ports_of(read_pipeline(bridge), bridge.port_names()); };
  EXPECT_EQ(lost(), said());
  bridge.lose_name_of(2);
  EXPECT_EQ(lost(), said({"flow priority=7,tcp: port 2 is gone"}));
}

const std::string learns =
    "tcp actions=learn(table=1,cookie=0x7,delete_learned,NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],"
    "output:NXM_OF_IN_PORT[])";

TEST(pipeline_texts, what_goes_along_with_another_is_there_again) {
  fake_pipeline bridge;
  const std::string stays = "cookie=0x7, table=1, udp actions=output:p2";
  ASSERT_TRUE(apply_texts(bridge, say({stays, learns})));
  ASSERT_TRUE(apply_texts(bridge, say({stays})));
  EXPECT_TRUE(same(told(bridge), say({stays})));
  EXPECT_TRUE(nothing_to_do(bridge, say({stays})));
  // Also where that changes in its place.
  ASSERT_TRUE(apply_texts(bridge, say({stays, learns})));
  const pipeline_texts wanted = say({stays, "tcp actions=output:p1"});
  ASSERT_TRUE(apply_texts(bridge, wanted));
  EXPECT_TRUE(same(told(bridge), wanted));
}

/// A controller comes first.
class meddled_pipeline : public fake_pipeline {
 public:
  pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) override {
    meddle(before_apply);
    return fake_pipeline::apply(bundle);
  }
  std::vector<group_record> groups() override {
    std::vector<group_record> made = fake_pipeline::groups();
    meddle(after_groups);
    return made;
  }
  std::vector<pipeline::operation> before_apply, after_groups;

 private:
  void meddle(std::vector<pipeline::operation>& by) {
    const auto all = std::exchange(by, {});
    if (!all.empty()) {
      EXPECT_TRUE(fake_pipeline::apply(all));
    }
  }
};

TEST(pipeline_texts, a_rule_that_went_before_it_was_changed_comes) {
  meddled_pipeline bridge;
  ASSERT_TRUE(apply_texts(bridge, say({"udp actions=output:p2"})));
  pipeline::operation gone = add("udp actions=drop");
  std::get<pipeline::rule_mod>(gone).command = pipeline::rule_command::remove_strict;
  bridge.before_apply = {gone};
  const pipeline_texts wanted = say({"udp actions=output:p3"});
  ASSERT_TRUE(apply_texts(bridge, wanted));
  EXPECT_TRUE(same(told(bridge), wanted));
}

TEST(pipeline_texts, what_is_read_has_the_groups_of_its_rules) {
  meddled_pipeline bridge;
  const auto group = [](int id) {
    return *parse_text(text_list::groups, "group_id=" + std::to_string(id) + ",type=all", {});
  };
  bridge.after_groups = {group(1), add("tcp actions=group:1")};
  EXPECT_TRUE(check_texts(told(bridge), bridge.port_names(), 1000).empty());
  EXPECT_TRUE(same(told(bridge), say({"tcp actions=group:1"}, {"group_id=1,type=all"})));
  // One that goes meanwhile, and its rule with it.
  pipeline::operation gone = group(1);
  std::get<pipeline::group_mod>(gone).command = pipeline::mod_command::remove;
  int parts = 0;
  bridge.on_dump_part([&] {
    if (parts++ == 0) {
      ASSERT_TRUE(bridge.apply({&gone, 1}));
    }
  });
  EXPECT_TRUE(same(told(bridge), say({})));
  EXPECT_EQ(parts, 1);
}

TEST(pipeline_texts, a_rule_that_checks_for_overlap_may_change) {
  fake_pipeline bridge;
  ASSERT_TRUE(apply_texts(bridge, say({"check_overlap tcp actions=output:p1"})));
  for (const char* text :
       {"cookie=0x1, check_overlap tcp actions=output:p1", "check_overlap tcp actions=drop"}) {
    const auto done = apply_texts(bridge, say({text}));
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(same(told(bridge), say({text})));
  }
}

TEST(pipeline_texts, one_rule_by_name_and_number_is_refused) {
  fake_pipeline bridge;
  const auto done = apply_texts(
      bridge, say({"in_port=p0 actions=drop", "actions=drop", "in_port=1 actions=output:p1"}));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "pipeline.flows[2]: is the same rule as pipeline.flows[0]: table, priority and match "
            "are equal");
  EXPECT_TRUE(same(told(bridge), say({})));
}

TEST(pipeline_texts, two_of_one_number_are_refused) {
  const std::string group = "group_id=1,type=all", meter = "meter=1,kbps,band=type=drop,rate=";
  const auto problems = check_texts(say({}, {group, group}, {meter + "1", meter + "2"}), {}, 1000);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].path + " " + problems[0].reason,
            "pipeline.meters[1] meter 1 is in pipeline.meters[0] already");
  EXPECT_EQ(problems[1].path + " " + problems[1].reason,
            "pipeline.groups[1] group 1 is in pipeline.groups[0] already");
}

TEST(pipeline_texts, other_actions_leave_counters_also_where_a_rule_resets_them) {
  fake_pipeline bridge;
  ASSERT_TRUE(apply_texts(bridge, say({"reset_counts tcp actions=drop"})));
  const pipeline::rule_id id = read_pipeline(bridge).rules.at(0).rule->id;
  bridge.change([&](pipeline::bridge& b) { b.count_rule(id, {7, 700}, 1); });
  const pipeline_texts wanted = say({"reset_counts tcp actions=output:p1"});
  ASSERT_TRUE(apply_texts(bridge, wanted));
  EXPECT_EQ(read_pipeline(bridge).rules.at(0).state.counted.packets, 7u);
  EXPECT_TRUE(nothing_to_do(bridge, wanted));
}

TEST(pipeline_texts, the_highest_cookie_is_one_as_any_other) {
  fake_pipeline bridge;
  const pipeline_texts wanted = say({"cookie=0xffffffffffffffff, tcp actions=drop"});
  ASSERT_TRUE(apply_texts(bridge, wanted));
  EXPECT_TRUE(same(told(bridge), wanted));
  pipeline::operation one = add("tcp actions=drop");
  std::get<pipeline::rule_mod>(one).cookie = ~std::uint64_t{0};
  ASSERT_TRUE(bridge.apply({&one, 1}));
  EXPECT_TRUE(same(told(bridge), wanted));
  EXPECT_TRUE(nothing_to_do(bridge, told(bridge)));
}

TEST(pipeline_texts, groups_may_change_places) {
  fake_pipeline bridge;
  const auto chain = [](const char* first, const char* second, const char* third) {
    const auto one = [](const char* id, const std::string& to) {
      return "group_id=" + std::string(id) + ",type=all,bucket=actions=" + to;
    };
    return say({"actions=group:" + std::string(first)},
               {one(first, "group:" + std::string(second)),
                one(second, "group:" + std::string(third)), one(third, "output:p1")});
  };
  for (const auto& [a, b, c] : {std::tuple{"1", "2", "3"},
                                {"3", "2", "1"},
                                {"2", "1", "3"},
                                {"2", "3", "5"},
                                {"4", "5", "6"},
                                {"6", "1", "4"}}) {
    const auto done = apply_texts(bridge, chain(a, b, c));
    ASSERT_TRUE(done) << a << b << c << ": " << done.error().message();
    EXPECT_TRUE(same(told(bridge), chain(a, b, c)));
  }
  ASSERT_TRUE(apply_texts(bridge, say({})));
  EXPECT_TRUE(same(told(bridge), say({})));
  // Through one that stays: 3 led to 1, which is to lead to 3.
  const auto all = [](const char* first, const char* third) {
    return say({}, {"group_id=1,type=all,bucket=actions=" + std::string(first),
                    "group_id=2,type=all,bucket=actions=group:3",
                    "group_id=3,type=all,bucket=actions=" + std::string(third)});
  };
  for (const auto& wanted : {all("output:p1", "group:1"), all("group:2", "output:p1")}) {
    const auto done = apply_texts(bridge, wanted);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(same(told(bridge), wanted));
  }
}

/// Few of everything, so that two have much in common; good.
pipeline_texts any_texts() {
  pipeline_texts made = say({});
  const auto number = [](int end) { return std::to_string(*rc::gen::inRange(0, end)); };
  std::set<std::string> groups, meters;
  for (int i = 0; i < 4; i++) {
    if (random::coin()) continue;
    // To later ones, which may come before or behind it, or not at all.
    std::string to = "output:p" + number(4);
    if (!groups.empty() && random::coin()) to = "group:" + *groups.begin();
    const std::string id = std::to_string(4 - i);
    made.groups.push_back("group_id=" + id + ",type=" + (random::coin() ? "all" : "select") +
                          ",bucket=actions=" + to);
    groups.insert(id);
  }
  for (int i = 1; i < 3; i++) {
    if (random::coin()) continue;
    made.meters.push_back("meter=" + std::to_string(i) +
                          " kbps bands= type=drop rate=" + std::to_string(*rc::gen::inRange(1, 3)));
    meters.insert(std::to_string(i));
  }
  std::set<std::string> heads;
  for (int i = 0; i < 6; i++) {
    const std::string head =
        "table=" + number(2) + ",priority=" + number(3) + ",tcp,tp_dst=" + number(2);
    if (!heads.insert(head).second) continue;
    std::string actions = "output:p" + number(4);
    if (!groups.empty() && random::coin()) actions = "group:" + *groups.begin();
    if (!meters.empty() && random::coin()) actions = "meter:" + *meters.begin() + "," + actions;
    made.flows.push_back((random::coin() ? "cookie=0x1," : "") + head + " actions=" + actions);
  }
  return made;
}

TEST(pipeline_texts, lead_from_any_to_any) {
  EXPECT_TRUE(rc::check([] {
    fake_pipeline bridge;
    const ofp::port_names names = bridge.port_names();
    for (int i = 0; i < 4; i++) {
      const pipeline_texts wanted = any_texts();
      const auto problems = check_texts(wanted, names, 1000);
      if (!problems.empty()) RC_FAIL(problems[0].path + ": " + problems[0].reason);
      const auto done = apply_texts(bridge, wanted);
      if (!done) RC_FAIL(done.error().message());
      RC_ASSERT(same(told(bridge), resolve_texts(wanted, names)));
      RC_ASSERT(nothing_to_do(bridge, told(bridge)));
    }
  }));
}

TEST(pipeline_texts, are_described_part_by_part) {
  ofp::port_names names{{1, "p0"}, {2, "p1"}};
  const auto parts = [&](text_list list, const std::string& text) {
    const auto one = parse_text(list, text, names);
    EXPECT_TRUE(one) << text;
    const text_parts made = describe_text(*one, names);
    std::string all = made.item;
    for (const auto& [name, value] : made.parts) all += "; " + name + "=" + value;
    return all;
  };
  EXPECT_EQ(parts(text_list::flows, "actions=drop"), "flow any; actions=drop");
  EXPECT_EQ(parts(text_list::flows,
                  "table=1,priority=10,cookie=9,idle_timeout=60,send_flow_rem,tcp,in_port=1 "
                  "actions=output:2,goto_table:3"),
            "flow table=1,priority=10,tcp,in_port=p0; cookie=9; idle_timeout=60; "
            "flags=send_flow_rem; actions=output:p1,goto_table:3");
  EXPECT_EQ(parts(text_list::groups, "group_id=7,type=ff,bucket=watch_port:p0,output:p1"),
            "group 7; type=fast_failover; buckets=bucket=watch_port:p0,actions=output:p1");
  EXPECT_EQ(parts(text_list::meters, "meter=3,pktps,band=type=drop,rate=5"),
            "meter 3; is=pktps bands= type=drop rate=5");
}

}  // namespace
}  // namespace coua::ctl
