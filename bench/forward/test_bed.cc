// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/test_bed.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <thread>

#include "base/clock.h"
#include "bench/forward/worker_cores.h"
#include "bench/harness/cpu_time.h"
#include "dp/bench_hooks.h"

namespace coua::bench {
namespace {

constexpr auto start_time = std::chrono::milliseconds(10);  // until a window's rate is steady
constexpr std::size_t load_entries = 65536;
constexpr const char* worker_name = "coua-worker";
constexpr const char* in_name = "in";
constexpr const char* out_name = "out";

// Beside the packets of the source: what rings, caches and bursts of the workers hold.
constexpr std::uint64_t buffers_in_flight = 8192;
constexpr std::uint64_t buffer_overhead = 128 + 128 + 128;  // rte_mbuf, headroom, pool's own

std::map<std::string, std::uint64_t> counts_of(const dp::l2_switch& device, const char* port) {
  std::map<std::string, std::uint64_t> out;
  if (const auto counters = device.port_counters(port)) {
    for (const dp::counter& each : *counters) out[each.name] = each.value;
  }
  return out;
}

/// The threads of a switch that was just made: those that were not there before.
result<std::vector<pid_t>> new_workers(const std::vector<pid_t>& before, unsigned wanted) {
  std::vector<pid_t> out;
  // A thread names itself once it runs.
  for (const std::uint64_t deadline = now_ns() + 5'000'000'000; now_ns() < deadline;) {
    const std::vector<pid_t> now = threads_named(getpid(), worker_name);
    out.clear();
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::back_inserter(out));
    if (out.size() == wanted) return out;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return fail(errc::io, "coua",
              "found " + std::to_string(out.size()) + " of its " + std::to_string(wanted) +
                  " worker threads");
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

port_plan plan_ports(const l2_traffic& traffic, const std::string& packets, unsigned serial,
                     unsigned workers, unsigned mbuf_bytes) {
  port_plan out;
  const std::string number = std::to_string(serial);
  out.in = "net_pcap" + number;
  for (unsigned i = 0; i < workers; ++i) out.in += ",rx_pcap=" + packets;
  out.in += ",infinite_rx=1";
  out.out = "net_null" + number + ",no-rx=1,copy=0";
  out.buffers = static_cast<unsigned>(traffic.flows * workers + buffers_in_flight * workers);
  out.buffer_bytes =
      mbuf_bytes != 0 ? mbuf_bytes : static_cast<unsigned>(round_up(frame_bytes(traffic), 64));
  // The second port has a pool too, for packets that it never receives; rings hold the source.
  const std::uint64_t each = out.buffer_bytes + buffer_overhead;
  const std::uint64_t bytes = 2 * (out.buffers * each) + 32 * traffic.flows * workers;
  out.memory_mib = bytes / (1 << 20) + 64;
  return out;
}

/// Wakes the workers, in one of their two modes, and counts what leaves the second port.
class test_bed::worker_mover final : public mover {
 public:
  worker_mover(dp::l2_switch& device, const std::vector<pid_t>& workers, bool raw)
      : device_(device), workers_(workers), raw_(raw) {}
  std::string name() const override { return raw_ ? "raw-io" : "coua"; }

  result<double> run(double seconds) override {
    dp::set_raw_io(device_, raw_);
    dp::set_paused(device_, false);
    std::this_thread::sleep_for(start_time);
    const auto in_before = counts_of(device_, in_name);
    const std::uint64_t before = sent();
    const std::uint64_t start = threads_cpu_ns(workers_);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const std::uint64_t after = sent();
    const std::uint64_t end = threads_cpu_ns(workers_);
    dp::set_paused(device_, true);
    const result<void> clean = raw_ ? result<void>() : check(in_before);
    if (!clean) return tl::unexpected(clean.error());
    return 1e3 * static_cast<double>(after - before) * static_cast<double>(workers_.size()) /
           static_cast<double>(end - start);
  }

 private:
  std::uint64_t sent() const { return counts_of(device_, out_name)["tx_packets"]; }

  result<void> check(const std::map<std::string, std::uint64_t>& before) const {
    for (const auto& [name, now] : counts_of(device_, in_name)) {
      const auto was = before.find(name);
      const std::uint64_t more = now - (was == before.end() ? 0 : was->second);
      const bool wrong = (name == "flooded" && !floods_) || name.starts_with("drop_");
      if (!wrong || more == 0) continue;
      return fail(errc::io, "coua", std::to_string(more) + " packets were counted as " + name);
    }
    return {};
  }

  dp::l2_switch& device_;
  std::vector<pid_t> workers_;
  bool raw_;
  bool floods_ = false;  // destinations come and go
  friend class test_bed;
};

result<std::unique_ptr<test_bed>> test_bed::create(const l2_traffic& traffic,
                                                   const port_plan& ports,
                                                   const forward_options& options,
                                                   const packet_memory& memory) {
  std::unique_ptr<test_bed> made(new test_bed(traffic));
  dp::eal_params eal;
  eal.memory_mib = static_cast<unsigned>(memory.mib);
  eal.huge_pages = memory.huge_pages;
  eal.cores = worker_cores(options.workers);
  dp::switch_config config;
  config.fib_entries = traffic.rules + traffic.sources;
  config.idle = dp::idle_mode::sleep;
  config.burst = options.burst;
  config.mbufs = ports.buffers;
  config.mbuf_bytes = ports.buffer_bytes;
  const std::vector<pid_t> before = threads_named(getpid(), worker_name);
  auto device = dp::l2_switch::create(eal, config);
  if (!device) return tl::unexpected(device.error());
  made->switch_ = std::move(*device);
  dp::set_paused(*made->switch_, true);

  dp::port_config port;
  port.name = out_name;
  port.devargs = ports.out;
  port.native_vlan = traffic.vlan;
  port.mtu = std::max(68U, frame_bytes(traffic));
  const result<unsigned> out = made->switch_->add_port(port);
  if (!out) return tl::unexpected(out.error());
  made->out_ = *out;
  port.name = in_name;
  port.devargs = ports.in;
  if (const auto in = made->switch_->add_port(port); !in) return tl::unexpected(in.error());
  const result<std::vector<pid_t>> workers = new_workers(before, options.workers);
  if (!workers) return tl::unexpected(workers.error());
  made->switching_ = std::make_unique<worker_mover>(*made->switch_, *workers, false);
  made->raw_ = std::make_unique<worker_mover>(*made->switch_, *workers, true);
  if (result<void> done = made->load_fib(); !done) return tl::unexpected(done.error());
  if (result<void> done = made->settle(); !done) return tl::unexpected(done.error());
  return made;
}

test_bed::~test_bed() = default;

result<void> test_bed::load_fib() {
  std::vector<dp::fib_entry> entries;
  for (std::uint64_t i = 0; i < traffic_.rules;) {
    entries.clear();
    for (; i < traffic_.rules && entries.size() < load_entries; ++i) {
      entries.push_back({traffic_.vlan, l2_address(i), out_, true, 0});
    }
    if (const auto done = switch_->fib_insert(entries); !done) return tl::unexpected(done.error());
  }
  return {};
}

/// Lets the switch learn the sources before anything is counted.
result<void> test_bed::settle() {
  const std::uint64_t wanted = std::min(traffic_.sources, traffic_.flows);
  const std::uint64_t deadline = now_ns() + 20'000'000'000;
  dp::set_paused(*switch_, false);
  std::uint64_t known = 0;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    known = switch_->fib().entries - switch_->fib().statics;
  } while (known < wanted && now_ns() < deadline);
  dp::set_paused(*switch_, true);
  if (known >= wanted) return {};
  return fail(
      errc::io, "coua",
      "learned " + std::to_string(known) + " of " + std::to_string(wanted) + " sources in 20 s");
}

void test_bed::set_churning(bool on) { static_cast<worker_mover&>(*switching_).floods_ = on; }

double test_bed::bytes_per_entry() const {
  const dp::fib_status fib = switch_->fib();
  return static_cast<double>(fib.bytes) / static_cast<double>(traffic_.rules);
}

}  // namespace coua::bench
