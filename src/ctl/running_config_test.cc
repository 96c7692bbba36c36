// SPDX-License-Identifier: Apache-2.0
//
// Changes by difference, on a switch in memory that can refuse any call.
#include "ctl/running_config.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "ctl/fake_bridges.h"
#include "ctl/fake_pipeline.h"
#include "ctl/fake_switch.h"
#include "ctl/test_random_config.h"

namespace coua::ctl {
namespace {

/// Refuses the n-th call that changes something, and no other.
class refusing_switch : public fake_switch {
 public:
  void refuse_after(int calls) { left_ = calls; }
  bool refused() const { return left_ < 0; }
  /// Every call that changes something takes that long: others have time to come between.
  void take(std::chrono::microseconds time) { time_ = time; }

  /// Called before a port comes.
  std::function<void()> before_port;

  result<unsigned> add_port(const dp::port_config& port) override {
    if (before_port) before_port();
    if (refuses()) return no("port " + port.name);
    return fake_switch::add_port(port);
  }
  result<void> remove_port(const std::string& name) override {
    if (refuses()) return no("port " + name);
    return fake_switch::remove_port(name);
  }
  result<void> update_port(const dp::port_config& port) override {
    if (refuses()) return no("port " + port.name);
    return fake_switch::update_port(port);
  }
  result<void> add_bridge(const dp::bridge_config& bridge) override {
    if (refuses()) return no("bridge " + bridge.name);
    return fake_switch::add_bridge(bridge);
  }
  result<void> remove_bridge(const std::string& name) override {
    if (refuses()) return no("bridge " + name);
    return fake_switch::remove_bridge(name);
  }
  result<void> set_ageing(unsigned seconds) override {
    if (refuses()) return no("FIB");
    return fake_switch::set_ageing(seconds);
  }
  result<std::uint64_t> fib_insert(std::span<const dp::fib_entry> entries) override {
    if (!refuses()) return fake_switch::fib_insert(entries);
    // Some of them are stored all the same, as by a table that becomes full.
    static_cast<void>(fake_switch::fib_insert(entries.first(entries.size() / 2)));
    return no("FIB");
  }
  result<void> fib_erase(const std::string& bridge, std::uint16_t vlan,
                         std::uint64_t mac) override {
    if (refuses()) return no("FIB");
    return fake_switch::fib_erase(bridge, vlan, mac);
  }

 private:
  bool refuses() {
    if (time_.count() > 0) std::this_thread::sleep_for(time_);
    return left_ >= 0 && left_-- == 0;
  }
  static tl::unexpected<error> no(std::string where) {
    return fail(errc::io, std::move(where), "the driver refuses");
  }
  int left_ = -1;
  std::chrono::microseconds time_{};
};

config file(const std::string& text) {
  const auto out = parse_config(text, "f");
  if (!out) ADD_FAILURE() << to_string(out.error().at(0), "f");
  return out ? *out : config();
}

/// What it prints is a file, and says nothing new.
bool comes_back(running_config& running) {
  const auto text = running.print(config_format::yaml);
  if (!text) return false;
  const auto again = parse_config(*text, "saved");
  if (!again) return false;
  const auto done = running.apply(*again);
  return done && done->empty();
}

/// Like what runs now, whatever the order.
bool runs(running_config& running, const config& wanted) {
  const auto now = running.now();
  return now && !compare(*now, wanted).any();
}

class running_config_of_a_switch : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(running_.start_bridges(file(""))); }
  void TearDown() override { set_log_level(log_level::info); }
  refusing_switch sw_;
  running_bridges bridges_{sw_};
  fake_bridges fakes_{bridges_};
  running_config running_{sw_, bridges_, file("fib: {ageing_s: 300}")};
};

TEST_F(running_config_of_a_switch, applies_all_and_then_nothing_more) {
  const config wanted = file(
      "log: {level: warning}\nfib:\n  ageing_s: 60\n  static:\n"
      "    - {vlan: 10, mac: 02:00:00:00:00:01, port: a}\n"
      "ports:\n  - {name: a, devargs: net_null0, vlan: 10}\n  - {name: b, devargs: net_null1}\n");
  const auto planned = running_.apply(wanted, true);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->size(), 5u);
  EXPECT_TRUE(sw_.ports().empty());
  const auto done = running_.apply(wanted);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->size(), 5u);
  EXPECT_EQ(sw_.ports().size(), 2u);
  EXPECT_EQ(sw_.fib().ageing_s, 60u);
  EXPECT_EQ(highest_log_level(), log_level::warning);
  EXPECT_TRUE(sw_.fib_find({}, 10, 0x020000000001)->is_static);
  EXPECT_TRUE(running_.apply(wanted)->empty());
}

TEST_F(running_config_of_a_switch, ports_that_stay_are_not_touched) {
  ASSERT_TRUE(running_.apply(file("ports: [{name: a, devargs: x0}, {name: b, devargs: x1}]")));
  const unsigned serial = sw_.ports()[0].serial;
  sw_.refuse_after(1);  // one call is enough
  ASSERT_TRUE(
      running_.apply(file("ports: [{name: b, devargs: x1, vlan: 7}, {name: a, devargs: x0}]")));
  EXPECT_EQ(sw_.ports()[0].serial, serial);
  EXPECT_FALSE(sw_.refused());
}

TEST_F(running_config_of_a_switch, a_device_goes_from_one_port_to_another) {
  ASSERT_TRUE(running_.apply(file("ports: [{name: a, devargs: x0}, {name: b, devargs: x1}]")));
  const config swapped = file("ports: [{name: a, devargs: x1}, {name: b, devargs: x0}]");
  ASSERT_TRUE(running_.apply(swapped));
  EXPECT_TRUE(runs(running_, swapped));
}

TEST_F(running_config_of_a_switch, entries_of_a_replaced_port_are_there_again) {
  const std::string statics = "fib: {static: [{vlan: 1, mac: 02:00:00:00:00:01, port: a}]}\n";
  ASSERT_TRUE(running_.apply(file(statics + "ports: [{name: a, devargs: x0}]")));
  const config replaced = file(statics + "ports: [{name: a, devargs: x1}]");
  ASSERT_TRUE(running_.apply(replaced));
  EXPECT_TRUE(runs(running_, replaced));
  EXPECT_TRUE(sw_.fib_find({}, 1, 0x020000000001));
}

/// Knows the ports of a switch by their names, and refuses when that would.
class switch_pipeline : public fake_pipeline {
 public:
  explicit switch_pipeline(refusing_switch& sw, std::string bridge = "br0")
      : switch_(sw), bridge_(std::move(bridge)) {}
  ofp::port_names port_names() override {
    ofp::port_names made;
    for (const dp::port_status& each : switch_.ports())
      if (each.config.bridge == bridge_) made.add(each.number + 1, each.config.name);
    return made;
  }
  pipeline::of_result<pipeline::change_list> apply(
      std::span<const pipeline::operation> bundle) override {
    if (refuses_) return pipeline::refuse(pipeline::of_error::flow_mod_table_full, "table", "full");
    // Three times, as it is planned; then what takes it back may come.
    if (left_ > 0) {
      left_--;
      return pipeline::refuse(pipeline::of_error::flow_mod_table_full, "table", "full");
    }
    return fake_pipeline::apply(bundle);
  }
  void refuse(bool yes) { refuses_ = yes; }
  void refuse_next(bool yes = true) { left_ = yes ? 3 : 0; }
  bool refused() const { return left_ == 0; }

 private:
  refusing_switch& switch_;
  const std::string bridge_;
  bool refuses_ = false;
  int left_ = 0;
};

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

// Bridges that come and go with their ports, rules and controllers.
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
  for (const char* bridge : {"br1, pipeline: {flows: []}", "br2"}) {
    const auto done = running_.apply(
        file("bridges: [{name: " + std::string(bridge) + "}]\nports: [{name: d, devargs: x2}]"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what, "no such device; nothing was changed");
    EXPECT_EQ(bridges(), (names{"br0", "br1"}));
    EXPECT_TRUE(runs(running_, two));
    EXPECT_EQ(n_rules("br1"), 2u);
    EXPECT_TRUE(fakes_.is_open("br0") && fakes_.is_open("br1"));
  }
}

TEST_F(running_config_with_bridges, whose_socket_is_taken_do_not_come) {
  fakes_.refuse_to_open(error{errc::busy, "/run/br1.mgmt", "another daemon listens there"});
  const auto done = running_.apply(file(two_));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(),
            "f:1: bridges[1].openflow: /run/br1.mgmt: another daemon listens there; nothing was "
            "changed");
  EXPECT_EQ(bridges(), names{"br0"});
  EXPECT_TRUE(sw_.ports().empty());
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

TEST_F(running_config_of_a_switch, a_restart_is_asked_for_before_anything_is_done) {
  const auto done = running_.apply(
      file("workers:\n  count: 2\nmemory:\n  packet_mib: 64\nports: [{name: a, devargs: x0}]"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unsupported);
  EXPECT_EQ(done.error().message(),
            "f:4: memory.packet_mib: only a restart of couad can change memory.packet_mib (512 -> "
            "64), workers.count (none -> 2); nothing was changed");
  EXPECT_TRUE(sw_.ports().empty());
}

TEST_F(running_config_of_a_switch, the_error_of_a_step_names_its_place) {
  sw_.fail_port("b", {errc::denied, "port b", "the device is not ours"});
  const auto done =
      running_.apply(file("ports:\n  - {name: a, devargs: x0}\n  - {name: b, devargs: x1}\n"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::denied);
  EXPECT_EQ(done.error().message(),
            "f:3: ports[1]: port b: the device is not ours; nothing was changed");
  EXPECT_TRUE(sw_.ports().empty());
  sw_.set_capacity(1);
  const auto full = running_.apply(
      file("fib:\n  static:\n    - {vlan: 1, mac: 02:00:00:00:00:01, port: a}\n"
           "    - {vlan: 1, mac: 02:00:00:00:00:02, port: a}\nports: [{name: a, devargs: x0}]"));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().where, "f:4: fib.static[1]: static entry 1 02:00:00:00:00:02");
  EXPECT_EQ(sw_.fib().entries, 0u);
  EXPECT_TRUE(sw_.ports().empty());
}

TEST_F(running_config_of_a_switch, what_cannot_be_taken_back_is_named) {
  ASSERT_TRUE(running_.apply(file("ports: [{name: a, devargs: x0}]")));
  sw_.fail_port("a", {errc::io, "port a", "the device is stuck"});
  sw_.fail_port("b", {errc::io, "port b", "no such device"});
  const auto done = running_.apply(file("ports: [{name: b, devargs: x0}]"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what,
            "no such device; what was done before could not be taken back as a whole: port a: the "
            "device is stuck");
}

// A file that disables, changes or replaces a port that the switch has shut down, and then fails.
TEST_F(running_config_of_a_switch, a_port_that_was_shut_down_is_so_again) {
  const std::string first =
      "ports: [{name: a, devargs: x0, recover_s: 60}, {name: c, devargs: x1}]";
  ASSERT_TRUE(running_.apply(file(first)));
  sw_.shut_port("a");
  sw_.fail_port("b", {errc::io, "port b", "no such device"});
  for (const char* a :
       {"{name: a, devargs: x0, enabled: false}", "{name: a, devargs: x0, mtu: 9000}",
        "{name: a, devargs: x2}", "{name: a2, devargs: x0}"}) {
    const auto done =
        running_.apply(file("ports: [" + std::string(a) + ", {name: b, devargs: x9}]"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what, "no such device; nothing was changed");
    for (const dp::port_status& port : sw_.ports()) {
      EXPECT_EQ(port.shut_down, port.config.name == "a" ? "mac_limit" : "") << a;
      EXPECT_TRUE(port.config.enabled);
    }
    EXPECT_TRUE(runs(running_, file(first)));
  }
  // One that is done as a whole has its way.
  ASSERT_TRUE(running_.apply(file("ports: [{name: a, devargs: x0, enabled: false}]")));
  EXPECT_EQ(sw_.ports()[0].shut_down, "");
}

using shut_ports = std::map<std::string, std::string>;
shut_ports shut_of(const dp::l2_switch& sw) {
  shut_ports all;
  for (const dp::port_status& port : sw.ports()) all[port.config.name] = port.shut_down;
  return all;
}

// From any configuration to any other; and whichever call the switch refuses on the way, it is as
// before.
TEST(running_config, all_or_nothing) {
  EXPECT_TRUE(rc::check([] {
    const config first = random::running(), second = random::running();
    refusing_switch sw;
    running_bridges bridges(sw);
    const fake_bridges fakes(bridges);
    running_config running(sw, bridges, {});
    RC_ASSERT(bool(running.start_bridges({})));
    RC_ASSERT(bool(running.apply(first)));
    RC_ASSERT(runs(running, first));
    for (const dp::port_config& port : first.ports)
      if (port.enabled && random::coin()) sw.shut_port(port.name);
    const shut_ports shut = shut_of(sw);
    for (int refused = 0;; refused++) {
      sw.refuse_after(refused);
      const auto done = running.apply(second);
      if (done) break;
      RC_ASSERT(sw.refused());
      RC_ASSERT(runs(running, first));
      RC_ASSERT(shut_of(sw) == shut);
    }
    sw.refuse_after(-1);
    RC_ASSERT(runs(running, second));
    RC_ASSERT(comes_back(running));
  }));
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

// The same with rules, whose calls are refused as well.
TEST(running_config, all_or_nothing_with_rules) {
  EXPECT_TRUE(rc::check([] {
    const auto with_rules = [](config c) {
      for (bridge_settings& bridge : c.bridges) {
        bridge.rules.given = true;
        for (const dp::port_config& port : c.ports) {
          if (port.bridge != bridge.name || !random::coin()) continue;
          bridge.rules.flows.push_back("priority=" + std::to_string(*rc::gen::inRange(1, 3)) +
                                       ",in_port=" + port.name + " actions=group:1");
          bridge.rules.groups = {"group_id=1,type=all,bucket=actions=output:" + port.name};
        }
      }
      return c;
    };
    const config first = with_rules(random::running()), second = with_rules(random::running());
    refusing_switch sw;
    running_bridges bridges(sw);
    fake_bridges fakes(bridges);
    std::map<std::string, switch_pipeline> pipelines;
    for (const char* name : {"br0", "br1", "br2", "br3"}) {
      const auto [at, fresh] = pipelines.try_emplace(name, sw, name);
      fakes.give(name, at->second);
    }
    switch_pipeline& rules = pipelines.at(second.bridges[0].name);
    running_config running(sw, bridges, {});
    RC_ASSERT(bool(running.start_bridges({})));
    RC_ASSERT(bool(running.apply(first)));
    RC_ASSERT(runs(running, first));
    if (running.apply(second, true)->empty()) RC_SUCCEED();
    rules.refuse_next();
    const auto by_rules = running.apply(second);
    if (rules.refused()) {
      RC_ASSERT(!by_rules);
      RC_ASSERT(runs(running, first));
    } else {
      rules.refuse_next(false);
      RC_ASSERT(bool(running.apply(first)));
    }
    for (int refused = 0;; refused++) {
      sw.refuse_after(refused);
      const auto done = running.apply(second);
      if (done) break;
      RC_ASSERT(sw.refused());
      RC_ASSERT(runs(running, first));
    }
    sw.refuse_after(-1);
    RC_ASSERT(runs(running, second));
    RC_ASSERT(comes_back(running));
  }));
}

// Two that apply and one that looks: it sees the one or the other, and never a part.
TEST(running_config, changes_do_not_mix) {
  refusing_switch sw;
  running_bridges bridges(sw);
  const fake_bridges fakes(bridges);
  running_config running(sw, bridges, {});
  ASSERT_TRUE(running.start_bridges({}));
  const config one = file("ports: [{name: a, devargs: x0, vlan: 1}, {name: b, devargs: x1}]");
  const config two = file("ports: [{name: c, devargs: x0, vlan: 2}, {name: a, devargs: x1}]");
  ASSERT_TRUE(running.apply(one));
  sw.take(std::chrono::microseconds(100));
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (const config* wanted : {&one, &two})
    threads.emplace_back([&, wanted] {
      for (int i = 0; i < 50; i++) failures += !running.apply(*wanted);
    });
  std::thread looker([&] {
    while (!stop) {
      const auto now = running.now();
      failures += !now || (compare(*now, one).any() && compare(*now, two).any());
    }
  });
  for (auto& thread : threads) thread.join();
  stop = true;
  looker.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace coua::ctl
