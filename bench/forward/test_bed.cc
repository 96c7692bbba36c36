// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/test_bed.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "bench/forward/worker_cores.h"
#include "dp/bench_hooks.h"

namespace coua::bench {
namespace {

constexpr std::size_t load_entries = 65536;
constexpr const char* in_name = "in";
constexpr const char* out_name = "out";

// Beside the packets of the source: what rings, caches and bursts of the workers hold.
constexpr std::uint64_t buffers_in_flight = 8192;
constexpr std::uint64_t buffer_overhead = 128 + 128 + 128;  // rte_mbuf, headroom, pool's own

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
  const std::vector<pid_t> before = threads_of_workers();
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
  const std::vector<std::string> names = {out_name, in_name};
  made->switching_ =
      std::make_unique<worker_mover>(*made->switch_, names, *workers, worker_mode::switching);
  made->raw_ = std::make_unique<worker_mover>(*made->switch_, names, *workers, worker_mode::raw);
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

void test_bed::set_churning(bool on) { switching_->allow_floods(on); }

double test_bed::bytes_per_entry() const {
  const dp::fib_status fib = switch_->fib();
  return static_cast<double>(fib.bytes) / static_cast<double>(traffic_.rules);
}

}  // namespace coua::bench
