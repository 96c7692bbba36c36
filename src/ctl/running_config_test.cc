// SPDX-License-Identifier: Apache-2.0
//
// Changes by difference of ports, entries and settings.
#include <gtest/gtest.h>

#include <string>

#include "ctl/test_running_config.h"

namespace coua::ctl {
namespace {

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
  // What counts from 0 again is said: c, which the file does not have, and a port that is replaced.
  const std::pair<const char*, const char*> cases[] = {
      {"{name: a, devargs: x0, enabled: false}", "port c"},
      {"{name: a, devargs: x0, mtu: 9000}", "port c"},
      {"{name: a, devargs: x2}", "port c, port a"},
      {"{name: a2, devargs: x0}", "port a, port c"}};
  for (const auto& [a, anew] : cases) {
    const auto done =
        running_.apply(file("ports: [" + std::string(a) + ", {name: b, devargs: x9}]"));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().what,
              "no such device; nothing was changed, but came back anew: " + std::string(anew));
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

}  // namespace
}  // namespace coua::ctl
