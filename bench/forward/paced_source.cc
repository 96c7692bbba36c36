// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/paced_source.h"

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/harness/crew.h"
#include "dp/eal.h"
#include "net/ethernet.h"
#include "net/wire.h"

namespace coua::bench {
namespace {

constexpr unsigned source_burst = 32;
constexpr unsigned pool_packets = 8191, pool_cache = 256;  // 2^n - 1 is what a pool takes best
constexpr unsigned descriptors = 1024;                     // of a ring, as the driver has it anyway
constexpr double away_seconds = 20e-6;   // between two rounds: the system ran something else
constexpr double drain_seconds = 10e-3;  // what is under way comes back
constexpr double connect_seconds = 10, hang_up_seconds = 5;
constexpr unsigned tcp_sequence_at = 20 + 4;  // behind the Ethernet header
constexpr const char* subject = "packet source";

std::string socket_of(const memif_wires& wires, pipeline::port_no number) {
  return wires.folder + "/memif" + std::to_string(wires.serial) + "-" + std::to_string(number);
}

std::string name_of(const memif_wires& wires, pipeline::port_no number, const char* side) {
  return std::string("net_memif_") + side + std::to_string(wires.serial) + "_" +
         std::to_string(number);
}

std::string arguments(const memif_wires& wires, pipeline::port_no number, const char* role) {
  return std::string("role=") + role + ",id=" + std::to_string(number) +
         ",socket=" + socket_of(wires, number) + ",socket-abstract=no";
}

/// As frames leave a switch, their tag may have come or gone.
std::uint64_t stamp_of(const rte_mbuf* packet) {
  const auto* bytes = rte_pktmbuf_mtod(packet, const std::uint8_t*);
  const bool tagged = net::load_be16(bytes + net::ethertype_offset) == net::ethertype_vlan;
  std::uint64_t stamp = 0;
  std::memcpy(
      &stamp,
      bytes + net::ethertype_offset + 2 + (tagged ? net::vlan_tag_bytes : 0) + tcp_sequence_at,
      sizeof stamp);
  return stamp;
}

/// Returns when the thread that the driver takes ends down in has done what it knew of before: that
/// one calls the alarms as well. What became ready before the first one is done before the second.
void settle_driver() {
  static std::atomic<unsigned> calls{0};
  for (unsigned i = 0; i < 2; ++i) {
    const unsigned before = calls;
    if (rte_eal_alarm_set(
            1, [](void*) { ++calls; }, nullptr) != 0)
      continue;
    for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(hang_up_seconds * 1e9);
         calls == before && now_ns() < end;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

bool is_up(std::uint16_t port) {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

}  // namespace

std::string switch_end(const memif_wires& wires, pipeline::port_no number) {
  return name_of(wires, number, "s") + "," + arguments(wires, number, "server");
}

result<std::unique_ptr<paced_source>> paced_source::create(const use_case& of,
                                                           const memif_wires& wires,
                                                           unsigned queues) {
  std::unique_ptr<paced_source> made(new paced_source(queues));
  made->build_frames(of);
  const std::string name = "coua_paced" + std::to_string(wires.serial);
  made->pool_ = rte_pktmbuf_pool_create(name.c_str(), pool_packets, pool_cache, 0,
                                        RTE_PKTMBUF_HEADROOM + 128, SOCKET_ID_ANY);
  if (made->pool_ == nullptr) return fail(errc::no_memory, subject, "no room for its packets");
  const pipeline::port_no source = of.flow(0).in_port;
  for (pipeline::port_no number = 1; number <= of.n_ports(); ++number) {
    if (auto done = made->open(wires, number, number == source); !done)
      return tl::unexpected(done.error());
  }
  return made;
}

paced_source::~paced_source() {
  // The driver takes the other ends down in a thread of its own, and must not meet the close of
  // either end there: both may be of this process.
  for (const std::uint16_t port : ports_) rte_eth_dev_stop(port);
  settle_driver();
  for (const std::uint16_t port : ports_) {
    rte_eth_dev_info info{};
    const bool known = rte_eth_dev_info_get(port, &info) == 0;
    rte_eth_dev_close(port);
    if (known && info.device != nullptr) rte_dev_remove(info.device);
  }
  rte_mempool_free(pool_);
}

void paced_source::switch_is_gone() {
  for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(hang_up_seconds * 1e9);
       std::any_of(ports_.begin(), ports_.end(), is_up) && now_ns() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  settle_driver();
}

void paced_source::build_frames(const use_case& of) {
  frame_bytes_ = static_cast<unsigned>(std::min<std::size_t>(of.sent_bytes(), sizeof(frame)));
  const std::uint64_t flows = of.params().flows;
  frames_.resize(flows);
  std::size_t at = 0;
  for (const std::uint32_t i : draw_order(flows, flows, of.params().seed)) {
    const case_flow flow = of.flow(i);
    write_frame(flow.sent, {frames_[at++].bytes, frame_bytes_});
    stamp_at_ = net::ethertype_offset + 2 + (flow.sent.vid != 0 ? net::vlan_tag_bytes : 0) +
                tcp_sequence_at;
  }
}

result<void> paced_source::open(const memif_wires& wires, pipeline::port_no number,
                                bool is_source) {
  const std::string name = name_of(wires, number, "c");
  const dp::eal_call step;
  const auto trouble = [&](const char* what) {
    return fail(errc::io, name, dp::eal_call::reason(what));
  };
  if (rte_eal_hotplug_add("vdev", name.c_str(), arguments(wires, number, "client").c_str()) != 0)
    return trouble("the device cannot be made");
  std::uint16_t port = 0;
  if (rte_eth_dev_get_port_by_name(name.c_str(), &port) != 0) return trouble("there is no port");
  ports_.push_back(port);
  const rte_eth_conf conf{};
  if (rte_eth_dev_configure(port, static_cast<std::uint16_t>(queues_), 1, &conf) != 0)
    return trouble("the port cannot be set up");
  for (unsigned q = 0; q < queues_; ++q) {
    if (rte_eth_rx_queue_setup(port, static_cast<std::uint16_t>(q), descriptors, SOCKET_ID_ANY,
                               nullptr, pool_) != 0)
      return trouble("no queue to receive by");
  }
  if (rte_eth_tx_queue_setup(port, 0, descriptors, SOCKET_ID_ANY, nullptr) != 0)
    return trouble("no queue to send by");
  if (rte_eth_dev_start(port) != 0) return trouble("the port does not start");
  if (is_source) {
    source_ = port;
  } else {
    sinks_.push_back(port);
  }
  for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(connect_seconds * 1e9);;) {
    if (is_up(port)) return {};
    if (now_ns() > end) return fail(errc::io, name, "the switch does not take its other end");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// What its thread does; pinned to the CPU that no worker has.
class paced_source::loop {
 public:
  explicit loop(paced_source& of) : of_(of), hz_(cycles_hz()) {}

  template <typename Work>
  void run(Work work) {
    std::thread([&] {
      (void)pin_this_thread(writer_cpu());
      name_this_thread("coua-source");
      const dp::eal_thread registration;
      work(*this);
    }).join();
  }

  double hz() const { return hz_; }
  std::uint64_t ticks(double seconds) const { return static_cast<std::uint64_t>(seconds * hz_); }

  /// Returns how many of `n` the ring took.
  unsigned send(unsigned n, bool stamped) {
    if (rte_pktmbuf_alloc_bulk(of_.pool_, batch_.data(), n) != 0) return 0;
    for (unsigned i = 0; i < n; ++i) {
      rte_mbuf* const packet = batch_[i];
      packet->data_len = static_cast<std::uint16_t>(of_.frame_bytes_);
      packet->pkt_len = of_.frame_bytes_;
      std::memcpy(rte_pktmbuf_mtod(packet, void*), of_.frames_[next_].bytes, sizeof(frame));
      if (++next_ == of_.frames_.size()) next_ = 0;
    }
    const std::uint64_t stamp = stamped ? cycles() : 0;
    for (unsigned i = 0; i < n; ++i) {
      std::memcpy(rte_pktmbuf_mtod_offset(batch_[i], void*, of_.stamp_at_), &stamp, sizeof stamp);
    }
    const std::uint16_t took =
        rte_eth_tx_burst(of_.source_, 0, batch_.data(), static_cast<std::uint16_t>(n));
    if (took < n) rte_pktmbuf_free_bulk(batch_.data() + took, n - took);
    return took;
  }

  /// Calls `each(stamp, now)` for the packets that are there.
  template <typename Each>
  void receive(Each each) {
    for (const std::uint16_t port : of_.sinks_) {
      for (unsigned q = 0; q < of_.queues_; ++q) {
        const std::uint16_t n =
            rte_eth_rx_burst(port, static_cast<std::uint16_t>(q), batch_.data(), source_burst);
        if (n == 0) continue;
        const std::uint64_t now = cycles();
        for (unsigned i = 0; i < n; ++i) each(stamp_of(batch_[i]), now);
        rte_pktmbuf_free_bulk(batch_.data(), n);
      }
    }
  }

 private:
  paced_source& of_;
  const double hz_;
  std::size_t next_ = 0;
  std::array<rte_mbuf*, source_burst> batch_{};
};

paced_source::flood_result paced_source::flood(double seconds) {
  std::uint64_t received = 0, sent = 0, refused = 0;
  double elapsed = 1;
  loop(*this).run([&](loop& self) {
    const std::uint64_t start = cycles(), end = start + self.ticks(seconds);
    std::uint64_t now = start;
    while ((now = cycles()) < end) {
      const unsigned took = self.send(source_burst, false);
      sent += took;
      refused += source_burst - took;
      self.receive([&](std::uint64_t, std::uint64_t) { ++received; });
    }
    elapsed = static_cast<double>(now - start) / self.hz();
    const std::uint64_t last = now + self.ticks(drain_seconds);
    while (cycles() < last) self.receive([](std::uint64_t, std::uint64_t) {});
  });
  const std::uint64_t tried = sent + refused;
  return {static_cast<double>(received) / elapsed / 1e6,
          tried == 0 ? 1 : static_cast<double>(refused) / static_cast<double>(tried)};
}

paced_result paced_source::pace(double mops, double seconds) {
  paced_result made;
  made.us.resize(static_cast<std::size_t>(mops * 1e6 * seconds * 1.1));
  made.us.clear();  // its pages are there now: no fault falls into a packet's time
  loop(*this).run([&](loop& self) {
    const double apart = self.hz() / (mops * 1e6), us = 1e6 / self.hz();
    const std::uint64_t away = self.ticks(away_seconds);
    const std::uint64_t start = cycles(), end = start + self.ticks(seconds);
    std::uint64_t next = 0, last = start, now = start;
    bool was_away = false;
    const auto take = [&](std::uint64_t stamp, std::uint64_t at) {
      if (stamp < start) return;  // of a flood before
      made.us.push_back(static_cast<float>(static_cast<double>(at - stamp) * us));
      made.late += was_away;
    };
    while ((now = cycles()) < end) {
      was_away = now - last > away;
      last = now;
      const auto due = static_cast<std::uint64_t>(static_cast<double>(now - start) / apart) + 1;
      if (due > next + source_burst) {
        made.skipped += due - next - source_burst;
        next = due - source_burst;
      }
      if (const auto n = static_cast<unsigned>(due - next); n != 0) {
        const unsigned took = self.send(n, true);
        made.sent += took;
        made.refused += n - took;
        next = due;
      }
      self.receive(take);
    }
    made.seconds = static_cast<double>(now - start) / self.hz();
    const std::uint64_t until = now + self.ticks(drain_seconds);
    while (cycles() < until) self.receive(take);
  });
  made.received = made.us.size();
  std::sort(made.us.begin(), made.us.end());
  return made;
}

}  // namespace coua::bench
