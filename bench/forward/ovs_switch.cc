// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/ovs_switch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/size.h"
#include "bench/forward/ovs_text.h"
#include "bench/forward/worker_cores.h"
#include "bench/harness/cpu_time.h"
#include "bench/harness/crew.h"

namespace coua::bench {
namespace {

constexpr const char* product = "Open vSwitch with DPDK";
constexpr const char* package = "openvswitch-switch-dpdk";
// Debian chooses between its two builds by an alternative; this is the one with DPDK.
constexpr const char* daemon = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk";
constexpr const char* schema = "/usr/share/openvswitch/vswitch.ovsschema";
constexpr double answer_seconds = 60;
constexpr double rules_seconds = 600;
constexpr double start_seconds = 60;
constexpr double settle_seconds = 60;
constexpr double settle_flows = 10'000;  // that it learns in a second, at the least
constexpr auto glance = std::chrono::milliseconds(500);
constexpr double quiet_share = 1e-5;  // of packets that miss, when all flows are known
// A pool for each port has 2,048 packets for each queue and 16,384; the one that ports share has
// 262,144.
constexpr std::uint64_t own_pool = 16'384, shared_pool = 262'144;
constexpr std::uint64_t spare = 12'000;        // in queues, caches and flight
constexpr std::uint64_t own_mib = 300;         // of its flows and rules, roughly
constexpr std::uint64_t packet_bytes = 4'096;  // 3,008 at an MTU of 1,500; no small page has two
constexpr std::uint64_t between_answers = 200'000;  // packets, of a tenth of a second
constexpr std::uint64_t most_listed = 20'000;       // megaflows; more take seconds
constexpr const char* flows_most = "2000000";       // of the datapath; it has 200,000 by itself

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
  if (tool.empty() || !run_program({tool, "--net", "true"}, {}, answer_seconds)) return {};
  return {tool, "--net"};
}

/// The library that lifts the size of its pool; empty: it is not there.
std::string pool_library() {
  std::error_code trouble;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", trouble);
  const std::string path = (program.parent_path() / "bench/libovs_packets.so").string();
  return trouble || !std::filesystem::exists(path) ? std::string() : path;
}

bool shares_pool(const port_plan& ports) { return ports.buffers + spare > own_pool; }

std::uint64_t pools_mib(const port_plan& ports) {
  const std::uint64_t packets = shares_pool(ports)
                                    ? std::max<std::uint64_t>(shared_pool, ports.buffers + spare)
                                    : (2 + ports.more.size()) * 2 * own_pool;
  return packets * packet_bytes / (1 << 20) + 256;
}

}  // namespace

std::uint64_t ovs_switch::memory_mib(const port_plan& ports) { return pools_mib(ports) + own_mib; }
std::uint64_t ovs_switch::pool_mib(const port_plan& ports) { return pools_mib(ports); }

result<std::unique_ptr<ovs_switch>> ovs_switch::start(const use_case& of, const port_plan& ports,
                                                      const std::string& rules,
                                                      const std::string& folder, ovs_caches caches,
                                                      unsigned workers, bool huge_pages) {
  if (!std::filesystem::exists(daemon)) {
    return fail(errc::not_found, product, std::string("install Debian's package ") + package);
  }
  const std::vector<unsigned> cores = worker_cores(workers);
  if (std::find(cores.begin(), cores.end(), writer_cpu()) != cores.end()) {
    return fail(errc::unsupported, product, "needs a CPU beside those of the workers");
  }
  if (ports.buffers + spare > shared_pool && pool_library().empty()) {
    return fail(errc::no_room, product,
                format_count(of.params().flows) + " packets do not fit its pool of " +
                    format_count(shared_pool) +
                    ", and bench/libovs_packets.so is not beside coua-bench");
  }
  std::error_code trouble;
  std::filesystem::create_directory(folder, trouble);
  if (trouble) return fail(errc::io, folder, trouble.message());
  const std::string source = "p" + std::to_string(of.flow(0).in_port);
  std::unique_ptr<ovs_switch> made(new ovs_switch(folder, source, caches));
  if (auto done = made->bring_up(of, ports, rules, workers, huge_pages); !done)
    return tl::unexpected(made->with_log(done.error()));
  return made;
}

result<void> ovs_switch::bring_up(const use_case& of, const port_plan& ports,
                                  const std::string& rules, unsigned workers, bool huge_pages) {
  if (auto done = start_database(); !done) return done;
  if (auto done = start_switch(ports, workers, huge_pages); !done) return done;
  // Rules first: what comes before them is dropped, and the datapath would remember that.
  if (auto done = set({"add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev",
                       "fail-mode=secure"});
      !done)
    return tl::unexpected(done.error());
  if (auto done = add_rules(rules); !done) return done;
  if (auto done = add_ports(of, ports, workers); !done) return done;
  threads_ = threads_named(switch_->process(), "pmd-c");
  if (threads_.size() != workers) return fail(errc::io, product, "its workers are not found");
  return settle(of.params().flows);
}

ovs_switch::~ovs_switch() = default;

std::string ovs_switch::name() const {
  switch (caches_) {
    case ovs_caches::exact_match: return "ovs";
    case ovs_caches::signature_match: return "ovs/smc";
    case ovs_caches::none: return "ovs/none";
  }
  return "ovs";
}

word_list ovs_switch::environment() const {
  return {"OVS_RUNDIR=" + folder_, "OVS_DBDIR=" + folder_, "OVS_LOGDIR=" + folder_,
          "RUNTIME_DIRECTORY=" + folder_};
}

result<void> ovs_switch::start_database() {
  const std::string file = folder_ + "/conf.db";
  const std::string tool = find_program("ovsdb-tool"), server = find_program("ovsdb-server");
  if (tool.empty() || server.empty()) {
    return fail(errc::not_found, product, std::string("install Debian's package ") + package);
  }
  if (auto made = run_program({tool, "create", file, schema}, environment(), answer_seconds); !made)
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

result<void> ovs_switch::start_switch(const port_plan& ports, unsigned workers, bool huge_pages) {
  const std::string memory = "-m " + std::to_string(pools_mib(ports)) +
                             (huge_pages ? " --in-memory" : " --no-huge --legacy-mem");
  const word_list settings = {
      "dpdk-init=true", "dpdk-lcore-mask=" + mask_of({writer_cpu()}),
      "pmd-cpu-mask=" + mask_of(worker_cores(workers)),
      std::string("per-port-memory=") + (shares_pool(ports) ? "false" : "true"),
      // It stands still between its windows: no flow goes because of that.
      "max-idle=3600000", std::string("flow-limit=") + flows_most,
      "dpdk-extra=" + memory + " --no-pci --no-telemetry --iova-mode=va"};
  word_list words = {"--no-wait", "set", "Open_vSwitch", "."};
  for (const std::string& each : settings) words.push_back("other_config:" + each);
  if (caches_ != ovs_caches::exact_match) words.push_back("other_config:emc-insert-inv-prob=0");
  if (caches_ == ovs_caches::signature_match) words.push_back("other_config:smc-enable=true");
  if (auto done = set(words); !done) return tl::unexpected(done.error());
  word_list run = network_of_its_own();
  run.insert(run.end(),
             {daemon, "unix:" + folder_ + "/db.sock", "--unixctl=" + folder_ + "/switch.ctl",
              "--pidfile=" + folder_ + "/switch.pid", "--log-file=" + folder_ + "/switch.log",
              "-vconsole:off"});
  word_list settings_of_process = environment();
  if (ports.buffers + spare > shared_pool) {
    settings_of_process.push_back("LD_PRELOAD=" + pool_library());
    settings_of_process.push_back("COUA_BENCH_PACKETS=" + std::to_string(ports.buffers + spare));
  }
  auto started = foreign_program::start(run, settings_of_process);
  if (!started) return tl::unexpected(started.error());
  switch_ = std::move(*started);
  return wait_for_file(folder_ + "/switch.ctl", *switch_, daemon);
}

result<void> ovs_switch::add_rules(const std::string& rules) {
  const std::string tool = find_program("ovs-ofctl");
  if (auto done = run_program({tool, "-O", "OpenFlow13", "--bundle", "add-flows",
                               "unix:" + folder_ + "/br0.mgmt", rules},
                              environment(), rules_seconds);
      !done)
    return tl::unexpected(done.error());
  const auto lifted = ask({"upcall/set-flow-limit", flows_most});
  if (!lifted) return tl::unexpected(lifted.error());
  return {};
}

result<void> ovs_switch::add_ports(const use_case& of, const port_plan& ports, unsigned workers) {
  word_list sinks = {ports.out};
  sinks.insert(sinks.end(), ports.more.begin(), ports.more.end());
  auto sink = sinks.begin();
  word_list words, last;
  for (pipeline::port_no number = 1; number <= of.n_ports(); ++number) {
    const std::string name = "p" + std::to_string(number);
    const bool is_source = name == source_;
    const word_list one = {"--",
                           "add-port",
                           "br0",
                           name,
                           "--",
                           "set",
                           "Interface",
                           name,
                           "type=dpdk",
                           "ofport_request=" + std::to_string(number),
                           "options:n_rxq=" + std::to_string(is_source ? workers : 1),
                           "options:dpdk-devargs=" + (is_source ? ports.in : *sink++)};
    // The source comes last: what it sends finds all ports.
    word_list& to = is_source ? last : words;
    to.insert(to.end(), one.begin(), one.end());
  }
  for (const word_list& each : {words, last}) {
    const auto done = set(each);
    if (!done) return tl::unexpected(done.error());
    // It ends well also when a port could not be made.
    if (done->find("Error detected") != std::string::npos) return fail(errc::io, product, *done);
  }
  return {};
}

/// The error, with what the daemon's log says of it.
error ovs_switch::with_log(error of) const {
  std::ifstream log(folder_ + "/switch.log");
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (line.find("|ERR|") != std::string::npos || line.find("|EMER|") != std::string::npos)
      last = line;
  }
  if (!last.empty()) of.what += "; its log says: " + last;
  return of;
}

/// Until no packet misses any more.
result<void> ovs_switch::settle(std::uint64_t flows) {
  counts before;
  const double patience = settle_seconds + static_cast<double>(flows) / settle_flows;
  for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(patience * 1e9);;) {
    std::this_thread::sleep_for(glance);
    const result<counts> now = read();
    if (!now) return tl::unexpected(now.error());
    const double misses =
        static_cast<double>(now->upcalls + now->failed - before.upcalls - before.failed);
    const double packets = static_cast<double>(now->packets - before.packets);
    before = *now;
    if (packets > 0 && misses <= quiet_share * packets) break;
    if (now_ns() > end) {
      return fail(errc::io, product,
                  "still misses flows after " + std::to_string(static_cast<int>(patience)) + " s");
    }
  }
  if (auto counted = count_megaflows(); !counted) return counted;
  // It went on meanwhile: what it sent by then is no packet of the first window.
  const result<counts> now = read();
  switch_->pause();
  if (!now) return tl::unexpected(now.error());
  at_start_ = last_ = *now;
  cpu_ns_ = foreign_cpu_ns(switch_->process(), threads_);
  return {};
}

result<void> ovs_switch::count_megaflows() {
  const auto shown = ask({"upcall/show"});
  if (!shown) return tl::unexpected(shown.error());
  constexpr std::string_view label = "(current ";
  const std::size_t found = shown->find(label);
  if (found == std::string::npos) return fail(errc::io, product, "does not say its megaflows");
  megaflows_ = std::strtoull(shown->c_str() + found + label.size(), nullptr, 10);
  if (megaflows_ > most_listed) return {};
  const auto flows = ask({"dpctl/dump-flows"});
  if (!flows) return tl::unexpected(flows.error());
  masks_ = count_masks(*flows);
  return {};
}

result<std::string> ovs_switch::ask(const word_list& words) const {
  word_list all = {find_program("ovs-appctl"), "-t", folder_ + "/switch.ctl"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, environment(), answer_seconds);
}

result<std::string> ovs_switch::set(word_list words) const {
  word_list all = {find_program("ovs-vsctl"), "--db=unix:" + folder_ + "/db.sock", "--timeout=60"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, environment(), 2 * answer_seconds);
}

result<ovs_switch::counts> ovs_switch::read() const {
  const auto workers = ask({"dpif-netdev/pmd-stats-show"});
  if (!workers) return tl::unexpected(workers.error());
  const auto ports = ask({"dpctl/show", "-s"});
  if (!ports) return tl::unexpected(ports.error());
  counts made;
  for (std::size_t at = workers->find("pmd thread"); at != std::string::npos;
       at = workers->find("pmd thread", at + 1)) {
    made.packets += number_behind(*workers, "packets received", at);
    made.simple += number_behind(*workers, "simple match hits", at);
    made.emc += number_behind(*workers, "emc hits", at);
    made.smc += number_behind(*workers, "smc hits", at);
    made.megaflow += number_behind(*workers, "megaflow hits", at);
    made.upcalls += number_behind(*workers, "miss with success upcall", at);
    made.failed += number_behind(*workers, "miss with failed upcall", at);
    made.masks_asked = fraction_behind(*workers, "avg. subtable lookups per megaflow hit", at);
  }
  for (std::size_t at = ports->find("(dpdk"); at != std::string::npos;
       at = ports->find("(dpdk", at + 1)) {
    const std::size_t name = ports->rfind(": ", at) + 2;
    if (ports->compare(name, at - 1 - name, source_) != 0)
      made.sent += number_behind(*ports, "TX packets", at);
  }
  return made;
}

/// From stop to stop. The packets between the question and the stop belong to the next window, of
/// this one as of the last one: so they cancel.
result<double> ovs_switch::run(double seconds) {
  switch_->go_on();
  // It halves its limit when a look at all flows seems to take long, as one does that was paused.
  const auto lifted = ask({"upcall/set-flow-limit", flows_most});
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const result<counts> now = read();
  switch_->pause();
  if (!lifted) return tl::unexpected(lifted.error());
  if (!now) return tl::unexpected(now.error());
  // Since the start: the two are not asked for at the same moment.
  const std::uint64_t received = now->packets - at_start_.packets;
  const std::uint64_t left = now->sent - at_start_.sent;
  if (left + received / 50 + between_answers < received) {
    return fail(errc::io, product,
                "sent " + std::to_string(left) + " of " + std::to_string(received) + " packets");
  }
  const std::uint64_t cpu_ns = foreign_cpu_ns(switch_->process(), threads_);
  const double rate = 1e3 * static_cast<double>(threads_.size()) *
                      static_cast<double>(now->sent - last_.sent) /
                      static_cast<double>(std::max<std::uint64_t>(1, cpu_ns - cpu_ns_));
  last_ = *now;
  cpu_ns_ = cpu_ns;
  return rate;
}

json ovs_switch::more() const {
  const double packets = static_cast<double>(last_.packets - at_start_.packets);
  if (packets <= 0) return json::object();
  const auto share = [packets](std::uint64_t now, std::uint64_t before) {
    return static_cast<double>(now - before) / packets;
  };
  json made = {
      {"emc", share(last_.emc, at_start_.emc)},
      {"smc", share(last_.smc, at_start_.smc)},
      {"simple_match", share(last_.simple, at_start_.simple)},
      {"megaflow", share(last_.megaflow, at_start_.megaflow)},
      {"upcall", share(last_.upcalls + last_.failed, at_start_.upcalls + at_start_.failed)},
      {"megaflows", megaflows_},
      {"masks_asked", last_.masks_asked}};
  if (masks_ != 0) made["megaflow_masks"] = masks_;
  return made;
}

}  // namespace coua::bench
