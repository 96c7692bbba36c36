// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/control_actions.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "bench/traffic/l2_traffic.h"
#include "dp/pipeline/pipeline_owner.h"

namespace coua::bench {
namespace {

using namespace pipeline;

constexpr std::uint64_t baseline_ns = 20'000'000;

result<void> done(const auto& answer) {
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

result<void> run_bundle(dp::l2_switch& sw, const std::vector<operation>& bundle) {
  const auto applied = sw.pipeline()->apply(bundle);
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

std::vector<dp::fib_entry> addresses(std::uint64_t first, std::uint64_t n, unsigned port) {
  std::vector<dp::fib_entry> made;
  for (std::uint64_t i = 0; i < n; ++i) made.push_back({2, l2_address(first + i), port, true, 0});
  return made;
}

}  // namespace

std::vector<control_action> control_actions(dp::l2_switch& sw, const dp::port_config& bystander,
                                            std::uint64_t first, const stalls_options& options) {
  std::vector<control_action> made;
  const auto nothing = [] { return result<void>(); };
  const auto add = [&](std::string name, std::function<result<void>()> go,
                       std::function<result<void>()> back) {
    made.push_back({std::move(name), std::move(go), std::move(back)});
  };

  // What the machine itself does to the worker, while its other CPUs rest and while one works.
  const auto for_a_while = [](bool busy) {
    return [busy]() -> result<void> {
      const std::uint64_t end = now_ns() + baseline_ns;
      if (!busy) std::this_thread::sleep_for(std::chrono::nanoseconds(baseline_ns));
      while (now_ns() < end) {
      }
      return {};
    };
  };
  add("nothing", for_a_while(false), nothing);
  add("another CPU busy", for_a_while(true), nothing);

  const auto updated = [&sw, bystander](auto change) {
    return [&sw, bystander, change] {
      dp::port_config wanted = bystander;
      change(wanted);
      return done(sw.update_port(wanted));
    };
  };
  const auto as_it_was = updated([](dp::port_config&) {});
  add("port vlan", updated([](dp::port_config& port) { port.native_vlan = 9; }), as_it_was);
  add("port off", updated([](dp::port_config& port) { port.enabled = false; }), as_it_was);
  add("port mtu", updated([](dp::port_config& port) { port.mtu = 400; }), as_it_was);
  dp::port_config more = bystander;
  more.name = "more";
  more.devargs = "net_null998,no-rx=1";
  add(
      "port add", [&sw, more] { return done(sw.add_port(more)); },
      [&sw] { return sw.remove_port("more"); });
  add(
      "port remove", [&sw, bystander] { return sw.remove_port(bystander.name); },
      [&sw, bystander] { return done(sw.add_port(bystander)); });

  const unsigned port = 0;
  const auto batch =
      std::make_shared<std::vector<dp::fib_entry>>(addresses(first, options.batch, port));
  dp::fib_filter of_batch;
  of_batch.vlan = 2;
  of_batch.is_static = true;
  const auto store = [&sw, batch] { return done(sw.fib_insert(*batch)); };
  const auto remove = [&sw, of_batch] { return done(sw.fib_flush(of_batch)); };
  add("fib store", store, remove);
  // Stored before, by the way back of the one above: the flush has something to do.
  add(
      "fib flush",
      [store, remove] {
        if (auto stored = store(); !stored) return stored;
        return remove();
      },
      nothing);
  add(
      "fib dump",
      [&sw] { return sw.fib_dump({}, [](std::span<const dp::fib_entry>) { return true; }); },
      nothing);
  add(
      "fib ageing", [&sw] { return sw.set_ageing(600); }, [&sw] { return sw.set_ageing(300); });
  add(
      "stats",
      [&sw] {
        (void)sw.totals();
        (void)sw.vlans();
        (void)sw.workers();
        return result<void>();
      },
      nothing);

  const auto running = std::make_shared<std::unique_ptr<dp::capture>>();
  add(
      "capture of all",
      [&sw, running]() -> result<void> {
        dp::capture_spec spec;
        spec.snap = 64;
        auto one = sw.start_capture(spec);
        if (!one) return tl::unexpected(one.error());
        *running = std::move(*one);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        running->reset();
        return {};
      },
      nothing);

  // From here on the bridge has rules besides NORMAL: packets go through the pipeline.
  const auto in = [&sw](std::vector<operation> bundle) {
    return [&sw, bundle = std::make_shared<std::vector<operation>>(std::move(bundle))] {
      return run_bundle(sw, *bundle);
    };
  };
  add("flow bundle", in(rules(options.rules, rule_command::add)),
      in(rules(options.rules, rule_command::remove_strict)));
  add("flow one", in(rules(1, rule_command::add)), in(rules(1, rule_command::remove_strict)));
  group_mod group;
  group.what.id = 1;
  group.what.type = group_type::all;
  group.what.buckets.resize(2);
  group_mod no_group = group;
  no_group.command = mod_command::remove;
  add("group", in({group}), in({no_group}));
  return made;
}

}  // namespace coua::bench
