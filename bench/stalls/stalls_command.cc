// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/stalls_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/log.h"
#include "bench/forward/bench_switch.h"
#include "bench/forward/l2_bed.h"
#include "bench/harness/progress.h"
#include "bench/harness/scratch_folder.h"
#include "bench/harness/stats.h"
#include "bench/stalls/config_change.h"
#include "bench/stalls/control_actions.h"
#include "bench/stalls/poll_watch.h"
#include "bench/traffic/l2_traffic.h"
#include "dp/bench_hooks.h"
#include "net/pcap_file.h"

namespace coua::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t most_flows = 100'000;
constexpr std::uint64_t spare_mib = 256;  // for ports that come, and their packets
// After an action that has answered: a worker may still take what it made.
constexpr milliseconds aftermath{5};

/// One broadcast, for a port to bring again and again.
result<void> write_storm(const std::string& file) {
  auto writer = net::pcap_writer::create(file);
  if (!writer) return tl::unexpected(writer.error());
  std::vector<std::uint8_t> frame(60);
  std::fill_n(frame.begin(), 6, 0xff);
  frame[6] = 0x02;  // from a station
  if (result<void> done = writer->write(0, frame); !done) return done;
  return writer->close();
}

class bed {
 public:
  static result<std::unique_ptr<bed>> create(const stalls_options& asked, const std::string& place,
                                             progress& shown) {
    const l2_traffic traffic{asked.entries, std::min(asked.entries, most_flows), 1, 64, 1};
    if (result<void> good = check_traffic(traffic); !good) return tl::unexpected(good.error());
    shown.step("writing packets");
    const std::string file = place + "/packets.pcap";
    if (result<void> made = write_packets(traffic, file); !made)
      return tl::unexpected(made.error());
    forward_options options;
    options.feed = packet_feed::pcap;
    options.mbuf_bytes = 1024;
    const port_plan ports = plan_ports({file, traffic.flows, frame_bytes(traffic)}, 0, options);
    dp::switch_config config;
    config.fib_entries = asked.entries + asked.batch + 1000;
    config.bridges[0].pipeline.rules_max = std::max<std::uint64_t>(asked.rules + 100, 1000);
    auto device =
        bench_switch::create(config, ports, options, {2 * ports.memory_mib + spare_mib, false});
    if (!device) return tl::unexpected(device.error());
    std::unique_ptr<bed> made(new bed);
    made->switch_ = std::move(*device);
    made->core_ = made->device().workers().front().core;
    if (result<void> added = made->add_ports(ports, place); !added)
      return tl::unexpected(added.error());
    shown.step("loading addresses");
    if (result<void> loaded = load_addresses(made->device(), traffic, 0); !loaded)
      return tl::unexpected(loaded.error());
    auto watch = poll_watch::create(device_of(ports.in), made->worker());
    if (!watch) return tl::unexpected(watch.error());
    made->watch_ = std::move(*watch);
    dp::set_paused(made->device(), false);
    return made;
  }

  ~bed() {
    switch_.reset();  // the hook goes with its port
  }

  dp::l2_switch& device() { return switch_->device(); }
  const stalls_ports& ports() const { return ports_; }
  poll_watch& watch() { return *watch_; }
  pid_t worker() const { return switch_->workers().front(); }
  unsigned core() const { return core_; }

 private:
  bed() = default;

  result<void> add_ports(const port_plan& plan, const std::string& place) {
    const std::string storm = place + "/storm.pcap";
    if (result<void> made = write_storm(storm); !made) return made;
    dp::port_config port;
    port.mtu = 500;
    dp::port_config out = port;
    out.name = "out";
    out.devargs = plan.out;
    ports_.in = ports_.bystander = ports_.bond = ports_.stormy = port;
    ports_.in.name = "in";
    ports_.in.devargs = plan.in;
    ports_.bystander.name = "bystander";
    ports_.bystander.devargs = "net_null997,no-rx=1";
    ports_.bond.name = "bond";
    ports_.bond.bond.members = {"net_null995,no-rx=1", "net_null994,no-rx=1"};
    ports_.stormy.name = "stormy";
    ports_.stormy.devargs = "net_pcap996,rx_pcap=" + storm + ",infinite_rx=1";
    ports_.stormy.enabled = false;
    ports_.stormy.storm.broadcast = 1000;
    ports_.stormy.storm.action = dp::storm_action::shutdown;
    for (const auto& each : {out, ports_.in, ports_.bystander, ports_.bond, ports_.stormy})
      if (const auto added = switch_->add_port(each); !added) return tl::unexpected(added.error());
    return {};
  }

  std::unique_ptr<poll_watch> watch_;
  std::unique_ptr<bench_switch> switch_;
  stalls_ports ports_;
  unsigned core_ = 0;  // of the worker
};

/// For how long a thread was ready to run and had no CPU, since it started: others were on it.
double cpu_wait_s(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
  double ran_ns = 0, waited_ns = 0;
  file >> ran_ns >> waited_ns;
  return 1e-9 * waited_ns;
}

/// For how long a hypervisor ran something else on a CPU since the system started, in ticks of 10
/// ms; 0 where it does not say.
double stolen_s(unsigned cpu) {
  std::ifstream file("/proc/stat");
  const std::string wanted = "cpu" + std::to_string(cpu);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    double ticks = 0;
    words >> name;
    if (name != wanted) continue;
    constexpr int steal = 8;  // proc(5): the eighth of its numbers
    for (int i = 0; i < steal; ++i) words >> ticks;
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return 0;
}

/// Who asks for a change is not where the worker is, in couad neither, as far as there are others.
class away_from_worker {
 public:
  explicit away_from_worker(unsigned core) {
    std::vector<unsigned> others = before_;
    std::erase(others, core);
    if (!others.empty()) static_cast<void>(pin_this_thread(others));
  }
  ~away_from_worker() { static_cast<void>(pin_this_thread(before_)); }
  away_from_worker(const away_from_worker&) = delete;
  away_from_worker& operator=(const away_from_worker&) = delete;

 private:
  const std::vector<unsigned> before_ = allowed_cpus();
};

struct measured {
  std::vector<double> gaps_s, own_s, waits_s, stolen_s, took_s;
};

result<void> measure(bed& on, const control_action& action, measured& to) {
  std::this_thread::sleep_for(aftermath);
  on.watch().begin();
  const double waited = cpu_wait_s(on.worker()), stolen = stolen_s(on.core());
  const std::uint64_t start = now_ns();
  if (result<void> gone = action.go(); !gone) return gone;
  to.took_s.push_back(1e-9 * static_cast<double>(now_ns() - start));
  std::this_thread::sleep_for(aftermath);
  const poll_watch::gaps gaps = on.watch().end();
  to.gaps_s.push_back(gaps.longest);
  to.own_s.push_back(gaps.own);
  to.waits_s.push_back(cpu_wait_s(on.worker()) - waited);
  to.stolen_s.push_back(stolen_s(on.core()) - stolen);
  return action.back();
}

}  // namespace

result<report> run_stalls(const stalls_options& asked) {
  progress shown("stalls");
  report out;
  out.bench = "stalls";
  out.params = {{"entries", asked.entries},
                {"batch", asked.batch},
                {"rules", asked.rules},
                {"repetitions", asked.run.repetitions}};
  auto files = scratch_folder::create();
  if (!files) return tl::unexpected(files.error());
  set_log_level(log_level::error);  // ports come and go, and one is shut down again and again
  auto made = bed::create(asked, (*files)->path(), shown);
  if (!made) return tl::unexpected(made.error());
  bed& on = **made;
  const away_from_worker away(on.core());
  auto change = config_change::create(on.device(), on.ports(), asked.entries + 1, asked);
  if (!change) return tl::unexpected(change.error());
  std::vector<control_action> actions =
      control_actions(on.device(), on.ports(), asked.entries + 1, asked, **change);
  for (const std::string& wanted : asked.only)
    if (std::ranges::find(actions, wanted, &control_action::name) == actions.end())
      return fail(errc::invalid, "--only " + wanted, "there is no such action");
  std::erase_if(actions, [&](const control_action& each) {
    return !asked.only.empty() && std::ranges::find(asked.only, each.name) == asked.only.end();
  });
  std::vector<measured> all(actions.size());
  for (unsigned turn = 0; turn < asked.run.repetitions; ++turn) {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      shown.step(actions[i].name);
      if (result<void> done = measure(on, actions[i], all[i]); !done)
        return fail(done.error().code, actions[i].name + ": " + done.error().where,
                    done.error().what);
    }
  }
  for (std::size_t i = 0; i < actions.size(); ++i) {
    row one;
    one.name = actions[i].name;
    const std::vector<double>& gaps = all[i].gaps_s;
    one.more["gap_us"] = 1e6 * median(gaps);
    const auto longest = std::max_element(gaps.begin(), gaps.end()) - gaps.begin();
    one.more["longest_gap_us"] = 1e6 * gaps[static_cast<std::size_t>(longest)];
    one.more["cpu_wait_us"] = 1e6 * all[i].waits_s[static_cast<std::size_t>(longest)];
    const auto own = std::max_element(all[i].own_s.begin(), all[i].own_s.end());
    one.more["longest_own_us"] = 1e6 * *own;
    one.more["stolen_ms"] =
        1e3 * all[i].stolen_s[static_cast<std::size_t>(own - all[i].own_s.begin())];
    one.more["action_ms"] = 1e3 * median(all[i].took_s);
    out.rows.push_back(std::move(one));
  }
  return out;
}

}  // namespace coua::bench
