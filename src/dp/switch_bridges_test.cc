// SPDX-License-Identifier: Apache-2.0
//
// Several bridges: nothing of one is seen in another, though VLANs, addresses and rules are the
// same; and they come and go while packets pass.
#include <rte_mempool.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>

#include "dp/pipeline/packet_in.h"
#include "dp/test_pipeline.h"

namespace coua::dp {
namespace {

using pipeline::test::add_rule;
using pipeline::test::apply;
using pipeline::test::output;

class bridges_test : public pipeline_test {
 protected:
  void SetUp() override { start(named({"br0", "br1"})); }

  static switch_config named(const std::vector<std::string>& names) {
    switch_config config;
    config.bridges.clear();
    for (const std::string& each : names) config.bridges.push_back({each, {}});
    return config;
  }
  port_config config_in(const std::string& bridge, const std::string& name,
                        std::uint16_t vlan = 1) {
    if (!rings_.contains(name)) rings_[name] = std::make_unique<test_ring_port>(name);
    port_config config = config_of(name);
    config.bridge = bridge;
    config.native_vlan = vlan;
    return config;
  }
  test_ring_port& access_in(const std::string& bridge, const std::string& name,
                            std::uint16_t vlan = 1) {
    add(config_in(bridge, name, vlan));
    return *rings_[name];
  }
  test_ring_port& trunk_in(const std::string& bridge, const std::string& name, std::uint16_t native,
                           std::vector<std::uint16_t> tagged) {
    port_config config = config_in(bridge, name, native);
    config.mode = vlan_mode::trunk;
    config.tagged = std::move(tagged);
    add(config);
    return *rings_[name];
  }
  pipeline_owner& owner_of(const std::string& bridge) { return *switch_->pipeline(bridge); }
  void must_in(const std::string& bridge, std::vector<pipeline::operation> bundle) {
    const auto done = owner_of(bridge).apply(bundle);
    ASSERT_TRUE(done.has_value()) << done.error().message();
  }
  void clear_in(const std::string& bridge) {
    must_in(bridge, {pipeline::test::change_rules(pipeline::rule_command::remove,
                                                  pipeline::table_all, 0, {})});
  }
  bool learned_in(const std::string& bridge, std::uint16_t vlan, std::uint64_t mac,
                  const std::string& port) {
    return eventually([&] {
      const auto entry = switch_->fib_find(bridge, vlan, mac);
      return entry && entry->port == numbers_[port];
    });
  }
  vlan_status vlan_in(const std::string& bridge, std::uint16_t vlan) {
    for (const vlan_status& each : switch_->vlans())
      if (each.bridge == bridge && each.vlan == vlan) return each;
    return {};
  }
  std::vector<fib_entry> dump(const fib_filter& filter) {
    std::vector<fib_entry> all;
    EXPECT_TRUE(switch_->fib_dump(filter, [&](std::span<const fib_entry> some) {
      all.insert(all.end(), some.begin(), some.end());
      return true;
    }));
    return all;
  }
  static fib_filter all_of(const std::string& bridge, std::optional<std::uint16_t> vlan = {}) {
    fib_filter made;
    made.bridge = bridge;
    made.vlan = vlan;
    return made;
  }
  void store(const std::string& port, std::uint16_t vlan, std::uint64_t mac) {
    const fib_entry one{vlan, mac, numbers_[port], true, 0};
    const auto done = switch_->fib_insert({&one, 1});
    ASSERT_TRUE(done) << done.error().message();
  }
  static std::vector<std::uint16_t> vlans(std::uint16_t first, std::uint16_t last) {
    std::vector<std::uint16_t> made(last - first + 1u);
    std::iota(made.begin(), made.end(), first);
    return made;
  }
  static bool silent(std::initializer_list<test_ring_port*> ports) {
    bool all = true;
    for (test_ring_port* each : ports) all = each->silent() && all;
    return all;
  }
};

// Red when domains go by the VLAN alone.
TEST_F(bridges_test, one_vlan_and_one_address_in_both_are_apart) {
  auto& a = access_in("br0", "a");
  auto& b = access_in("br0", "b");
  auto& c = access_in("br1", "c");
  auto& d = access_in("br1", "d");
  const frame_bytes hello = make_frame(broadcast, host(1));
  ASSERT_TRUE(a.send(hello));
  EXPECT_EQ(b.receive(), hello);
  ASSERT_TRUE(learned_in("br0", 1, host(1), "a"));
  EXPECT_FALSE(switch_->fib_find("br1", 1, host(1)));
  ASSERT_TRUE(c.send(hello));
  EXPECT_EQ(d.receive(), hello);
  ASSERT_TRUE(learned_in("br1", 1, host(1), "c"));
  EXPECT_TRUE(learned_in("br0", 1, host(1), "a")) << "it has not moved";
  EXPECT_EQ(switch_->fib().moved, 0u);
  const frame_bytes answer = make_frame(host(1), host(2), -1, 200);
  ASSERT_TRUE(d.send(answer));
  EXPECT_EQ(c.receive(), answer);
  ASSERT_TRUE(b.send(answer));
  EXPECT_EQ(a.receive(), answer);
  // To one that only the other bridge knows: flooded here.
  ASSERT_TRUE(b.send(make_frame(broadcast, host(9))));
  EXPECT_TRUE(a.receive());
  ASSERT_TRUE(learned_in("br0", 1, host(9), "b"));
  ASSERT_TRUE(c.send(make_frame(host(9), host(1))));
  EXPECT_TRUE(d.receive());
  EXPECT_TRUE(silent({&a, &b, &c, &d}));
}

// Red when a tag says the domain, or when tags are looked up in another bridge.
TEST_F(bridges_test, tags_say_the_vlan_in_each_bridge) {
  for (const std::string bridge : {"br0", "br1"}) {
    const std::string n = bridge.substr(2);
    auto& a = access_in(bridge, "a" + n, 10);
    auto& b = access_in(bridge, "b" + n, 20);
    auto& t = trunk_in(bridge, "t" + n, 0, {10, 20});
    auto& u = trunk_in(bridge, "u" + n, 0, {10});
    const frame_bytes frame = make_frame(broadcast, host(1));
    ASSERT_TRUE(a.send(frame));
    EXPECT_EQ(t.receive(), with_tag(frame, 10)) << bridge;
    EXPECT_EQ(u.receive(), with_tag(frame, 10)) << bridge;
    const frame_bytes untagged = make_frame(broadcast, host(2));
    ASSERT_TRUE(t.send(with_tag(untagged, 20)));
    EXPECT_EQ(b.receive(), untagged) << bridge;
    ASSERT_TRUE(learned_in(bridge, 10, host(1), "a" + n));
    ASSERT_TRUE(learned_in(bridge, 20, host(2), "t" + n));
    const frame_bytes to_trunk = make_frame(host(2), host(3)), to_a = make_frame(host(1), host(4));
    ASSERT_TRUE(b.send(to_trunk));
    EXPECT_EQ(t.receive(), with_tag(to_trunk, 20)) << bridge;
    ASSERT_TRUE(u.send(with_tag(to_a, 10)));
    EXPECT_EQ(a.receive(), to_a) << bridge;
    ASSERT_TRUE(u.send(make_frame(broadcast, host(4), 20)));
    EXPECT_TRUE(counts("u" + n, "drop_ingress_vlan", 1));
    EXPECT_TRUE(silent({&a, &b, &t, &u}));
  }
  for (const auto& [name, ring] : rings_) EXPECT_TRUE(ring->silent(0)) << name;
}

TEST_F(bridges_test, a_vlan_counts_in_its_bridge) {
  auto& a = access_in("br0", "a", 7);
  auto& c = access_in("br1", "c", 7);
  auto& d = access_in("br1", "d", 7);
  ASSERT_TRUE(c.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(d.receive());
  ASSERT_TRUE(learned_in("br1", 7, host(1), "c"));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned_in("br0", 7, host(1), "a"));
  EXPECT_TRUE(eventually([&] {
    return value(vlan_in("br1", 7).counters, "flooded") == 1 &&
           value(vlan_in("br0", 7).counters, "rx_packets") == 1;
  }));
  const vlan_status first = vlan_in("br0", 7), second = vlan_in("br1", 7);
  EXPECT_EQ(first.untagged, std::vector{numbers_["a"]});
  EXPECT_EQ(second.untagged, (std::vector{numbers_["c"], numbers_["d"]}));
  EXPECT_EQ(value(first.counters, "flooded"), 0u);
  EXPECT_EQ(value(second.counters, "rx_packets"), 1u);
  EXPECT_EQ(first.learned, 1u);
  EXPECT_EQ(second.learned, 1u);
  EXPECT_EQ(switch_->vlans().size(), 2u);
}

TEST_F(bridges_test, entries_are_found_listed_and_removed_by_bridge) {
  access_in("br0", "a", 5);
  access_in("br1", "c", 5);
  store("a", 5, host(1));
  store("c", 5, host(1));
  store("c", 6, host(1));  // no port carries it
  EXPECT_EQ(switch_->fib_find({}, 5, host(1))->port, numbers_["a"]);
  EXPECT_EQ(switch_->fib_find("br1", 5, host(1))->port, numbers_["c"]);
  EXPECT_EQ(dump({}).size(), 3u);
  EXPECT_EQ(dump(all_of("br0")).size(), 1u);
  EXPECT_EQ(dump(all_of("br1")).size(), 2u);
  const auto fives = dump(all_of({}, 5));
  ASSERT_EQ(fives.size(), 2u);
  for (const fib_entry& each : fives) EXPECT_EQ(each.vlan, 5);
  ASSERT_EQ(dump(all_of("br1", 6)).size(), 1u);
  EXPECT_FALSE(switch_->fib_erase("br0", 6, host(1)));
  EXPECT_TRUE(switch_->fib_erase("br1", 6, host(1)));
  fib_filter of_one = all_of("br1");
  of_one.is_static = true;
  of_one.mac = host(1);
  EXPECT_EQ(switch_->fib_flush(of_one), 1u);
  EXPECT_TRUE(switch_->fib_find("br0", 5, host(1)));
  store("c", 5, host(1));
  of_one.mac = {};
  EXPECT_EQ(switch_->fib_flush(of_one), 1u);
  EXPECT_EQ(dump({}).size(), 1u);
  for (const auto& code : {switch_->fib_erase("br9", 5, host(1)).error().code,
                           switch_->fib_find("br9", 5, host(1)).error().code,
                           switch_->fib_flush(all_of("br9")).error().code,
                           switch_->fib_dump(all_of("br9"), {}).error().code})
    EXPECT_EQ(code, errc::not_found);
}

// Red when a controller port, a trace or a mirror looks at the VLAN without its bridge.
TEST_F(bridges_test, traces_and_mirrors_of_a_vlan_stay_in_their_bridge) {
  auto& a = access_in("br0", "a", 5);
  access_in("br0", "b", 5);
  auto& c = access_in("br1", "c", 5);
  access_in("br1", "d", 5);
  port_config config = config_in("br1", "m");
  config.mirror.vlans = {5};
  add(config);
  const frame_bytes frame = make_frame(broadcast, host(1));
  for (const auto& [from, to] : {std::pair{"a", "b"}, {"c", "d"}}) {
    const auto traced = switch_->trace_l2(numbers_[from], frame);
    ASSERT_TRUE(traced);
    EXPECT_EQ(traced->vlan, 5);
    ASSERT_EQ(traced->copies.size(), 1u);
    EXPECT_EQ(traced->copies[0].port, numbers_[to]);
  }
  ASSERT_TRUE(a.send(frame));
  EXPECT_TRUE(rings_["b"]->receive());
  ASSERT_TRUE(c.send(make_frame(broadcast, host(2))));
  EXPECT_EQ(rings_["m"]->receive(), make_frame(broadcast, host(2)));
  EXPECT_TRUE(rings_["m"]->silent());
}

TEST_F(bridges_test, rules_of_one_do_not_touch_the_other) {
  auto& a = access_in("br0", "a");
  auto& b = access_in("br0", "b");
  auto& c = access_in("br1", "c");
  auto& d = access_in("br1", "d");
  clear_in("br1");
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(c.send(frame));
  EXPECT_TRUE(counts("c", "drop_pipeline", 1));
  EXPECT_EQ(value(owner_of("br1").drops(), "no_rule"), 1u);
  ASSERT_TRUE(a.send(frame));
  EXPECT_EQ(b.receive(), frame);
  EXPECT_EQ(value(owner_of("br0").drops(), "no_rule"), 0u);
  // Each knows its own ports only.
  const auto known = [&](const std::string& bridge) {
    std::set<pipeline::port_no> numbers;
    for (const auto& each : owner_of(bridge).ports()) numbers.insert(each.port.number);
    return numbers;
  };
  EXPECT_EQ(known("br0"), (std::set{number("a"), number("b")}));
  EXPECT_EQ(known("br1"), (std::set{number("c"), number("d")}));
  // A rule that sends to all sends to those; and one that names a port of another bridge, nowhere.
  must_in("br1", {add_rule(0, 0, {}, apply({output(pipeline::port_all), output(number("a"))}))});
  ASSERT_TRUE(c.send(frame));
  EXPECT_EQ(d.receive(), frame);
  EXPECT_TRUE(silent({&a, &b, &c, &d}));
  must_in("br1", {add_rule(0, 0, {}, apply({output(number("b"))}))});
  ASSERT_TRUE(c.send(frame));
  EXPECT_TRUE(eventually([&] {
    return count("c", "drop_pipeline") + count("c", "drop_port_down") >= 2 &&
           count("c", "rx_packets") == 3;
  }));
  EXPECT_TRUE(silent({&a, &b, &c, &d}));
}

TEST_F(bridges_test, controllers_see_and_send_packets_of_their_bridge) {
  auto& a = access_in("br0", "a");
  auto& b = access_in("br0", "b");
  auto& c = access_in("br1", "c");
  auto& d = access_in("br1", "d");
  std::mutex mutex;
  std::map<std::string, std::vector<packet_in>> seen;
  for (const std::string bridge : {"br0", "br1"}) {
    must_in(bridge, {add_rule(0, 9, {},
                              apply({pipeline::act::output{pipeline::port_controller, 0xffff}}))});
    owner_of(bridge).set_sink([&, bridge](const packet_in& one) {
      const std::lock_guard hold(mutex);
      seen[bridge].push_back(one);
    });
  }
  const auto n_seen = [&](const std::string& bridge) {
    const std::lock_guard hold(mutex);
    return seen[bridge].size();
  };
  ASSERT_TRUE(c.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(eventually([&] { return n_seen("br1") == 1; }));
  EXPECT_EQ(seen["br1"][0].in_port, number("c"));
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(eventually([&] { return n_seen("br0") == 1; }));
  EXPECT_EQ(n_seen("br1"), 1u);
  // By the L2 switch, without a port: to the VLAN of that bridge.
  const frame_bytes frame = make_frame(broadcast, host(7));
  const auto normal = pipeline::action_list{output(pipeline::port_normal)};
  ASSERT_TRUE(owner_of("br1").send({pipeline::port_controller, frame, normal}));
  EXPECT_EQ(c.receive(), frame);
  EXPECT_EQ(d.receive(), frame);
  ASSERT_TRUE(owner_of("br0").send({pipeline::port_controller, frame, normal}));
  EXPECT_EQ(a.receive(), frame);
  EXPECT_EQ(b.receive(), frame);
  // A port of another bridge is none.
  EXPECT_FALSE(owner_of("br1").send({number("a"), frame, normal}));
  ASSERT_TRUE(owner_of("br1").send({pipeline::port_controller, frame, {output(number("a"))}}));
  ASSERT_TRUE(owner_of("br1").send({pipeline::port_controller, frame, {output(number("d"))}}));
  EXPECT_EQ(d.receive(), frame);
  EXPECT_TRUE(silent({&a, &b, &c, &d}));
}

TEST_F(bridges_test, standalone_is_of_one_bridge) {
  auto& a = access_in("br0", "a");
  auto& b = access_in("br0", "b");
  auto& c = access_in("br1", "c");
  auto& d = access_in("br1", "d");
  clear_in("br0");
  clear_in("br1");
  switch_->set_standalone("br1", true);
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(c.send(frame));
  EXPECT_EQ(d.receive(), frame);
  ASSERT_TRUE(a.send(frame));
  EXPECT_TRUE(counts("a", "drop_pipeline", 1));
  // What a controller said of a port counts all the same.
  const auto take_nothing = [&](bool on) {
    ASSERT_TRUE(
        owner_of("br1").change_port(number("c"), [on](pipeline::port& one) { one.no_recv = on; }));
    owner_of("br1").settle();
  };
  take_nothing(true);
  ASSERT_TRUE(c.send(frame));
  EXPECT_TRUE(counts("c", "drop_pipeline", 1));
  take_nothing(false);
  ASSERT_TRUE(c.send(frame));
  EXPECT_EQ(d.receive(), frame);
  switch_->set_standalone("br1", false);
  ASSERT_TRUE(c.send(frame));
  EXPECT_TRUE(counts("c", "drop_pipeline", 2));
  EXPECT_TRUE(silent({&a, &b, &c, &d}));
}

// Red when what a controller forbids in one bridge is asked for in another.
TEST_F(bridges_test, no_fwd_is_of_the_bridge_of_the_port) {
  auto& c = access_in("br1", "c");
  auto& d = access_in("br1", "d");
  ASSERT_TRUE(
      owner_of("br1").change_port(number("d"), [](pipeline::port& one) { one.no_fwd = true; }));
  owner_of("br1").settle();
  ASSERT_TRUE(c.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("c", "drop_no_member", 1));
  EXPECT_TRUE(d.silent());
}

TEST_F(bridges_test, ports_say_their_bridge_and_keep_it) {
  access_in({}, "a");
  access_in("br1", "c");
  EXPECT_EQ(status_of("a").config.bridge, "br0");
  EXPECT_EQ(status_of("c").config.bridge, "br1");
  port_config stray;
  stray.name = "stray";
  stray.devargs = "net_null0";
  stray.bridge = "br9";
  EXPECT_EQ(switch_->add_port(stray).error().code, errc::not_found);
  EXPECT_EQ(switch_->update_port(config_in("br0", "c")).error().code, errc::unsupported);
  EXPECT_EQ(switch_->update_port(config_in({}, "c")).error().code, errc::unsupported);
  EXPECT_EQ(switch_->update_port(config_in("br9", "c")).error().code, errc::not_found);
  EXPECT_TRUE(switch_->update_port(config_in("br1", "c", 30)));
  EXPECT_TRUE(switch_->update_port(config_in({}, "a", 30)));
  EXPECT_EQ(status_of("a").config.bridge, "br0");
  EXPECT_EQ(vlan_in("br1", 30).untagged, std::vector{numbers_["c"]});
}

TEST_F(bridges_test, what_cannot_be_added_or_removed_is_refused) {
  access_in("br1", "c");
  EXPECT_EQ(switch_->add_bridge({"br1", {}}).error().code, errc::exists);
  EXPECT_EQ(switch_->add_bridge({"", {}}).error().code, errc::invalid);
  EXPECT_EQ(switch_->add_bridge({"a b", {}}).error().code, errc::invalid);
  bridge_config rules{"br2", {}};
  rules.pipeline.rules_max = 0;
  EXPECT_EQ(switch_->add_bridge(rules).error().code, errc::invalid);
  EXPECT_EQ(switch_->remove_bridge("br9").error().code, errc::not_found);
  EXPECT_EQ(switch_->remove_bridge({}).error().code, errc::not_found);
  const auto has_ports = switch_->remove_bridge("br1");
  EXPECT_EQ(has_ports.error().code, errc::busy);
  EXPECT_NE(has_ports.error().what.find("c"), std::string::npos);
  EXPECT_TRUE(switch_->remove_bridge("br0"));
  EXPECT_EQ(switch_->pipeline("br0"), nullptr);
  ASSERT_EQ(switch_->bridges().size(), 1u);
  // The oldest that is left is the first one now.
  EXPECT_EQ(switch_->pipeline({}), switch_->pipeline("br1"));
  access_in({}, "d");
  EXPECT_EQ(status_of("d").config.bridge, "br1");
  ASSERT_TRUE(switch_->remove_port("c"));
  ASSERT_TRUE(switch_->remove_port("d"));
  EXPECT_EQ(switch_->remove_bridge("br1").error().code, errc::busy) << "the last one";
}

TEST_F(bridges_test, there_are_sixteen_at_most_and_each_is_a_switch) {
  switch_config config = named({"br0", "br1"});
  config.mbufs = 2048;  // for all ports together
  start(config);
  for (unsigned n = 2; n < bridges_max; ++n) {
    const auto added = switch_->add_bridge({"br" + std::to_string(n), {}});
    ASSERT_TRUE(added) << n << " " << added.error().message();
  }
  EXPECT_EQ(switch_->add_bridge({"one-more", {}}).error().code, errc::no_room);
  EXPECT_EQ(switch_->bridges().size(), bridges_max);
  // DPDK has 32 devices at most.
  std::vector<std::string> some;
  for (unsigned n = 0; n < bridges_max; n += 3) some.push_back(std::to_string(n));
  for (const std::string& n : some) {
    access_in("br" + n, "a" + n);
    access_in("br" + n, "b" + n);
  }
  const frame_bytes frame = make_frame(broadcast, host(1));
  for (const std::string& n : some) {
    ASSERT_TRUE(rings_["a" + n]->send(frame));
    EXPECT_EQ(rings_["b" + n]->receive(), frame);
    ASSERT_TRUE(learned_in("br" + n, 1, host(1), "a" + n));
  }
  for (const auto& [name, ring] : rings_) EXPECT_TRUE(ring->silent(1)) << name;
  EXPECT_EQ(switch_->fib().entries, some.size());
}

TEST_F(bridges_test, vlans_of_all_bridges_are_4095_at_most) {
  (void)trunk_in("br0", "a", 1, vlans(2, 4094));
  auto& c = access_in("br1", "c", 50);  // the last one
  access_in("br1", "d", 50);
  port_config more = config_in("br1", "e", 50);
  more.mode = vlan_mode::trunk;
  more.tagged = {60, 61};
  const auto refused = switch_->add_port(more);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::no_room);
  EXPECT_EQ(refused.error().message(),
            "port e: bridge br1: the VLANs of all bridges are 4095 at most: 2 too many");
  EXPECT_EQ(switch_->ports().size(), 3u);
  const auto other = switch_->update_port(config_in("br1", "d", 60));
  EXPECT_EQ(other.error().code, errc::no_room);
  EXPECT_EQ(status_of("d").config.native_vlan, 50);
  const fib_entry one{60, host(1), numbers_["c"], true, 0};
  EXPECT_EQ(switch_->fib_insert({&one, 1}).error().code, errc::no_room);
  EXPECT_FALSE(switch_->fib_find("br1", 60, host(1)));
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(c.send(frame));
  EXPECT_EQ(rings_["d"]->receive(), frame);
  EXPECT_TRUE(rings_["a"]->silent());
  // Domains that are free again serve others, and nothing is left of before in them.
  ASSERT_TRUE(learned_in("br1", 50, host(1), "c"));
  ASSERT_TRUE(switch_->remove_port("a"));
  add(more);
  ASSERT_TRUE(switch_->update_port(config_in("br1", "d", 60)));
  EXPECT_EQ(value(vlan_in("br1", 60).counters, "rx_packets"), 0u);
  ASSERT_TRUE(rings_["d"]->send(frame));
  EXPECT_EQ(rings_["e"]->receive(), with_tag(frame, 60));
  EXPECT_TRUE(c.silent());
}

// Red when the counters of a domain, or what it learned, stay with it.
TEST_F(bridges_test, a_domain_that_another_vlan_gets_begins_anew) {
  (void)trunk_in("br0", "a", 1, vlans(2, 4094));
  auto& c = access_in("br1", "c", 50);
  access_in("br1", "d", 50);
  ASSERT_TRUE(c.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(rings_["d"]->receive());
  ASSERT_TRUE(learned_in("br1", 50, host(1), "c"));
  EXPECT_TRUE(eventually([&] { return value(vlan_in("br1", 50).counters, "rx_packets") == 1; }));
  ASSERT_TRUE(switch_->remove_port("c"));
  ASSERT_TRUE(switch_->remove_port("d"));
  EXPECT_EQ(switch_->fib().entries, 0u);
  rings_["c"]->make();
  rings_["d"]->make();
  auto& again = access_in("br1", "c", 70);
  access_in("br1", "d", 70);
  const vlan_status anew = vlan_in("br1", 70);
  EXPECT_EQ(value(anew.counters, "rx_packets"), 0u);
  EXPECT_EQ(anew.learned, 0u);
  EXPECT_EQ(vlan_in("br1", 50).vlan, 0);
  ASSERT_TRUE(again.send(make_frame(broadcast, host(2))));
  EXPECT_TRUE(rings_["d"]->receive());
  ASSERT_TRUE(learned_in("br1", 70, host(2), "c"));
  EXPECT_EQ(dump(all_of("br1")).front().vlan, 70);
}

TEST_F(bridges_test, a_port_number_of_another_bridge_brings_nothing_along) {
  auto& a = access_in("br0", "a");
  access_in("br0", "b");
  const unsigned number = numbers_["b"];
  must_in("br0", {add_rule(0, 9, {}, apply({output(bridge_port(number, false))}))});
  ASSERT_TRUE(switch_->remove_port("b"));
  auto& c = access_in("br1", "c");
  for (unsigned i = 0; numbers_["c"] != number; ++i) {  // numbers go round
    ASSERT_LT(i, 100u);
    ASSERT_TRUE(switch_->remove_port("c"));
    c.make();
    add(config_in("br1", "c"));
  }
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  EXPECT_TRUE(counts("a", "rx_packets", 1));
  EXPECT_TRUE(c.silent());
  EXPECT_TRUE(owner_of("br0").ports().size() == 1);
}

unsigned n_pools() {
  unsigned n = 0;
  rte_mempool_walk([](rte_mempool*, void* count) { ++*static_cast<unsigned*>(count); }, &n);
  return n;
}

// Each has a pool of 10 MiB, of the 256 that there are. Red when it goes with a later look at
// pools.
TEST_F(bridges_test, the_packets_of_a_bridge_go_with_it) {
  const unsigned before = n_pools();
  for (unsigned round = 0; round < 60; ++round) {
    const auto added = switch_->add_bridge({"br2", {}});
    ASSERT_TRUE(added) << round << ": " << added.error().message();
    ASSERT_TRUE(switch_->remove_bridge("br2"));
    ASSERT_EQ(n_pools(), before);
  }
}

TEST_F(bridges_test, the_packets_of_a_bridge_stay_until_the_last_one_is_back) {
  auto& a = access_in("br1", "a");
  const unsigned before = n_pools();
  const frame_bytes frame = make_frame(broadcast, host(1));
  ASSERT_TRUE(
      owner_of("br1").send({pipeline::port_controller, frame, {output(pipeline::port_normal)}}));
  ASSERT_TRUE(eventually([&] { return a.came_out() == 1; }));
  const unsigned pools_of_port = 1;
  ASSERT_TRUE(switch_->remove_port("a"));
  ASSERT_TRUE(switch_->remove_bridge("br1"));
  EXPECT_EQ(n_pools(), before - pools_of_port);
  EXPECT_EQ(a.receive(), frame);
  EXPECT_TRUE(eventually([&] { return n_pools() == before - pools_of_port - 1; }));
}

// Red when a worker still has what is freed, or when a change of bridges loses frames of others.
TEST_F(bridges_test, bridges_come_and_go_while_packets_pass) {
  auto& a = access_in("br0", "a");
  auto& b = access_in("br0", "b");
  auto& c = access_in("br1", "c");
  auto& d = access_in("br1", "d");
  store("b", 1, host(2));
  must_in("br1", {add_rule(0, 9, from("c"), apply({output(number("d"))}))});
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> passed{0};
  const auto talk = [&](test_ring_port& from, test_ring_port& to) {
    const frame_bytes frame = make_frame(host(2), host(1));
    for (unsigned in_flight = 0; !done || in_flight != 0;) {
      if (!done && in_flight < 100 && from.send(frame)) ++in_flight;
      if (in_flight == 0 || (in_flight < 100 && !done)) continue;
      if (to.receive() != frame) return;
      --in_flight;
      ++passed;
    }
  };
  struct guest {
    explicit guest(std::atomic<bool>& done, std::function<void()> f)
        : done_(done), thread_(std::move(f)) {}
    ~guest() {
      done_ = true;
      if (thread_.joinable()) thread_.join();
    }
    std::atomic<bool>& done_;
    std::thread thread_;
  };
  guest first(done, [&] { talk(a, b); }), second(done, [&] { talk(c, d); });
  access_in("br1", "e", 9);
  for (unsigned round = 0; round < 20; ++round) {
    const std::string name = "passing" + std::to_string(round);
    const auto added = switch_->add_bridge({name, {}});
    ASSERT_TRUE(added) << added.error().message();
    if (round != 0) {
      rings_["x"]->make();
      rings_["y"]->make();
    }
    auto& x = access_in(name, "x");
    auto& y = access_in(name, "y");
    const frame_bytes frame = make_frame(broadcast, host(round));
    ASSERT_TRUE(x.send(frame));
    EXPECT_EQ(y.receive(), frame);
    must_in(name, {add_rule(0, 9, {}, apply({pipeline::act::output{pipeline::port_controller}}))});
    ASSERT_TRUE(
        owner_of(name).send({pipeline::port_controller, frame, {output(pipeline::port_normal)}}));
    EXPECT_EQ(x.receive(), frame);
    EXPECT_EQ(y.receive(), frame);
    ASSERT_TRUE(x.send(frame));
    EXPECT_TRUE(counts("x", "to_controller", 1));
    ASSERT_TRUE(switch_->remove_port("x"));
    ASSERT_TRUE(switch_->remove_port("y"));
    const auto removed = switch_->remove_bridge(name);
    ASSERT_TRUE(removed) << removed.error().message();
  }
  done = true;
  first.thread_.join();
  second.thread_.join();
  EXPECT_GT(passed, 0u);
  EXPECT_EQ(count("a", "forwarded"), count("b", "tx_packets"));
  EXPECT_EQ(count("c", "forwarded"), count("d", "tx_packets"));
  for (const std::string port : {"a", "b", "c", "d"}) {
    const auto counters = switch_->port_counters(port);
    for (const counter& each : *counters) {
      if (!each.name.starts_with("drop_")) continue;
      EXPECT_EQ(each.value, 0u) << port << " " << each.name;
    }
  }
}

}  // namespace
}  // namespace coua::dp
