// SPDX-License-Identifier: Apache-2.0
//
// Changes by difference of rules, groups and meters.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ctl/test_running_config.h"

namespace coua::ctl {
namespace {

class running_config_with_rules : public running_config_of_a_switch {
 protected:
  running_config_with_rules() { fakes_.give("br0", pipeline_); }

  std::vector<std::string> flows() {
    std::vector<std::string> out;
    pipeline_.dump_rules({}, [&](std::span<const rule_record> some) {
      for (const rule_record& one : some)
        out.push_back(ofp::print_rule(*one.rule, pipeline_.port_names()));
      return true;
    });
    return out;
  }
  void flow(const std::string& text) {
    const auto one = parse_text(text_list::flows, text, pipeline_.port_names());
    ASSERT_TRUE(one);
    ASSERT_TRUE(pipeline_.apply({&*one, 1}));
  }

  using lines = std::vector<std::string>;
  const std::string ports_ = "ports: [{name: a, devargs: x0}, {name: b, devargs: x1}]\n";
  switch_pipeline pipeline_{sw_};
};

TEST_F(running_config_with_rules, are_what_the_file_says) {
  const config wanted = file(ports_ + "pipeline: {flows: [tcp actions=output:b], groups: []}");
  ASSERT_TRUE(running_.apply(wanted));
  EXPECT_EQ(flows(), lines{"tcp actions=output:b"});
  EXPECT_TRUE(running_.apply(wanted)->empty());
  // Others change them; the file that is saved says so, and applied it changes nothing.
  flow("udp actions=output:1");
  EXPECT_EQ(running_.difference(wanted)->size(), 1u);
  EXPECT_TRUE(comes_back(running_));
  ASSERT_TRUE(running_.apply(wanted));
  EXPECT_EQ(flows(), lines{"tcp actions=output:b"});
  // An empty list says that there are none.
  ASSERT_TRUE(running_.apply(file(ports_ + "pipeline: {flows: []}")));
  EXPECT_EQ(flows(), lines{});
}

TEST_F(running_config_with_rules, are_left_alone_by_a_file_that_says_nothing_of_them) {
  ASSERT_TRUE(running_.apply(file(ports_)));
  flow("udp actions=output:1");
  EXPECT_TRUE(running_.apply(file(ports_))->empty());
  EXPECT_EQ(running_.print(config_format::yaml)->find("flows"), std::string::npos);
  const auto all = running_.print(config_format::yaml, running_config::rules::always);
  ASSERT_TRUE(all);
  // What is new is only that the file says it.
  const auto done = running_.apply(file(*all));
  ASSERT_TRUE(done);
  ASSERT_EQ(done->size(), 1u);
  EXPECT_EQ((*done)[0].item, "pipeline.flows");
  EXPECT_TRUE(running_.apply(file(*all))->empty());
  // And back.
  ASSERT_TRUE(running_.apply(file(ports_)));
  EXPECT_EQ(flows(), lines{"udp actions=output:a"});
  EXPECT_EQ(running_.print(config_format::yaml)->find("flows"), std::string::npos);
}

TEST_F(running_config_with_rules, that_are_one_by_a_name_and_a_number_are_refused_by_every_look) {
  ASSERT_TRUE(running_.apply(file(ports_)));
  // b is port 2 while it runs, which the file alone cannot know.
  const std::string rules =
      "pipeline:\n  flows:\n    - in_port=2 actions=drop\n    - in_port=b actions=output:a\n";
  const config wanted =
      file("ports: [{name: a, devargs: x0, vlan: 7}, {name: b, devargs: x1}]\n" + rules);
  const std::string what =
      "f:5: pipeline.flows[1]: is the same rule as pipeline.flows[0]: table, "
      "priority and match are equal";
  for (const std::string before : {"", "pipeline: {flows: [in_port=2 actions=drop]}"}) {
    ASSERT_TRUE(running_.apply(file(ports_ + before)));
    const auto compared = running_.difference(wanted);
    ASSERT_FALSE(compared);
    EXPECT_EQ(compared.error().message(), what);
    for (const bool dry_run : {true, false}) {
      const auto applied = running_.apply(wanted, dry_run);
      ASSERT_FALSE(applied);
      EXPECT_EQ(applied.error().message(), what + "; nothing was changed");
    }
    EXPECT_EQ(sw_.ports()[0].config.native_vlan, 1);
  }
}

TEST_F(running_config_with_rules, follow_ports_by_their_names) {
  const std::string rules = "pipeline: {flows: [in_port=b actions=drop]}\n";
  ASSERT_TRUE(running_.apply(file(ports_ + rules)));
  const auto number = [this] { return sw_.ports().back().number; };
  EXPECT_EQ(number(), 1u);
  // a goes, b comes again and has its number; then they come back, as a later step fails.
  sw_.fail_port("d", {errc::io, "port d", "no such device"});
  ASSERT_FALSE(
      running_.apply(file(rules + "ports: [{name: b, devargs: x8}, {name: d, devargs: x9}]")));
  EXPECT_EQ(flows(), lines{"in_port=b actions=drop"});
  ASSERT_TRUE(running_.apply(file(rules + "ports: [{name: b, devargs: x8}]")));
  EXPECT_EQ(number(), 0u);
  EXPECT_EQ(flows(), lines{"in_port=b actions=drop"});
  // The first port that comes back has the first number: b, which went last.
  ASSERT_TRUE(
      running_.apply(file(rules + "ports: [{name: b, devargs: x8}, {name: a, devargs: x0}]")));
  ASSERT_FALSE(running_.apply(file(
      rules + "ports: [{name: b, devargs: x5}, {name: a, devargs: x6}, {name: d, devargs: x9}]")));
  EXPECT_EQ(flows(), lines{"in_port=b actions=drop"});
}

TEST_F(running_config_with_rules, follow_the_local_port) {
  const auto with = [](const char* a, const char* b) {
    return file(std::string("ports: [{name: a, devargs: x0, local: ") + a +
                "}, {name: b, devargs: x1, local: " + b +
                "}]\npipeline: {flows: [in_port=a actions=output:b]}\n");
  };
  ASSERT_TRUE(running_.apply(with("true", "false")));
  EXPECT_EQ(flows(), lines{"in_port=LOCAL actions=output:b"});
  EXPECT_TRUE(comes_back(running_));
  EXPECT_TRUE(running_.apply(with("true", "false"))->empty());
  // Another one becomes it; the file says both by their names.
  ASSERT_TRUE(running_.apply(with("false", "true")));
  EXPECT_EQ(flows(), lines{"in_port=a actions=LOCAL"});
  ASSERT_TRUE(running_.apply(with("false", "false")));
  EXPECT_EQ(flows(), lines{"in_port=a actions=output:b"});
  // And it is taken back when a later step fails.
  ASSERT_TRUE(running_.apply(with("true", "false")));
  sw_.fail_port("b", {errc::io, "port b", "no such device"});
  ASSERT_FALSE(running_.apply(with("false", "true")));
  EXPECT_TRUE(sw_.ports()[0].config.local);
}

TEST_F(running_config_with_rules, that_come_meanwhile_stay_when_ports_are_taken_back) {
  const std::string rules = "pipeline: {flows: [in_port=b actions=drop]}\n";
  ASSERT_TRUE(running_.apply(file(ports_ + rules)));
  sw_.fail_port("d", {errc::io, "port d", "no such device"});
  sw_.before_port = [this] {
    sw_.before_port = {};
    const auto group = parse_text(text_list::groups, "group_id=7,type=all", {});
    ASSERT_TRUE(pipeline_.apply({&*group, 1}));
    flow("udp actions=group:7");
  };
  ASSERT_FALSE(
      running_.apply(file(rules + "ports: [{name: b, devargs: x8}, {name: d, devargs: x9}]")));
  EXPECT_EQ(flows(), (lines{"udp actions=group:7", "in_port=b actions=drop"}));
}

TEST_F(running_config_with_rules, are_taken_back_with_the_rest) {
  const config first = file(ports_ + "pipeline: {flows: [tcp actions=output:b]}");
  ASSERT_TRUE(running_.apply(first));
  // A port that fails: the rules have not changed.
  sw_.fail_port("d", {errc::io, "port d", "no such device"});
  ASSERT_FALSE(running_.apply(
      file("ports: [{name: a, devargs: x0}, {name: b, devargs: x1}, {name: d, devargs: x2}]\n"
           "pipeline: {flows: [udp actions=output:b]}")));
  EXPECT_EQ(flows(), lines{"tcp actions=output:b"});
  // Rules that are refused: the port goes again.
  pipeline_.refuse(true);
  const auto done = running_.apply(
      file("ports: [{name: a, devargs: x0}, {name: b, devargs: x1}, {name: c, devargs: x2}]\n"
           "pipeline:\n  flows:\n    - tcp actions=output:b\n    - udp actions=output:c\n"));
  pipeline_.refuse(false);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "f:3: pipeline.flows: table: full; nothing was changed");
  EXPECT_TRUE(runs(running_, first));
  EXPECT_EQ(flows(), lines{"tcp actions=output:b"});
}

TEST(running_config, what_is_printed_with_rules_can_be_read_whatever_it_started_with) {
  config first;
  first.bridges[0].pipeline.start = dp::first_rules::none;
  refusing_switch sw;
  running_bridges bridges(sw);
  const fake_bridges fakes(bridges);
  running_config running(sw, bridges, first);
  ASSERT_TRUE(running.start_bridges(first));
  const auto text = running.print(config_format::yaml, running_config::rules::always);
  ASSERT_TRUE(text);
  EXPECT_TRUE(bool(parse_config(*text, "saved"))) << *text;
}

}  // namespace
}  // namespace coua::ctl
