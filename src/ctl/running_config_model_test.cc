// SPDX-License-Identifier: Apache-2.0
//
// From any configuration to any other, whatever the switch refuses.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ctl/test_random_config.h"
#include "ctl/test_running_config.h"

namespace coua::ctl {
namespace {

using shut_ports = std::map<std::string, std::string>;
shut_ports shut_of(const dp::l2_switch& sw) {
  shut_ports all;
  for (const dp::port_status& port : sw.ports()) all[port.config.name] = port.shut_down;
  return all;
}

/// Goes from one to another, refused each time by another call of the switch: then all is as
/// before, and `same()`.
template <class Same>
void go_in_spite_of_refusals(refusing_switch& sw, running_config& running, const config& from,
                             const config& to, Same same) {
  for (int refused = 0;; refused++) {
    sw.refuse_after(refused);
    const auto done = running.apply(to);
    if (done) break;
    RC_ASSERT(sw.refused());
    RC_ASSERT(runs(running, from));
    RC_ASSERT(same());
  }
  sw.refuse_after(-1);
  RC_ASSERT(runs(running, to));
  RC_ASSERT(comes_back(running));
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
    go_in_spite_of_refusals(sw, running, first, second, [&] { return shut_of(sw) == shut; });
  }));
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
    running_config running(sw, bridges, {});
    RC_ASSERT(bool(running.start_bridges({})));
    RC_ASSERT(bool(running.apply(first)));
    RC_ASSERT(runs(running, first));
    if (running.apply(second, true)->empty()) RC_SUCCEED();
    for (const bridge_settings& each : second.bridges) {
      switch_pipeline& rules = pipelines.at(each.name);
      rules.refuse_next();
      const auto by_rules = running.apply(second);
      RC_ASSERT(bool(by_rules) != rules.refused());
      rules.refuse_next(false);
      RC_ASSERT(!by_rules || bool(running.apply(first)));
      RC_ASSERT(runs(running, first));
    }
    fakes.refuse_to_open(error{errc::busy, "socket", "is taken"});
    const auto by_socket = running.apply(second);
    RC_ASSERT(bool(by_socket) != fakes.has_refused());
    fakes.refuse_to_open({});
    RC_ASSERT(!by_socket || bool(running.apply(first)));
    RC_ASSERT(runs(running, first));
    go_in_spite_of_refusals(sw, running, first, second, [] { return true; });
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
