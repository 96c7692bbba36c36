// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/control_actions.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "bench/stalls/config_change.h"
#include "bench/traffic/l2_traffic.h"
#include "dp/pipeline/pipeline_owner.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr std::uint64_t baseline_ns = 20'000'000;
// Storms are looked for every 20 ms.
constexpr std::uint64_t shut_patience_ns = 5'000'000'000;

result<void> done(const auto& answer) {
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

result<void> run_bundle(dp::l2_switch& sw, const std::vector<operation>& bundle) {
  const auto applied = sw.pipeline({})->apply(bundle);
  if (!applied) return tl::unexpected(to_error(applied.error()));
  return {};
}

/// Rules that no packet of the benchmark meets.
std::vector<operation> rules(std::uint64_t n, rule_command command) {
  std::vector<operation> made;
  for (std::uint64_t i = 0; i < n; ++i) {
    rule_mod one;
    one.command = command;
    one.priority = static_cast<std::uint16_t>(1 + i % 1000);
    one.match = *match::make({exact(field::metadata, 1 + i)});
    made.emplace_back(std::move(one));
  }
  return made;
}

std::vector<dp::fib_entry> addresses(std::uint64_t first, std::uint64_t n, unsigned port,
                                     bool is_static) {
  std::vector<dp::fib_entry> made;
  for (std::uint64_t i = 0; i < n; ++i)
    made.push_back({2, l2_address(first + i), port, is_static, 0});
  return made;
}

using step = std::function<result<void>()>;

/// Waits until the switch has shut the port down.
result<void> wait_for_shut(dp::l2_switch& sw, const std::string& name) {
  const std::uint64_t end = now_ns() + shut_patience_ns;
  while (now_ns() < end) {
    for (const dp::port_status& port : sw.ports())
      if (port.config.name == name && !port.shut_down.empty()) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return fail(errc::io, "port " + name, "was not shut down by its storm");
}

class action_list {
 public:
  action_list(dp::l2_switch& sw, const stalls_ports& ports, std::uint64_t first,
              const stalls_options& options, config_change& change)
      : sw_(sw), ports_(ports), first_(first), options_(options), change_(change) {}

  std::vector<control_action> make() {
    add_machine();
    add_ports();
    add_bonds();
    add_storms();
    add_fib();
    add_readings();
    add_pipeline();
    add(
        "config apply", [&change = change_] { return change.go(); },
        [&change = change_] { return change.back(); });
    return std::move(made_);
  }

 private:
  void add(
      std::string name, step go, step back = [] { return result<void>(); }) {
    made_.push_back({std::move(name), std::move(go), std::move(back)});
  }
  template <typename Change>
  step updated(const dp::port_config& port, Change change) {
    dp::port_config wanted = port;
    change(wanted);
    return [&sw = sw_, wanted] { return done(sw.update_port(wanted)); };
  }
  /// A change of a port that runs, and back.
  template <typename Change>
  void add_update(std::string name, const dp::port_config& port, Change change) {
    add(std::move(name), updated(port, change), updated(port, [](dp::port_config&) {}));
  }

  void add_machine();
  void add_ports();
  void add_bonds();
  void add_storms();
  void add_fib();
  void add_readings();
  void add_pipeline();

  dp::l2_switch& sw_;
  const stalls_ports& ports_;
  const std::uint64_t first_;
  const stalls_options& options_;
  config_change& change_;
  std::vector<control_action> made_;
};

/// What the machine itself does to the worker, while its other CPUs rest and while one works.
void action_list::add_machine() {
  const auto for_a_while = [](bool busy) {
    return [busy]() -> result<void> {
      const std::uint64_t end = now_ns() + baseline_ns;
      if (!busy) std::this_thread::sleep_for(std::chrono::nanoseconds(baseline_ns));
      while (now_ns() < end) {
      }
      return {};
    };
  };
  add("nothing", for_a_while(false));
  add("another CPU busy", for_a_while(true));
}

void action_list::add_ports() {
  const dp::port_config& bystander = ports_.bystander;
  add_update("port vlan", bystander, [](dp::port_config& port) { port.native_vlan = 9; });
  add_update("port off", bystander, [](dp::port_config& port) { port.enabled = false; });
  add_update("port mtu", bystander, [](dp::port_config& port) { port.mtu = 400; });
  add_update("port limits", ports_.in, [](dp::port_config& port) {
    port.mac_limit = 1'000'000;
    port.storm.broadcast = 1000;
  });
  add_update("mirror", bystander, [](dp::port_config& port) { port.mirror.received = {"in"}; });
  dp::port_config more = bystander;
  more.name = "more";
  more.devargs = "net_null998,no-rx=1";
  add(
      "port add", [&sw = sw_, more] { return done(sw.add_port(more)); },
      [&sw = sw_] { return sw.remove_port("more"); });
  add(
      "port remove", [&sw = sw_, bystander] { return sw.remove_port(bystander.name); },
      [&sw = sw_, bystander] { return done(sw.add_port(bystander)); });
}

void action_list::add_bonds() {
  add_update("bond hash", ports_.bond,
             [](dp::port_config& port) { port.bond.hash = dp::bond_hash::l2; });
  add_update("bond mode", ports_.bond,
             [](dp::port_config& port) { port.bond.mode = dp::bond_mode::lacp; });
  add_update("bond members", ports_.bond, [](dp::port_config& port) {
    port.bond.members.erase(port.bond.members.begin());
    port.bond.members.emplace_back("net_null996,no-rx=1");
  });
}

/// The storm goes on for as long as its port is enabled.
void action_list::add_storms() {
  const step off = updated(ports_.stormy, [](dp::port_config&) {});
  const step on = updated(ports_.stormy, [](dp::port_config& port) { port.enabled = true; });
  const std::string name = ports_.stormy.name;
  const step shut = [&sw = sw_, on, name]() -> result<void> {
    if (auto enabled = on(); !enabled) return enabled;
    return wait_for_shut(sw, name);
  };
  add("storm shuts down", shut, off);
  add(
      "storm recovers",
      [&sw = sw_, shut, name]() -> result<void> {
        if (auto down = shut(); !down) return down;
        if (auto opened = sw.reopen_port(name); !opened) return opened;
        return wait_for_shut(sw, name);
      },
      off);
}

void action_list::add_fib() {
  for (const bool is_static : {true, false}) {
    const std::string what = is_static ? "fib" : "learned";
    const auto batch = std::make_shared<std::vector<dp::fib_entry>>(
        addresses(first_, options_.batch, 0, is_static));
    dp::fib_filter of_batch;
    of_batch.vlan = 2;
    of_batch.is_static = is_static;
    const auto store = [&sw = sw_, batch] { return done(sw.fib_insert(*batch)); };
    const auto remove = [&sw = sw_, of_batch] { return done(sw.fib_flush(of_batch)); };
    add(what + " store", store, remove);
    add(what + " flush", [store, remove] {
      if (auto stored = store(); !stored) return stored;
      return remove();
    });
  }
  add("fib dump",
      [&sw = sw_] { return sw.fib_dump({}, [](std::span<const dp::fib_entry>) { return true; }); });
  add(
      "fib ageing", [&sw = sw_] { return sw.set_ageing(600); },
      [&sw = sw_] { return sw.set_ageing(300); });
}

void action_list::add_readings() {
  add("stats", [&sw = sw_] {
    (void)sw.ports();
    (void)sw.totals();
    (void)sw.vlans();
    (void)sw.workers();
    return result<void>();
  });
  const std::vector<std::uint8_t> frame(60);
  add("trace", [&sw = sw_, frame] { return done(sw.trace_l2(0, frame)); });
  add("capture of all", [&sw = sw_]() -> result<void> {
    dp::capture_spec spec;
    spec.snap = 64;
    const auto one = sw.start_capture(spec);
    if (!one) return tl::unexpected(one.error());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return {};  // and it ends
  });
}

/// From the first on the bridge has rules besides NORMAL: packets go through the pipeline.
void action_list::add_pipeline() {
  const auto in = [&sw = sw_](std::vector<operation> bundle) {
    return [&sw, bundle = std::make_shared<std::vector<operation>>(std::move(bundle))] {
      return run_bundle(sw, *bundle);
    };
  };
  add("flow bundle", in(rules(options_.rules, rule_command::add)),
      in(rules(options_.rules, rule_command::remove_strict)));
  add("flow one", in(rules(1, rule_command::add)), in(rules(1, rule_command::remove_strict)));
  group_mod group;
  group.what.id = 1;
  group.what.type = group_type::all;
  group.what.buckets.resize(2);
  group_mod no_group = group;
  no_group.command = mod_command::remove;
  add("group", in({group}), in({no_group}));
  meter_mod meter;
  meter.what.id = 1;
  meter.what.bands.resize(1);
  meter.what.bands[0].rate = 1000;
  meter_mod no_meter = meter;
  no_meter.command = mod_command::remove;
  add("meter", in({meter}), in({no_meter}));
}

}  // namespace

std::vector<control_action> control_actions(dp::l2_switch& sw, const stalls_ports& ports,
                                            std::uint64_t first, const stalls_options& options,
                                            config_change& change) {
  return action_list(sw, ports, first, options, change).make();
}

}  // namespace coua::bench
