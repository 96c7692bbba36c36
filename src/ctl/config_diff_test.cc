// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_diff.h"

#include <gtest/gtest.h>

#include "ctl/test_random_config.h"

namespace coua::ctl {
namespace {

config parsed(const std::string& text) {
  const auto out = parse_config(text, "f");
  if (!out) ADD_FAILURE() << to_string(out.error().at(0), "f");
  return out ? *out : config();
}

std::vector<std::string> texts(const std::string& before, const std::string& after) {
  const config wanted = parsed(after);
  std::vector<std::string> out;
  for (const auto& change : describe(compare(parsed(before), wanted), wanted))
    out.push_back(to_string(change));
  return out;
}

using lines = std::vector<std::string>;

TEST(config_diff, each_kind_of_change_reads_well) {
  const std::string before =
      "fib:\n  static:\n    - {vlan: 10, mac: 02:00:00:00:00:01, port: a}\n"
      "    - {vlan: 10, mac: 02:00:00:00:00:02, port: a}\n"
      "ports:\n  - {name: a, devargs: net_null0, vlan: 10}\n  - {name: b, devargs: net_null1}\n"
      "  - {name: c, devargs: net_null2}\n  - {name: d, devargs: net_null3}\n";
  const std::string after =
      "log: {level: debug}\nfib:\n  ageing_s: 60\n  entries: 2M\n  static:\n"
      "    - {vlan: 10, mac: 02:00:00:00:00:02, port: d}\n"
      "    - {vlan: 7, mac: 02:00:00:00:00:03, port: e}\n"
      "ports:\n  - {name: e, devargs: net_null4, vlan: 7}\n"
      "  - {name: d, devargs: net_null3, mtu: 9000, vlans: {tagged: [5-7, 10]}}\n"
      "  - {name: c, devargs: net_null9}\n  - {name: a, devargs: net_null0, vlan: 20}\n";
  EXPECT_EQ(texts(before, after),
            (lines{"static 10 02:00:00:00:00:01: removed", "port b: removed",
                   "port c: replaced: devargs: net_null2 -> net_null9", "port a: vlan: 10 -> 20",
                   "port d: mtu: 1500 -> 9000, vlan: 1 -> none, vlans: none -> {mode: trunk, "
                   "native: 1, tagged: [5-7, 10]}",
                   "log.level: info -> debug", "fib.ageing_s: 300 -> 60",
                   "port e: added: devargs: net_null4, vlan: 7",
                   "static 10 02:00:00:00:00:02: port: a -> d",
                   "static 7 02:00:00:00:00:03: added: port: e",
                   "fib.entries: 1000000 -> 2000000 (needs a restart)"}));
}

TEST(config_diff, order_and_ways_of_writing_do_not_matter) {
  EXPECT_EQ(texts("ports: [{name: a, devargs: x0}, {name: b, devargs: x1, vlans: {tagged: [3, 1-2],"
                  " native: 0}}]",
                  "ports: [{name: b, devargs: x1, vlans: {mode: trunk, tagged: [1-3], native: 0}}, "
                  "{name: a, devargs: x0, vlans: {mode: access}, mtu: 1500}]"),
            lines{});
}

TEST(config_diff, members_of_a_bond_change_while_it_works_if_they_are_free) {
  const auto bonds = [](const std::string& a, const std::string& b, const std::string& more = "") {
    return "ports: [{name: a, bond: {members: [" + a + "]}}, {name: b, bond: {members: [" + b +
           "]}}" + more + "]";
  };
  const std::string now = bonds("x0, x1", "x2, x3", ", {name: c, devargs: x4}");
  const auto first_words = [&](const std::string& wanted) {
    lines all = texts(now, wanted);
    for (std::string& each : all) each = each.substr(0, each.find(": bond"));
    return all;
  };
  const std::string c = ", {name: c, devargs: x4}";
  EXPECT_EQ(first_words(bonds("x1, x0", "x2", c)), (lines{"port a", "port b"}));
  EXPECT_EQ(first_words(bonds("x0, x1, x9", "x3, x8", c)), (lines{"port a", "port b"}));
  // One that another port has now; with other arguments; under another spelling.
  EXPECT_EQ(first_words(bonds("x0, x1, x2", "x3", c)), (lines{"port a: replaced", "port b"}));
  EXPECT_EQ(first_words(bonds("x0, x4", "x2, x3")), (lines{"port c: removed", "port a: replaced"}));
  EXPECT_EQ(first_words(bonds("x0, \"x1,size=64\"", "x2, x3", c)), lines{"port a: replaced"});
  EXPECT_EQ(first_words(bonds("x0, \"vdev:x1\"", "x2, x3", c)), lines{"port a: replaced"});
}

TEST(config_diff, a_bond_gets_another_device_on_its_interface_by_being_replaced) {
  const auto bond = [](const std::string& second) {
    return "ports: [{name: a, bond: {members: [x0, \"" + second + "\"]}}]";
  };
  const auto begins = [&](const std::string& with, const std::string& words) {
    const lines all = texts(bond("x1,iface=v1"), bond(with));
    return all.size() == 1 && all[0].starts_with(words);
  };
  EXPECT_TRUE(begins("x2,iface=v2", "port a: bond: "));
  EXPECT_TRUE(begins("x2,iface=v1", "port a: replaced: "));
}

TEST(config_diff, a_port_that_becomes_local_comes_again) {
  const auto ports = [](const char* a, const char* b) {
    return std::string("pipeline: {flows: [in_port=LOCAL actions=output:b]}\n") +
           "ports: [{name: a, devargs: x0, local: " + a + "}, {name: b, devargs: x1, local: " + b +
           "}]";
  };
  EXPECT_EQ(texts(ports("false", "false"), ports("true", "false")),
            (lines{"port a: replaced: local: false -> true"}));
  EXPECT_EQ(
      texts(ports("true", "false"), ports("false", "true")),
      (lines{"port a: replaced: local: true -> false", "port b: replaced: local: false -> true"}));
}

TEST(config_diff, what_only_a_restart_changes) {
  EXPECT_EQ(texts("workers: {count: 1}", "workers: {cores: [1, 2]}\nmemory: {packet_mib: 64}"),
            (lines{"memory.packet_mib: 512 -> 64 (needs a restart)",
                   "workers.count: 1 -> none (needs a restart)",
                   "workers.cores: none -> [1-2] (needs a restart)"}));
  EXPECT_EQ(texts("", "openflow: {controllers: [\"tcp:10.0.0.1:6653\"]}"),
            lines{"openflow.controllers: none -> [\"tcp:10.0.0.1:6653\"]"});
  const auto tls = texts("", "openflow: {tls: {key: /k, certificate: /c, authority: /a}}");
  ASSERT_EQ(tls.size(), 1u);
  EXPECT_TRUE(tls[0].starts_with("openflow.tls: ") && tls[0].ends_with("(needs a restart)"))
      << tls[0];
}

TEST(config_diff, rules_groups_and_meters) {
  const std::string ports =
      "ports: [{name: p0, devargs: net_null0}, {name: p1, devargs: net_null1}]\n";
  const std::string before =
      ports +
      "pipeline:\n  flows:\n    - priority=10,tcp actions=output:p0\n"
      "    - priority=10,udp actions=drop\n    - cookie=0x1,arp actions=drop\n"
      "  groups: [\"group_id=1,type=all\"]\n"
      "  meters: [\"meter=1,kbps,band=type=drop,rate=1000\"]\n";
  const std::string after =
      ports +
      "pipeline:\n  flows:\n    - priority=10,udp,in_port=p1 actions=group:2\n"
      "    - arp actions=drop\n    - priority=10,tcp actions=output:p1\n"
      "  groups: [\"group_id=2,type=all,bucket=output:p0\"]\n"
      "  meters: [\"meter=1,kbps,band=type=drop,rate=2000\"]\n";
  EXPECT_EQ(
      texts(before, after),
      (lines{"flow priority=10,udp: removed",
             "meter 1: is: kbps bands= type=drop rate=1000 -> kbps bands= type=drop rate=2000",
             "group 2: added: type: all, buckets: bucket=actions=output:p0",
             "flow priority=10,tcp: actions: output:p0 -> output:p1", "flow arp: cookie: 1 -> none",
             "flow priority=10,udp,in_port=p1: added: actions: group:2", "group 1: removed"}));
  EXPECT_EQ(texts(after, after), lines{});
  // Other words and another order.
  EXPECT_EQ(texts(ports + "pipeline: {flows: [\"in_port=p0,tcp,priority=9,actions=drop\", arp "
                          "actions=drop]}",
                  ports + "pipeline: {flows: [arp actions=drop, \"priority=9,tcp,in_port=p0 "
                          "actions=drop\"]}"),
            lines{});
  const std::string nothing = ports + "pipeline: {flows: []}";
  EXPECT_EQ(texts(ports, nothing), lines{"pipeline.flows: left to others -> said by the file"});
  EXPECT_EQ(texts(nothing, ports + "pipeline: {start: none}"),
            lines{"pipeline.flows: said by the file -> left to others"});
  const config wanted = parsed(after);
  for (const auto& change : describe(compare(parsed(before), wanted), wanted)) {
    if (change.item == "flow priority=10,tcp") {
      EXPECT_EQ(change.line, 6);
    }
  }
}

// Red when a bridge has no name where the file lists none.
TEST(config_diff, the_one_of_a_file_without_bridges_is_named_when_it_comes) {
  EXPECT_EQ(texts("bridges: [{name: red}]", "ports: []"),
            (lines{"bridge red: removed", "bridge br0: added"}));
}

TEST(config_diff, bridges_come_go_and_change) {
  const std::string ports =
      "ports: [{name: p0, devargs: x0}, {name: p1, bridge: B, devargs: x1}]\n";
  const auto with = [&](std::string bridges, const std::string& bridge_of_p1) {
    return "bridges: [" + bridges + "]\n" +
           std::string(ports).replace(ports.find("B"), 1, bridge_of_p1);
  };
  const std::string before = with("{name: br0}, {name: br1, pipeline: {start: none}}", "br1");
  EXPECT_EQ(texts(before, before), lines{});
  EXPECT_EQ(texts(before, with("{name: br1, pipeline: {start: none}}, {name: br0}", "br1")),
            (lines{"port p0: replaced: bridge: br0 -> br1"}))
      << "the first bridge is another one";
  EXPECT_EQ(texts(before, with("{name: br0}, {name: br2, pipeline: {flows: [in_port=p1 "
                               "actions=drop]}, openflow: {datapath_id: \"a1\"}}",
                               "br2")),
            (lines{"bridge br1: removed", "port p1: replaced: bridge: br1 -> br2",
                   "bridge br2: added: openflow: {datapath_id: \"00:00:00:00:00:00:00:a1\"}",
                   "bridge br2: flow in_port=p1: added: actions: drop"}));
  EXPECT_EQ(texts(before, with("{name: br0, pipeline: {flows: []}}, {name: br1, pipeline: {start: "
                               "none, rules: 7}, openflow: {probe_s: 9}}",
                               "br1")),
            (lines{"bridge br0: pipeline.flows: left to others -> said by the file",
                   "bridge br1: openflow.probe_s: 5 -> 9",
                   "bridge br1: pipeline.rules: 1000000 -> 7 (needs a restart)"}));
  // To a file without a list, and back: br0 is the bridge of that.
  EXPECT_EQ(texts(before, "pipeline: {rules: 7}\nports: [{name: p0, devargs: x0}]"),
            (lines{"port p1: removed", "bridge br1: removed",
                   "pipeline.rules: 1000000 -> 7 (needs a restart)"}));
  EXPECT_EQ(texts("ports: [{name: p0, devargs: x0}]", before),
            (lines{"bridge br1: added: pipeline: {start: none}",
                   "port p1: added: bridge: br1, devargs: x1"}));
}

TEST(config_diff, an_entry_goes_with_its_port_to_another_bridge) {
  const auto with = [](const std::string& bridge, const std::string& more) {
    return "bridges: [{name: a}, {name: b}]\nports: [{name: p, devargs: x0, bridge: " + bridge +
           "}, {name: q, devargs: x1, bridge: b}]\nfib: {static: [{vlan: 1, mac: "
           "02:00:00:00:00:01, port: p}" +
           more + "]}";
  };
  const std::string same = ", {vlan: 1, mac: 02:00:00:00:00:01, port: q}";
  EXPECT_EQ(texts(with("a", ""), with("b", "")), lines{"port p: replaced: bridge: a -> b"});
  EXPECT_EQ(texts(with("a", same), with("b", "")),
            (lines{"static 1 02:00:00:00:00:01: removed", "port p: replaced: bridge: a -> b"}));
}

TEST(config_diff, nothing_differs_from_itself_and_anything_from_something_else) {
  EXPECT_TRUE(rc::check([] {
    const config one = random::whole(), other = random::whole();
    RC_ASSERT(!compare(one, one).any());
    if (one.tables.fib_huge_pages != other.tables.fib_huge_pages) RC_SUCCEED();
    RC_ASSERT(compare(one, other).any() == !(one == other));
  }));
}

}  // namespace
}  // namespace coua::ctl
