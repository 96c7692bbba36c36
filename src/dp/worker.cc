// SPDX-License-Identifier: Apache-2.0
#include "dp/worker.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/start_thread.h"
#include "dp/eal.h"
#include "dp/tx_lock.h"

namespace coua::dp {
namespace {

// An empty round takes some 50 ns, so a worker spins for a few microseconds before it looks for
// anything else to do; packets on their way then meet a worker that is awake.
constexpr unsigned rounds_before_yield = 64;
// In yield mode it goes on yielding for this many rounds (about 100 us on a free core) before it
// takes naps: on a core that is shared with the hosts of a demo they get the CPU.
constexpr unsigned rounds_before_nap = 512;
constexpr unsigned first_nap_us = 10;
constexpr unsigned longest_nap_us = 50;      // yield mode: adds at most this to a packet's way
constexpr unsigned longest_sleep_us = 1000;  // sleep mode
constexpr unsigned well_filled = 4;          // a transmit buffer, with a quarter of a burst
constexpr unsigned paused_nap_us = 5000;     // others are measured on its core (bench_hooks.h)

void nap(unsigned us) noexcept {
  const timespec time{0, static_cast<long>(us) * 1000};
  nanosleep(&time, nullptr);
}

}  // namespace

worker::worker(worker_shared& shared, const worker_params& params, coua_fib_reader* reader,
               qsbr::reader quiescence)
    : shared_(shared),
      params_(params),
      reader_(reader),
      quiescence_(std::move(quiescence)),
      suppress_(params.suppress_cycles, params.suppress_move_cycles) {}

worker::~worker() { coua_fib_reader_destroy(reader_); }

result<void> worker::start() {
  auto thread = start_thread("worker " + std::to_string(params_.number), [this] { run(); });
  if (!thread) return tl::unexpected(std::move(thread.error()));
  thread_ = std::move(*thread);
  return {};
}

void worker::join() {
  if (thread_.joinable()) thread_.join();
}

void worker::run() {
  const std::string name = "coua-worker" + std::to_string(params_.number);
  name_this_thread(name);
  prctl(PR_SET_TIMERSLACK, 1);          // else the kernel adds 50 us to each nap
  (void)pin_this_thread(params_.core);  // the core was checked when the environment started
  const eal_thread registration;
  go_online();
  loop();
  go_offline();
}

void worker::loop() {
  unsigned empty = 0;
  now_ = cycles();
  while (!shared_.stop.load(std::memory_order_relaxed)) {
    if (quiescence_.is_awaited()) [[unlikely]] {
      let_go();
      quiescence_.quiescent();
      take_plan();
    }
    for (worker_bridge* each : queues_->bridges) each->executor->rest();
    epoch_ = shared_.epoch.load(std::memory_order_relaxed);
    const std::uint64_t start = now_;
    const unsigned found = shared_.paused.load(std::memory_order_relaxed)   ? 0
                           : shared_.raw_io.load(std::memory_order_relaxed) ? raw_round()
                                                                            : round();
    for (worker_bridge* each : queues_->bridges)
      if (each->packet_outs != nullptr && each->packet_outs->size() != 0) [[unlikely]]
        send_packet_outs(*each);
    if (plan_->lacp) [[unlikely]]
      send_slow();
    // Less than a burst: there is time to spare, and those that wait for more would wait in vain.
    if (dirty_ != 0) found < params_.burst || now_ >= flush_at_ ? flush_all() : flush_well_filled();
    now_ = cycles();
    own_.add(worker_counter::rounds);
    own_.add(found != 0 ? worker_counter::cycles_busy : worker_counter::cycles_idle, now_ - start);
    if (found != 0) [[likely]] {
      own_.add(worker_counter::rx_packets, found);
      empty = 0;
      continue;
    }
    own_.add(worker_counter::rounds_empty);
    idle(++empty);
  }
  let_go();
}

/// Before a quiescent state: what is in hand still goes out by the plan and to the devices that it
/// came in by, because after it they may be gone.
void worker::let_go() noexcept {
  forward_held(nullptr);
  flush_all();
}

void worker::forward_held(const burst* next) noexcept {
  burst& held = bursts_[held_];
  if (held.n > 0) forward(held, next);
  held.n = 0;
}

/// After a quiescent state.
void worker::take_plan() noexcept {
  plan_ = shared_.current.load(std::memory_order_acquire);
  queues_ = &plan_->workers[params_.number];
  // A port's entries may have been flushed with the change: its hosts are news again.
  if (plan_->serial != plan_serial_) {
    suppress_.clear();
    // Of bridges that are new.
    for (worker_bridge* each : queues_->bridges) each->executor->go_online();
    send_slow();  // to members that are gone it is dropped
  }
  plan_serial_ = plan_->serial;
}

unsigned worker::round() {
  unsigned found = 0;
  for (const rx_queue& queue : queues_->rx) {
    burst& b = bursts_[held_ ^ 1];
    b.n = rte_eth_rx_burst(queue.device, queue.queue, b.mbufs.data(),
                           static_cast<std::uint16_t>(params_.burst));
    sizes_.add(b.n);
    found += b.n;
    if (b.n == 0) continue;
    b.port = queue.port;
    for (unsigned i = 0; i < b.n; ++i) rte_prefetch0(rte_pktmbuf_mtod(b.mbufs[i], const void*));
    if (queue.detours != 0) [[unlikely]] {
      take_detours(queue, b);
      if (b.n == 0) {
        forward_held(nullptr);  // it waits for a burst behind it, and none is
        continue;
      }
    }
    switch_burst(b);
  }
  if (found < params_.burst) forward_held(nullptr);
  return found;
}

/// By the pipeline, or, if that is all that it would do, by the FIB.
void worker::switch_burst(burst& b) noexcept {
  worker_bridge& bridge = bridge_of(b.port);
  const std::uint32_t rule = bridge.executor->all_normal();
  const bool by_rules = rule == pipeline::executor::none;
  if (by_rules && !bridge.standalone.load(std::memory_order_relaxed)) {
    forward_held(nullptr);  // it came before
    run_pipeline(bridge, b);
    b.n = 0;
    return;
  }
  if (by_rules && (bridge.executor->no_recv() & port_bit(b.port)) != 0) [[unlikely]]
    return drop_closed(bridge, b);
  // Its headers are on their way meanwhile, if the held burst does not wait for its addresses.
  if (!params_.look_ahead) forward_held(nullptr);
  const unsigned n = b.n;
  const plan_port& port = plan_->ports[b.port];
  if (port.trunk || port.strips_tags || !classify_untagged(b)) classify_any(b);
  count_received(b.port, n, b.bytes);
  if (!by_rules) bridge.executor->count_normal(rule, n, b.bytes);
  forward_held(&b);
  held_ ^= 1;
}

/// Fail-standalone passes the rules over, not what a controller said of a port.
void worker::drop_closed(worker_bridge& bridge, burst& b) noexcept {
  forward_held(nullptr);  // it would wait for a burst behind it
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < b.n; ++i) {
    bytes += b.mbufs[i]->pkt_len;
    count_drop(b.port, b.mbufs[i], port_counter::drop_pipeline);
  }
  rte_pktmbuf_free_bulk(b.mbufs.data(), b.n);
  bridge.executor->count_closed(b.n);
  count_received(b.port, b.n, bytes);
  b.n = 0;
}

unsigned worker::raw_round() {
  unsigned found = 0;
  burst& b = bursts_[held_ ^ 1];
  for (const rx_queue& queue : queues_->rx) {
    const std::uint16_t n = rte_eth_rx_burst(queue.device, queue.queue, b.mbufs.data(),
                                             static_cast<std::uint16_t>(params_.burst));
    sizes_.add(n);
    if (n == 0) continue;
    found += n;
    port_counters_.of(queue.port).add(port_counter::rx_packets, n);
    // The next port that is up, in the order of numbers, round the end.
    const port_set others = plan_->up & ~port_bit(queue.port);
    const port_set above = others & ~(port_bit(queue.port) - 1);
    const port_set from = above != 0 ? above : others;
    if (from == 0) {
      rte_pktmbuf_free_bulk(b.mbufs.data(), n);
      port_counters_.of(queue.port).add(port_counter::drop_no_member, n);
      continue;
    }
    const unsigned out = static_cast<unsigned>(std::countr_zero(from));
    port_counters_.of(queue.port).add(port_counter::forwarded, n);
    const std::uint16_t sent = transmit(queues_->tx[out], b.mbufs.data(), n);
    port_counters_.of(out).add(port_counter::tx_packets, sent);
    if (sent < n) drop_unsent(out, b.mbufs.data() + sent, n - sent);
  }
  b.n = 0;
  return found;
}

void worker::idle(unsigned empty_rounds) {
  if (params_.idle == idle_mode::spin || empty_rounds < rounds_before_yield) return;
  let_go();
  go_offline();
  if (params_.idle == idle_mode::yield && empty_rounds < rounds_before_nap) {
    own_.add(worker_counter::yields);
    sched_yield();
  } else {
    const unsigned longest = params_.idle == idle_mode::sleep ? longest_sleep_us : longest_nap_us;
    const unsigned grown = std::min(first_nap_us + empty_rounds / 64, longest);
    const bool is_paused = shared_.paused.load(std::memory_order_relaxed);
    own_.add(worker_counter::sleeps);
    nap(is_paused ? paused_nap_us : grown);
  }
  go_online();
  const std::uint64_t after = cycles();
  own_.add(worker_counter::cycles_idle, after - now_);
  now_ = after;
}

/// The bridges that the plan names are there as long as the worker has not gone offline.
void worker::go_offline() noexcept {
  for (worker_bridge* each : queues_->bridges) each->executor->go_offline();
  quiescence_.offline();
}

void worker::go_online() noexcept {
  quiescence_.online();
  take_plan();
  for (worker_bridge* each : queues_->bridges) each->executor->go_online();
}

std::uint16_t worker::transmit(const tx_queue& queue, rte_mbuf** mbufs, std::uint16_t n) noexcept {
  if (queue.lock == nullptr) [[likely]]
    return rte_eth_tx_burst(queue.device, queue.queue, mbufs, n);
  rte_spinlock_lock(&queue.lock->lock);
  const std::uint16_t sent = rte_eth_tx_burst(queue.device, queue.queue, mbufs, n);
  rte_spinlock_unlock(&queue.lock->lock);
  return sent;
}

void worker::flush(unsigned port) noexcept {
  tx_buffer& buffer = tx_[port];
  const std::uint16_t n = static_cast<std::uint16_t>(buffer.n);
  std::uint64_t bytes = buffer.bytes;
  buffer.n = 0;
  buffer.bytes = 0;
  dirty_ &= ~port_bit(port);
  unsigned sent = 0;
  const tx_queue& queue = queues_->tx[port];
  if (queue.detours != 0) [[unlikely]] {
    sent = send_detoured(port, queue, buffer.mbufs.data(), n, bytes);
  } else {
    sent = transmit(queue, buffer.mbufs.data(), n);
    if (sent < n) [[unlikely]]
      sent += send_rest(port, queue, buffer.mbufs.data() + sent, n - sent, bytes);
  }
  own_.add(worker_counter::tx_flushes);
  const counters::row count = port_counters_.of(port);
  count.add(port_counter::tx_packets, sent);
  count.add(port_counter::tx_bytes, bytes);
}

/// What the driver left. Some drivers (net_tap) stop at a frame that is longer than their MTU: it
/// alone is dropped, and those behind it have their turn. Otherwise the queue is full. Returns how
/// many went after all; takes the bytes of those that did not from `bytes`. `fate`, if it is there,
/// has an element for each frame, and gets the counter of those that did not go.
[[gnu::noinline, gnu::cold]] unsigned worker::send_rest(unsigned port, const tx_queue& queue,
                                                        rte_mbuf** mbufs, unsigned n,
                                                        std::uint64_t& bytes,
                                                        port_counter::id* fate) noexcept {
  const std::uint32_t longest = plan_->ports[port].longest_frame;
  unsigned at = 0, sent = 0;
  while (at < n && mbufs[at]->pkt_len > longest) {
    bytes -= mbufs[at]->pkt_len;
    rte_pktmbuf_free(mbufs[at]);
    port_counters_.of(port).add(port_counter::drop_tx_too_long);
    if (fate != nullptr) fate[at] = port_counter::drop_tx_too_long;
    if (++at == n) return sent;
    const unsigned taken = transmit(queue, mbufs + at, static_cast<std::uint16_t>(n - at));
    sent += taken;
    at += taken;
  }
  for (unsigned i = at; i < n; ++i) {
    bytes -= mbufs[i]->pkt_len;
    if (fate != nullptr) fate[i] = port_counter::drop_tx_full;
  }
  drop_unsent(port, mbufs + at, n - at);
  return sent;
}

[[gnu::noinline, gnu::cold]] void worker::drop_unsent(unsigned port, rte_mbuf** mbufs,
                                                      unsigned n) noexcept {
  rte_pktmbuf_free_bulk(mbufs, n);
  port_counters_.of(port).add(port_counter::drop_tx_full, n);
}

/// At the end of a round. What has gone makes room in the cache: packets that pile up for several
/// ports push out those that come in.
void worker::flush_well_filled() noexcept {
  for_each_port(dirty_, [this](unsigned port) {
    if (tx_[port].n >= params_.burst / well_filled) flush(port);
  });
}

void worker::flush_all() noexcept {
  while (dirty_ != 0) flush(static_cast<unsigned>(std::countr_zero(dirty_)));
}

}  // namespace coua::dp
