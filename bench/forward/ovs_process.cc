// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/ovs_process.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/size.h"
#include "bench/forward/ovs_daemon.h"
#include "bench/forward/ovs_text.h"
#include "bench/forward/preload.h"
#include "bench/forward/worker_cores.h"
#include "bench/harness/cpu_time.h"
#include "bench/harness/crew.h"

namespace coua::bench {
namespace {

constexpr const char* package = "openvswitch-switch-dpdk";
constexpr const char* schema = "/usr/share/openvswitch/vswitch.ovsschema";
constexpr double tool_seconds = 60;
constexpr double rules_seconds = 600;
constexpr double start_seconds = 60;
constexpr std::uint64_t shared_pool = 262'144;  // packets of the pool that all ports share
constexpr std::uint64_t spare = 12'000;         // in queues, caches and flight
constexpr std::uint64_t own_mib = 300;          // of its flows and rules, roughly
constexpr std::uint64_t packet_bytes = 4'096;   // 3,008 at an MTU of 1,500; no small page has two
constexpr const char* flows_most = "2000000";   // of the datapath; it has 200,000 by itself

/// Until `maker` has made it.
result<void> wait_for_file(const std::string& path, foreign_program& maker,
                           const std::string& name) {
  const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(start_seconds * 1e9);
  while (!std::filesystem::exists(path)) {
    if (now_ns() > end || maker.has_ended()) return fail(errc::io, name, "does not start");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

/// What a program is started by. The bridge and the datapath are devices of the system as well, of
/// the same name in every Open vSwitch: there would be one at a time, and none beside that of the
/// machine.
word_list network_of_its_own() {
  const std::string tool = find_program("unshare");
  if (tool.empty() || !run_program({tool, "--net", "true"}, {}, tool_seconds)) return {};
  return {tool, "--net"};
}

/// What its pool must have; 0: what it has by itself will do.
std::uint64_t packets_wanted(const port_plan& ports) {
  const std::uint64_t wanted = ports.buffers + spare;
  return wanted > shared_pool ? wanted : 0;
}

}  // namespace

std::uint64_t ovs_process::pool_mib(const port_plan& ports) {
  const std::uint64_t packets = std::max(shared_pool, ports.buffers + spare);
  return packets * packet_bytes / (1 << 20) + 256;
}
std::uint64_t ovs_process::memory_mib(const port_plan& ports) {
  return pool_mib(ports) + own_mib + ports.frames_mib;
}

result<std::unique_ptr<ovs_process>> ovs_process::start(const port_plan& ports,
                                                        const std::string& rules,
                                                        const std::string& folder,
                                                        ovs_caches caches, ovs_limits limits,
                                                        unsigned workers, bool huge_pages) {
  if (!std::filesystem::exists(ovs_daemon)) {
    return fail(errc::not_found, ovs_product, std::string("install Debian's package ") + package);
  }
  if (!leave_a_cpu(workers)) {
    return fail(errc::unsupported, ovs_product, "needs a CPU beside those of the workers");
  }
  // Before a database is made for nothing.
  if (auto there = preload_settings(ports, packets_wanted(ports)); !there)
    return tl::unexpected(there.error());
  std::error_code trouble;
  std::filesystem::create_directory(folder, trouble);
  if (trouble) return fail(errc::io, folder, trouble.message());
  std::unique_ptr<ovs_process> made(new ovs_process(folder));
  if (auto done = made->bring_up(ports, rules, caches, limits, workers, huge_pages); !done)
    return tl::unexpected(made->with_log(done.error()));
  return made;
}

result<void> ovs_process::bring_up(const port_plan& ports, const std::string& rules,
                                   ovs_caches caches, ovs_limits limits, unsigned workers,
                                   bool huge_pages) {
  if (auto done = start_database(); !done) return done;
  if (auto done = start_switch(ports, caches, limits, workers, huge_pages); !done) return done;
  // Rules first: what comes before them is dropped, and the datapath would remember that.
  if (auto done = set({"add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                       "fail-mode=secure"});
      !done)
    return tl::unexpected(done.error());
  if (auto done = run_program({find_program("ovs-ofctl"), "-O", "OpenFlow13", "--bundle",
                               "add-flows", "unix:" + folder_ + "/br0.mgmt", rules},
                              environment(), rules_seconds);
      !done)
    return tl::unexpected(done.error());
  return limits == ovs_limits::lifted ? lift_limits() : result<void>();
}

word_list ovs_process::environment() const {
  return {"OVS_RUNDIR=" + folder_, "OVS_DBDIR=" + folder_, "OVS_LOGDIR=" + folder_,
          "RUNTIME_DIRECTORY=" + folder_};
}

result<void> ovs_process::start_database() {
  const std::string file = folder_ + "/conf.db";
  const std::string tool = find_program("ovsdb-tool"), server = find_program("ovsdb-server");
  if (tool.empty() || server.empty()) {
    return fail(errc::not_found, ovs_product, std::string("install Debian's package ") + package);
  }
  if (auto made = run_program({tool, "create", file, schema}, environment(), tool_seconds); !made)
    return tl::unexpected(made.error());
  auto started = foreign_program::start(
      {server, file, "--remote=punix:" + folder_ + "/db.sock", "--unixctl=" + folder_ + "/db.ctl",
       "--pidfile=" + folder_ + "/db.pid", "-vconsole:off"},
      environment());
  if (!started) return tl::unexpected(started.error());
  database_ = std::move(*started);
  if (auto made = wait_for_file(folder_ + "/db.sock", *database_, server); !made) return made;
  const auto ready = set({"--no-wait", "init"});
  if (!ready) return tl::unexpected(ready.error());
  return {};
}

result<void> ovs_process::start_switch(const port_plan& ports, ovs_caches caches, ovs_limits limits,
                                       unsigned workers, bool huge_pages) {
  const std::string memory = "-m " + std::to_string(pool_mib(ports)) +
                             (huge_pages ? " --in-memory" : " --no-huge --legacy-mem");
  const word_list settings = {"dpdk-init=true", "dpdk-lcore-mask=" + mask_of({writer_cpu()}),
                              "pmd-cpu-mask=" + mask_of(worker_cores(workers)),
                              "per-port-memory=false",
                              "dpdk-extra=" + memory + " --no-pci --no-telemetry --iova-mode=va"};
  word_list words = {"--no-wait", "set", "Open_vSwitch", "."};
  for (const std::string& each : settings) words.push_back("other_config:" + each);
  if (limits == ovs_limits::lifted) {
    // It stands still between its windows: no flow goes because of that.
    words.push_back("other_config:max-idle=3600000");
    words.push_back(std::string("other_config:flow-limit=") + flows_most);
  }
  if (caches != ovs_caches::exact_match) words.push_back("other_config:emc-insert-inv-prob=0");
  if (caches == ovs_caches::signature_match) words.push_back("other_config:smc-enable=true");
  if (auto done = set(words); !done) return tl::unexpected(done.error());
  word_list run = network_of_its_own();
  run.insert(run.end(),
             {ovs_daemon, "unix:" + folder_ + "/db.sock", "--unixctl=" + folder_ + "/switch.ctl",
              "--pidfile=" + folder_ + "/switch.pid", "--log-file=" + folder_ + "/switch.log",
              "-vconsole:off"});
  word_list settings_of_process = environment();
  const auto preload = preload_settings(ports, packets_wanted(ports));
  if (!preload) return tl::unexpected(preload.error());
  settings_of_process.insert(settings_of_process.end(), preload->begin(), preload->end());
  auto started = foreign_program::start(run, settings_of_process);
  if (!started) return tl::unexpected(started.error());
  switch_ = std::move(*started);
  return wait_for_file(folder_ + "/switch.ctl", *switch_, ovs_daemon);
}

result<void> ovs_process::lift_limits() const {
  const auto lifted = ask({"upcall/set-flow-limit", flows_most});
  if (!lifted) return tl::unexpected(lifted.error());
  return {};
}

result<void> ovs_process::add_ports(const std::vector<port>& ports) {
  word_list words;
  for (const port& each : ports) {
    const word_list one = {"--",
                           "add-port",
                           "br0",
                           each.name,
                           "--",
                           "set",
                           "Interface",
                           each.name,
                           "type=dpdk",
                           "ofport_request=" + std::to_string(each.number),
                           "options:n_rxq=" + std::to_string(each.queues),
                           "options:dpdk-devargs=" + each.devargs};
    words.insert(words.end(), one.begin(), one.end());
  }
  const auto done = set(words);
  if (!done) return tl::unexpected(with_log(done.error()));
  // It ends well also when a port could not be made.
  if (done->find("Error detected") == std::string::npos) return {};
  return tl::unexpected(with_log({errc::io, *done, ovs_product}));
}

error ovs_process::with_log(error of) const {
  std::ifstream log(folder_ + "/switch.log");
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (line.find("|ERR|") != std::string::npos || line.find("|EMER|") != std::string::npos)
      last = line;
  }
  if (!last.empty()) of.what += "; its log says: " + last;
  return of;
}

result<std::string> ovs_process::ask(const word_list& words) const {
  word_list all = {find_program("ovs-appctl"), "-t", folder_ + "/switch.ctl"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, environment(), tool_seconds);
}

result<std::string> ovs_process::set(const word_list& words) const {
  word_list all = {find_program("ovs-vsctl"), "--db=unix:" + folder_ + "/db.sock", "--timeout=60"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, environment(), 2 * tool_seconds);
}

std::vector<pid_t> ovs_process::worker_threads() const {
  return threads_named(switch_->process(), "pmd-c");
}

}  // namespace coua::bench
