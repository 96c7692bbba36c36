// SPDX-License-Identifier: Apache-2.0
//
// A worker: one thread on one core that polls receive queues, forwards what they bring and never
// waits for anyone. A round:
//
//   for each of its queues { receive a burst; the L2 switch, or the OpenFlow pipeline }
//   -> what the controller sends -> flush transmit buffers that are due -> if nothing came: idle
//
// A burst is its port's bridge's. A bridge whose only rule sends all packets to NORMAL is the L2
// switch; that rule is counted here. Any other one runs (pipeline/datapath/executor.h), and hands
// to the L2 switch what its rules send there. Bridges come and go with plans
// (pipeline/worker_bridge.h).
//
// The plan is kept from round to round, and so are a held burst and filled transmit buffers, which
// depend on it. Only when a grace period begins (the plan has changed) the worker lets go of all of
// them, passes a quiescent state, and takes the plan that is current then.
//
// A burst of the L2 switch is held for one poll. While the headers of the next one are on their way
// from memory, the burst before it is forwarded; but where the FIB is larger than the caches
// (look_ahead) the next one's addresses are taken first, and their lines are on their way while the
// burst before it is looked up. When a poll brings nothing, the held burst goes at once.
//
// The thread allocates, locks, logs and calls the system nowhere while packets come. (A transmit
// queue that several workers must share has a spin lock: the driver's rule, and only where a port
// has fewer queues than there are workers.)
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "base/counters.h"
#include "base/hash_key.h"
#include "base/qsbr.h"
#include "coua/fib.h"
#include "dp/bond/slow_rings.h"
#include "dp/counters.h"
#include "dp/l2/burst.h"
#include "dp/learn/report.h"
#include "dp/learn/suppress_cache.h"
#include "dp/pipeline/port_numbers.h"
#include "dp/pipeline/worker_bridge.h"
#include "dp/plan.h"
#include "dp/switch.h"

namespace coua::dp {

/// What all workers share, written by the thread `tables`.
struct worker_shared {
  std::atomic<const plan*> current{nullptr};  // released by tables
  std::atomic<std::uint32_t> epoch{0};        // age stamp of the FIB; relaxed: a hint, the owner
                                              // decides
  // Ports closed to addresses that are not learned on them. Released by tables after what was
  // learned, acquired before a worker looks once more whether an address was.
  std::atomic<port_set> closed{0};
  std::atomic<bool> stop{false};
  std::atomic<bool> raw_io{false};  // bench_hooks.h
  std::atomic<bool> paused{false};  // likewise
  qsbr readers;
};

struct worker_params {
  unsigned number = 0;
  unsigned core = 0;
  unsigned burst = 64;
  std::uint64_t tx_flush_cycles = 0;
  std::uint64_t suppress_cycles = 0;
  std::uint64_t suppress_move_cycles = 0;
  bool look_ahead = false;  // the FIB is told the next burst's keys (worth it out of cache)
  idle_mode idle = idle_mode::yield;
};

class worker {
 public:
  /// `reader` becomes the worker's own. The thread starts with start().
  worker(worker_shared& shared, const worker_params& params, coua_fib_reader* reader,
         qsbr::reader quiescence);
  ~worker();  // after the thread ended
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  /// Errors: no_room, when the system gives no thread.
  result<void> start();
  void join();

  /// For other threads.
  const worker_params& params() const { return params_; }
  const counters& port_counters() const { return port_counters_; }   // owner: port number
  const counters& vlan_counters() const { return vlan_counters_; }   // owner: domain
  const counters& worker_counters() const { return own_counters_; }  // one owner
  const counters& burst_histogram() const { return histogram_; }     // one owner
  learn_ring& reports() { return ring_; }
  slow_in_ring& slow_ins() { return slow_ins_; }
  slow_out_ring& slow_outs() { return slow_outs_; }

 private:
  struct tx_buffer {
    unsigned n = 0;
    std::uint64_t bytes = 0;
    std::array<rte_mbuf*, max_burst> mbufs;
  };

  void run();
  void loop();
  // One turn over all queues. Returns the packets that it found.
  unsigned round();
  unsigned raw_round();
  void let_go() noexcept;
  void take_plan() noexcept;
  void idle(unsigned empty_rounds);
  void go_online() noexcept;
  void go_offline() noexcept;
  worker_bridge& bridge_of(unsigned port) const noexcept { return *queues_->bridge_of[port]; }
  void switch_burst(burst& b) noexcept;
  void drop_closed(worker_bridge& bridge, burst& b) noexcept;
  void forward_held(const burst* next) noexcept;
  void count_received(unsigned port, unsigned n, std::uint64_t bytes) noexcept {
    const counters::row count = port_counters_.of(port);
    count.add(port_counter::rx_packets, n);
    count.add(port_counter::rx_bytes, bytes);
  }

  // worker.cc: transmit side
  /// Before something comes into its buffer.
  void note_filling(unsigned port) noexcept {
    if (tx_[port].n != 0) return;
    if (dirty_ == 0) flush_at_ = now_ + params_.tx_flush_cycles;
    dirty_ |= port_bit(port);
  }
  void enqueue(unsigned port, rte_mbuf* frame, std::uint32_t bytes) noexcept {
    tx_buffer& buffer = tx_[port];
    note_filling(port);
    const unsigned at = buffer.n;  // else it is loaded again behind the store of the frame
    buffer.n = at + 1;
    buffer.bytes += bytes;
    buffer.mbufs[at] = frame;
    if (at + 1 >= params_.burst) flush(port);
  }
  void flush(unsigned port) noexcept;
  void flush_all() noexcept;
  void flush_well_filled() noexcept;
  std::uint16_t transmit(const tx_queue& queue, rte_mbuf** mbufs, std::uint16_t n) noexcept;
  unsigned send_rest(unsigned port, const tx_queue& queue, rte_mbuf** mbufs, unsigned n,
                     std::uint64_t& bytes, port_counter::id* fate = nullptr) noexcept;
  void drop_unsent(unsigned port, rte_mbuf** mbufs, unsigned n) noexcept;

  // bond/worker_bond.cc
  void take_detours(const rx_queue& queue, burst& b) noexcept;
  unsigned send_detoured(unsigned port, const tx_queue& queue, rte_mbuf** mbufs, unsigned n,
                         std::uint64_t& bytes) noexcept;
  void receive_by_member(const rx_queue& queue, burst& b) noexcept;
  port_counter::id take_slow(const rx_queue& queue, const rte_mbuf* frame) noexcept;
  void send_slow() noexcept;
  unsigned send_by_members(unsigned port, const plan_bond& bond, bool tapped, rte_mbuf** mbufs,
                           unsigned n, std::uint64_t& bytes) noexcept;

  // l2/mirror.cc
  void mirror_received(const burst& b) noexcept;
  void stage_mirrored(port_set to, rte_mbuf* const* mbufs, unsigned n, rte_mbuf** copies) noexcept;
  void send_mirrored(port_set to, rte_mbuf* copy) noexcept;

  // capture/worker_taps.cc
  using fates = std::array<port_counter::id, max_burst>;
  void tap_received(const burst& b) noexcept;
  void tap_drop(unsigned port, const rte_mbuf* frame, port_counter::id why) noexcept;
  unsigned transmit_tapped(unsigned port, const tx_queue& queue, rte_mbuf** mbufs, unsigned n,
                           std::uint64_t& bytes) noexcept;
  /// Before the frame is given back.
  void count_drop(unsigned port, const rte_mbuf* frame, port_counter::id why) noexcept {
    port_counters_.of(port).add(why);
    if (plan_->drops_tapped) [[unlikely]]
      tap_drop(port, frame, why);
  }

  // l2/forward.cc
  bool classify_untagged(burst& b) noexcept;
  void classify_any(burst& b) noexcept;
  void forward(burst& b, const burst* next) noexcept;
  template <bool Uniform>
  void send_all(burst& b) noexcept;
  void send_other(burst& b, unsigned i) noexcept;
  void send_retagged(burst& b, unsigned i, unsigned out, bool tagged) noexcept;
  void drop(burst& b, unsigned i, port_counter::id why) noexcept;
  // l2/flood.cc
  void flood(burst& b, unsigned i, port_set targets) noexcept;
  // l2/learn.cc
  void learn(burst& b) noexcept;
  void learn_unknown(burst& b, std::uint64_t unknown) noexcept;
  void report(const burst& b, unsigned i) noexcept;
  bool is_stranger(const burst& b, unsigned i) noexcept;
  void drop_strangers(burst& b, std::uint64_t strangers) noexcept;

  // pipeline/run_burst.cc
  void run_pipeline(worker_bridge& bridge, burst& b) noexcept;
  unsigned put_frames(pipeline::executor& executor, const burst& b,
                      pipeline::port_no in_port) noexcept;
  rte_mbuf* take_frame(rte_mbuf* frame, unsigned port) noexcept;
  void deliver_all(worker_bridge& bridge, unsigned port, unsigned n) noexcept;
  bool deliver_to_one(const worker_bridge& bridge, unsigned port, unsigned n) noexcept;
  void send_to_port(const worker_bridge& bridge, unsigned from, pipeline::port_no to,
                    rte_mbuf* frame) noexcept;
  void send_packet_outs(worker_bridge& bridge) noexcept;
  void forward_normal() noexcept;
  void punt(worker_bridge& bridge, unsigned from, const pipeline::delivery& one,
            rte_mbuf* frame) noexcept;
  /// The port of the switch with this number in the bridge; no port's: it has none.
  unsigned port_of(const worker_bridge& bridge, pipeline::port_no number) const noexcept {
    return number == pipeline::port_local ? plan_->bridges[bridge.number].local
                                          : switch_port(number);
  }
  /// Of the bridge, and up.
  port_set up_in(const worker_bridge& bridge) const noexcept {
    return plan_->up & plan_->bridges[bridge.number].ports;
  }

  worker_shared& shared_;
  const worker_params params_;
  coua_fib_reader* reader_;
  qsbr::reader quiescence_;
  const plan* plan_ = nullptr;
  const worker_plan* queues_ = nullptr;
  std::uint64_t plan_serial_ = 0;
  std::uint64_t now_ = 0;       // cycles(), read once per round
  std::uint64_t flush_at_ = 0;  // when the transmit buffers are due
  port_set dirty_ = 0;          // ports with something in their transmit buffer
  std::uint32_t epoch_ = 0;
  unsigned held_ = 0;  // bursts_[held_] waits for its turn if its n > 0
  std::array<burst, 2> bursts_;
  std::array<tx_buffer, max_ports> tx_;

  counters port_counters_{max_inputs, port_counter::count};
  counters vlan_counters_{n_domains, vlan_counter::count};
  counters own_counters_{1, worker_counter::count};
  counters histogram_{1, max_burst + 1};
  counters::row own_ = own_counters_.of(0);
  counters::row sizes_ = histogram_.of(0);
  suppress_cache suppress_;
  learn_ring ring_{learn_ring_size};

  burst normal_;  // what a pipeline sent to NORMAL
  slow_in_ring slow_ins_{slow_in_ring_size};
  slow_out_ring slow_outs_{slow_out_ring_size};
  std::thread thread_;
};

}  // namespace coua::dp
