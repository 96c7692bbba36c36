// SPDX-License-Identifier: Apache-2.0
//
// Bridges that come and go with their ports, rules and controllers.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "ctl/test_running_config.h"

namespace coua::ctl {
namespace {

class running_config_with_bridges : public running_config_of_a_switch {
 protected:
  std::vector<std::string> bridges() {
    std::vector<std::string> made;
    for (const bridge_settings& each : bridges_.settings()) made.push_back(each.name);
    return made;
  }
  std::uint64_t n_rules(const std::string& bridge) {
    return bridges_.find(bridge)->pipeline().status().rules;
  }
  using names = std::vector<std::string>;
  const std::string two_ =
      "bridges: [{name: br0}, {name: br1, pipeline: {flows: [tcp actions=drop, udp "
      "actions=drop]}}]\nports: [{name: a, devargs: x0}, {name: b, bridge: br1, devargs: x1}]\n";
};

TEST_F(running_config_with_bridges, come_before_their_ports_and_go_after_them) {
  const config two = file(two_);
  ASSERT_TRUE(running_.apply(two));
  EXPECT_EQ(bridges(), (names{"br0", "br1"}));
  EXPECT_EQ(sw_.ports()[1].config.bridge, "br1");
  EXPECT_EQ(n_rules("br1"), 2u);
  EXPECT_TRUE(fakes_.is_open("br1"));
  EXPECT_TRUE(running_.apply(two)->empty());
  EXPECT_TRUE(comes_back(running_));
  ASSERT_TRUE(running_.apply(file("ports: [{name: a, devargs: x0}]")));
  EXPECT_EQ(bridges(), names{"br0"});
  EXPECT_EQ(sw_.bridges().size(), 1u);
  EXPECT_FALSE(fakes_.is_open("br1"));
}

TEST_F(running_config_with_bridges, all_of_them_give_way_to_others) {
  ASSERT_TRUE(running_.apply(file(two_)));
  const config others = file(
      "bridges: [{name: x}, {name: y}]\nports: [{name: a, devargs: x0}, {name: b, bridge: y, "
      "devargs: x1}]\n");
  ASSERT_TRUE(running_.apply(others));
  EXPECT_EQ(bridges(), (names{"x", "y"}));
  EXPECT_TRUE(runs(running_, others));
}

TEST_F(running_config_with_bridges, that_had_gone_are_back_with_rules_and_controllers) {
  const config two = file(two_);
  ASSERT_TRUE(running_.apply(two));
  sw_.fail_port("d", {errc::io, "port d", "no such device"});
  // br0 goes, which is the first one, and br1, whose rules the file says.
  const std::pair<const char*, const char*> cases[] = {
      {"br1, pipeline: {flows: []}", "bridge br0, port b, port a"},
      {"br2", "bridge br1, bridge br0, port a, port b"}};
  for (const auto& [bridge, anew] : cases) {
    const auto done = running_.apply(
        file("bridges: [{name: " + std::string(bridge) + "}]\nports: [{name: d, devargs: x2}]"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what,
              "no such device; nothing was changed, but came back anew: " + std::string(anew));
    EXPECT_EQ(bridges(), (names{"br0", "br1"}));
    EXPECT_TRUE(runs(running_, two));
    EXPECT_EQ(n_rules("br1"), 2u);
    EXPECT_TRUE(fakes_.is_open("br0") && fakes_.is_open("br1"));
  }
}

TEST_F(running_config_with_bridges, that_lost_ports_are_named_where_their_rules_are_written) {
  ASSERT_TRUE(running_.apply(
      file("bridges: [{name: br0}, {name: br1, pipeline: {flows: [tcp actions=output:9]}}]")));
  const pipeline::operation more = *parse_text(text_list::flows, "udp actions=output:8", {});
  ASSERT_TRUE(bridges_.find("br0")->pipeline().apply({&more, 1}));
  const auto lost = [&](running_config::rules which) { return running_.lost_ports(which).value(); };
  EXPECT_EQ(lost(running_config::rules::if_said), names({"bridge br1: flow tcp: port 9 is gone"}));
  EXPECT_EQ(lost(running_config::rules::always), names({"bridge br0: flow udp: port 8 is gone",
                                                        "bridge br1: flow tcp: port 9 is gone"}));
}

// The error of a bridge names what it lacks, and of what goes with it, the bridge.
TEST_F(running_config_with_bridges, that_cannot_come_back_are_named_with_what_they_had) {
  ASSERT_TRUE(running_.apply(file(two_)));
  sw_.fail_port("d", {errc::io, "port d", "no such device"});
  sw_.fail_bridge("br1", {errc::no_memory, "packet-out", "no memory is free"});
  const auto done = running_.apply(file("ports: [{name: d, devargs: x2}]"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "f:1: ports[0]: port d: no such device; what was done before could not be taken back "
            "as a whole: bridge br1: packet-out: no memory is free; port b: bridge br1: no such "
            "bridge; rules of bridge br1: bridge br1: there is no such bridge; there is br0; "
            "controllers of bridge br1: bridge br1: there is no such bridge; there is br0");
}

TEST_F(running_config_with_bridges, make_up_a_datapath_id_that_no_other_has) {
  const auto id = [&](const std::string& bridge) {
    return bridges_.find(bridge)->served->place().datapath_id;
  };
  const std::uint64_t of_name = datapath_id_of("br1"), of_address = 0x77;
  const auto with = [&](const std::string& br1, std::uint64_t of_br2) {
    return file("bridges: [{name: br0}, {name: br1" + br1 +
                "}, {name: br2, openflow: {datapath_id: \"" + format_datapath_id(of_br2) + "\"}}]");
  };
  fakes_.make_id(id("br0"));  // as of a port that was br0's and is br1's now
  const config first = with("", of_name);
  const auto done = running_.apply(first);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(id("br2"), of_name);
  const std::uint64_t made = id("br1");
  EXPECT_NE(made, 0u);
  EXPECT_NE(made, id("br0"));
  EXPECT_NE(made, of_name);
  EXPECT_TRUE(runs(running_, first)) << "no file says it";
  // Both open anew: who says its id has it. And so on the way back.
  for (const bool refused : {true, false}) {
    fakes_.make_id(refused ? of_name : of_address);
    if (refused) fakes_.refuse_to_open(error{errc::busy, "listen[0]: /run/z", "is taken"});
    const auto changed = running_.apply(with(", openflow: {probe_s: 9}", of_address));
    if (refused) {
      ASSERT_FALSE(changed);
      EXPECT_TRUE(changed.error().what.ends_with("is taken; nothing was changed"))
          << changed.error().message();
    } else {
      ASSERT_TRUE(changed) << changed.error().message();
    }
    EXPECT_EQ(id("br2"), refused ? of_name : of_address);
    EXPECT_NE(id("br1"), id("br2"));
    EXPECT_NE(id("br1"), id("br0"));
  }
}

// Red when only the bridges that are open count: br0 opens first.
TEST_F(running_config_with_bridges, leave_a_datapath_id_to_who_says_it_from_the_start) {
  const config both = file("bridges: [{name: br0}, {name: br1, openflow: {datapath_id: \"" +
                           format_datapath_id(datapath_id_of("br0")) + "\"}}]");
  refusing_switch sw;
  ASSERT_TRUE(sw.add_bridge({"br1", {}}));
  running_bridges bridges(sw);
  const fake_bridges fakes(bridges);
  running_config running(sw, bridges, both);
  const auto started = running.start_bridges(both);
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_NE(bridges.find("br0")->served->place().datapath_id, datapath_id_of("br0"));
}

TEST_F(running_config_with_bridges, whose_socket_is_taken_do_not_come) {
  fakes_.refuse_to_open(
      error{errc::busy, "management: /run/br1.mgmt", "another daemon listens there"});
  const auto done = running_.apply(file(two_));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "f:1: bridges[1].openflow.management: /run/br1.mgmt: another daemon listens there; "
            "nothing was "
            "changed");
  EXPECT_EQ(bridges(), names{"br0"});
  EXPECT_TRUE(sw_.ports().empty());
}

// Red when controllers change in the settings alone, or one bridge opens before another one left
// its address.
TEST_F(running_config_with_bridges, speak_with_other_controllers_without_a_restart) {
  const auto with = [](const std::string& a, const std::string& b, const std::string& more = "") {
    return file("bridges: [{name: br0, openflow: {listen: [\"" + a +
                "\"]}}, {name: br1, openflow: " + "{listen: [\"" + b + "\"]}}]\n" + more);
  };
  const auto listens = [&](const std::string& bridge) {
    return bridges_.find(bridge)->served->place().listen;
  };
  const std::string x = "ptcp:6653:127.0.0.1", y = "punix:/run/y";
  ASSERT_TRUE(running_.apply(with(x, y)));
  const config swapped = with(y, x);
  ASSERT_TRUE(running_.apply(swapped));
  EXPECT_EQ(listens("br0"), names{y});
  EXPECT_EQ(listens("br1"), names{x});
  EXPECT_TRUE(runs(running_, swapped));
  // And not where something else fails.
  sw_.fail_port("d", {errc::io, "port d", "no such device"});
  ASSERT_FALSE(running_.apply(with(x, y, "ports: [{name: d, devargs: x2}]")));
  fakes_.refuse_to_open(error{errc::busy, "listen[0]: /run/z", "somebody listens there"});
  const auto taken = running_.apply(with("punix:/run/z", x));
  ASSERT_FALSE(taken);
  EXPECT_EQ(
      taken.error().message(),
      "f:1: bridges[0].openflow.listen[0]: /run/z: somebody listens there; nothing was changed");
  EXPECT_EQ(listens("br0"), names{y});
  EXPECT_EQ(listens("br1"), names{x});
  EXPECT_TRUE(runs(running_, swapped));
}

// Red when rules that one bridge got stay though another one cannot have its own.
TEST_F(running_config_with_bridges, get_their_rules_all_together_or_not_at_all) {
  const std::string one = "ports: [{name: a, devargs: x0}]\npipeline: {flows: [arp actions=drop]}";
  for (const std::string& before : {one, std::string("ports: [{name: a, devargs: x0}]")}) {
    ASSERT_TRUE(running_.apply(file(before)));
    const auto was = running_.print(config_format::yaml, running_config::rules::always);
    fakes_.refuse_to_open(
        error{errc::busy, "management: /run/br1.mgmt", "another daemon listens there"});
    const auto done = running_.apply(
        file("bridges: [{name: br0, pipeline: {flows: [tcp actions=drop]}}, {name: br1}]\n"
             "ports: [{name: a, devargs: x0}]"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what, "another daemon listens there; nothing was changed");
    EXPECT_EQ(*running_.print(config_format::yaml, running_config::rules::always), *was);
  }
}

TEST_F(running_config_with_bridges, are_not_removed_while_somebody_reads_them) {
  ASSERT_TRUE(running_.apply(file(two_)));
  bridges_.set_patience(std::chrono::milliseconds(1));
  {
    const auto reader = bridges_.find("br1");
    const auto done = running_.apply(file("ports: [{name: a, devargs: x0}]"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::busy);
    EXPECT_TRUE(runs(running_, file(two_)));
    EXPECT_TRUE(fakes_.is_open("br1"));
  }
  EXPECT_TRUE(running_.apply(file("ports: [{name: a, devargs: x0}]")));
}

TEST_F(running_config_with_bridges, with_one_address_in_two_of_them) {
  const std::string ports = "ports: [{name: a, devargs: x0}, {name: b, bridge: B, devargs: x1}]\n";
  const auto with = [&](const std::string& bridge) {
    return file("bridges: [{name: br0}, {name: br1}]\n" +
                std::string(ports).replace(ports.find("B"), 1, bridge) +
                "fib: {static: [{vlan: 1, mac: 02:00:00:00:00:01, port: b}" +
                (bridge == "br1" ? ", {vlan: 1, mac: 02:00:00:00:00:01, port: a}]}" : "]}"));
  };
  ASSERT_TRUE(running_.apply(with("br1")));
  EXPECT_EQ(sw_.fib().entries, 2u);
  EXPECT_NE(sw_.fib_find("br0", 1, 0x020000000001)->port,
            sw_.fib_find("br1", 1, 0x020000000001)->port);
  ASSERT_TRUE(running_.apply(with("br0")));
  EXPECT_EQ(sw_.fib().entries, 1u);
  EXPECT_TRUE(sw_.fib_find("br0", 1, 0x020000000001));
}

}  // namespace
}  // namespace coua::ctl
