// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/l2_bed.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "dp/bench_hooks.h"

namespace coua::bench {
namespace {

constexpr std::size_t load_entries = 65536;
constexpr const char* in_name = "in";
constexpr const char* out_name = "out";

}  // namespace

result<void> load_addresses(dp::l2_switch& to, const l2_traffic& traffic, unsigned port) {
  std::vector<dp::fib_entry> entries;
  for (std::uint64_t i = 0; i < traffic.rules;) {
    entries.clear();
    for (; i < traffic.rules && entries.size() < load_entries; ++i) {
      entries.push_back({traffic.vlan, l2_address(i), port, true, 0});
    }
    if (const auto done = to.fib_insert(entries); !done) return tl::unexpected(done.error());
  }
  return {};
}

result<std::unique_ptr<l2_bed>> l2_bed::create(const l2_traffic& traffic, const port_plan& ports,
                                               const forward_options& options,
                                               const packet_memory& memory) {
  std::unique_ptr<l2_bed> made(new l2_bed(traffic));
  dp::switch_config config;
  config.fib_entries = traffic.rules + traffic.sources;
  auto device = bench_switch::create(config, ports, options, memory);
  if (!device) return tl::unexpected(device.error());
  made->switch_ = std::move(*device);

  dp::port_config port;
  port.name = out_name;
  port.devargs = ports.out;
  port.native_vlan = traffic.vlan;
  port.mtu = std::max(68U, frame_bytes(traffic));
  const result<unsigned> out = made->switch_->add_port(port);
  if (!out) return tl::unexpected(out.error());
  made->out_ = *out;
  port.name = in_name;
  if (const auto in = made->switch_->add_source(port, ports); !in)
    return tl::unexpected(in.error());
  made->switching_ = made->switch_->make_mover(worker_mode::switching);
  made->raw_ = made->switch_->make_mover(worker_mode::raw);
  if (result<void> done = load_addresses(made->device(), traffic, made->out_); !done)
    return tl::unexpected(done.error());
  if (result<void> done = made->settle(); !done) return tl::unexpected(done.error());
  return made;
}

l2_bed::~l2_bed() = default;

/// Lets the switch learn the sources before anything is counted.
result<void> l2_bed::settle() {
  const std::uint64_t wanted = std::min(traffic_.sources, traffic_.flows);
  const std::uint64_t deadline = now_ns() + 20'000'000'000;
  dp::set_paused(device(), false);
  std::uint64_t known = 0;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    known = device().fib().entries - device().fib().statics;
  } while (known < wanted && now_ns() < deadline);
  dp::set_paused(device(), true);
  if (known >= wanted) return {};
  return fail(
      errc::io, "coua",
      "learned " + std::to_string(known) + " of " + std::to_string(wanted) + " sources in 20 s");
}

void l2_bed::set_churning(bool on) { switching_->allow_floods(on); }

double l2_bed::bytes_per_entry() const {
  const dp::fib_status fib = switch_->device().fib();
  return static_cast<double>(fib.bytes) / static_cast<double>(traffic_.rules);
}

}  // namespace coua::bench
