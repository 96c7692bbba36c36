// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/bench_switch.h"

#include <algorithm>

#include "bench/forward/worker_cores.h"
#include "bench/harness/leftovers.h"
#include "dp/bench_hooks.h"
#include "dp/eal.h"

namespace coua::bench {
namespace {

// Beside the packets of the source: what rings, caches and bursts of the workers hold.
constexpr std::uint64_t buffers_in_flight = 8192;
constexpr std::uint64_t buffer_overhead = 128 + 128 + 128;  // rte_mbuf, headroom, pool's own

dp::eal_params eal_of(const forward_options& options, const packet_memory& memory) {
  dp::eal_params eal;
  eal.memory_mib = static_cast<unsigned>(memory.mib);
  eal.huge_pages = memory.huge_pages;
  eal.cores = worker_cores(options.workers);
  return eal;
}

}  // namespace

std::string device_of(const std::string& devargs) { return devargs.substr(0, devargs.find(',')); }

port_plan plan_ports(const packet_source& source, unsigned serial, const forward_options& options) {
  const unsigned workers = options.workers;
  const std::string number = std::to_string(serial);
  const auto room = static_cast<unsigned>(frame_loop::room_for(source.frame_bytes));
  port_plan out;
  std::uint64_t held = 0, ring_bytes = 0;  // packets of the source, and where it notes them
  if (options.feed == packet_feed::memory) {
    out.in = "net_null" + number + "from,size=" + std::to_string(source.frame_bytes);
    out.frames = source.file;
    out.frames_mib = source.packets * room / (1 << 20) + 1;
  } else {
    out.in = "net_pcap" + number;
    for (unsigned i = 0; i < workers; ++i) out.in += ",rx_pcap=" + source.file;
    out.in += ",infinite_rx=1";
    held = source.packets * workers;
    ring_bytes = 32 * held;
  }
  out.out = "net_null" + number + ",no-rx=1,copy=0";
  out.buffers = static_cast<unsigned>(held + buffers_in_flight * workers);
  out.buffer_bytes = options.mbuf_bytes != 0 ? options.mbuf_bytes : room;
  // The second port has a pool too, for packets that it never receives.
  const std::uint64_t each = out.buffer_bytes + buffer_overhead;
  out.memory_mib = (2 * (out.buffers * each) + ring_bytes) / (1 << 20) + 64;
  return out;
}

result<void> start_eal_for(const forward_options& options, const packet_memory& memory) {
  // Whoever starts it first, it is here: until it runs it has a folder that a signal must not leave
  // behind, and the switch, which would start it without the lock, finds it running.
  const leftovers::locked until_done;
  const auto running = dp::start_eal(eal_of(options, memory));
  if (!running) return tl::unexpected(running.error());
  return {};
}

result<std::unique_ptr<bench_switch>> bench_switch::create(dp::switch_config config,
                                                           const port_plan& ports,
                                                           const forward_options& options,
                                                           const packet_memory& memory) {
  std::unique_ptr<bench_switch> made(new bench_switch);
  const dp::eal_params eal = eal_of(options, memory);
  if (auto running = start_eal_for(options, memory); !running)
    return tl::unexpected(running.error());
  // Where nobody else needs its CPU, no packet waits for a worker to wake up.
  config.idle =
      options.measure == forward_measure::latency ? dp::idle_mode::spin : dp::idle_mode::sleep;
  config.burst = options.burst;
  config.mbufs = ports.buffers;
  config.mbuf_bytes = ports.buffer_bytes;
  const std::vector<pid_t> before = threads_of_workers();
  auto device = dp::l2_switch::create(eal, config);
  if (!device) return tl::unexpected(device.error());
  made->device_ = std::move(*device);
  dp::set_paused(*made->device_, true);
  auto workers = new_workers(before, options.workers);
  if (!workers) return tl::unexpected(workers.error());
  made->workers_ = std::move(*workers);
  return made;
}

bench_switch::~bench_switch() {
  if (device_ != nullptr) dp::set_paused(*device_, true);
}

result<unsigned> bench_switch::add_port(const dp::port_config& config) {
  ports_.push_back(config.name);
  return device_->add_port(config);
}

result<unsigned> bench_switch::add_source(dp::port_config config, const port_plan& ports) {
  config.devargs = ports.in;
  auto number = add_port(config);
  if (!number || ports.frames.empty()) return number;
  auto frames = frame_loop::start(device_of(ports.in), ports.frames);
  if (!frames) return tl::unexpected(frames.error());
  frames_ = std::move(*frames);
  return number;
}

std::unique_ptr<worker_mover> bench_switch::make_mover(worker_mode mode) const {
  return std::make_unique<worker_mover>(*device_, ports_, workers_, mode);
}

}  // namespace coua::bench
