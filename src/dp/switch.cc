// SPDX-License-Identifier: Apache-2.0
#include <rte_mbuf.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/cpu.h"
#include "dp/switch_impl.h"

namespace coua::dp {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t watch_ns = 200 * ns_per_ms;
// The flows of a bond's member that lost its link are lost for this time at most.
constexpr std::uint64_t bond_watch_ns = 20 * ns_per_ms;
// So long a storm may go on before its port is shut down; its limit lets pass what it may.
constexpr std::uint64_t shut_watch_ns = 20 * ns_per_ms;
constexpr std::uint64_t sample_ns = 1000 * ns_per_ms;
// A new address is reported again after this time if the FIB still does not know it.
constexpr double suppress_s = 0.05;
constexpr double suppress_move_s = 0.001;
constexpr double flap_s = 1.0;
// From which size of the table on a worker tells the FIB the first 32 keys of the next burst (of
// its destinations, or all of a small burst) with each burst that it looks up. It pays where a
// look-up waits for memory; in a table that the caches hold those keys are hashed twice for
// nothing. So it stands for the share that one core has of the last-level cache. That cannot be
// asked for: a processor tells of the whole cache, a virtual machine of any (320 MiB on one with a
// share of 32), and what is hot depends on how many of the addresses talk. 64 MiB is above the
// share of most machines. Where it is wrong, between the true share and 64 MiB, the look-ups lack
// the difference of the two modes there. To measure both: `coua-bench fib --mode batch,ahead` with
// --entries of 2M to 32M and, as a burst of 64 has sources too, --batch 128; the true value is the
// size of the table (entries times bytes_per_entry) from which `fib/ahead` is faster.
constexpr std::uint64_t look_ahead_bytes = std::uint64_t{64} << 20;
constexpr std::size_t flush_records = 16384;  // a slice of about a millisecond

result<void> check(const switch_config& config) {
  const auto bad = [](const char* what) { return fail(errc::invalid, "switch", what); };
  if (config.fib_entries == 0) return bad("fib_entries is 0");
  if (config.port_bits < 1 || config.port_bits > COUA_FIB_VALUE_BITS_MAX)
    return bad("port_bits is not in 1 to 24");
  if (config.ageing_s != 0 && (config.ageing_s < 6 || config.ageing_s > 1'000'000))
    return bad("ageing is 0 (never) or 6 to 1,000,000 seconds");
  if (config.burst < 1 || config.burst > max_burst) return bad("burst is not in 1 to 64");
  if (config.bridges.empty() || config.bridges.size() > bridges_max)
    return bad("a switch has 1 to 16 bridges");
  std::set<std::string> names;
  for (const bridge_config& each : config.bridges) {
    if (auto valid = switch_bridge::validate(each); !valid) return valid;
    if (!names.insert(each.name).second) return bad("two bridges have one name");
  }
  return {};
}

std::string human(double n, double step, const char* const* units) {
  unsigned i = 0;
  for (; n >= step && i < 4; ++i) n /= step;
  char text[32];
  std::snprintf(text, sizeof text, i == 0 ? "%.0f%s" : "%.1f %s", n, units[i]);
  return text;
}

}  // namespace

result<std::unique_ptr<l2_switch>> l2_switch::create(const eal_params& eal,
                                                     const switch_config& config) {
  if (auto valid = check(config); !valid) return tl::unexpected(valid.error());
  auto environment = start_eal(eal);
  if (!environment) return tl::unexpected(environment.error());
  auto made = std::make_unique<switch_impl>(std::move(*environment), config);
  if (auto started = made->start(); !started) return tl::unexpected(started.error());
  return made;
}

switch_impl::switch_impl(eal_info eal, const switch_config& config)
    : eal_(std::move(eal)), config_(config), rates_(eal_.cores.size()) {
  for (const unsigned core : eal_.cores)
    places_.push_back({core, static_cast<int>(numa_node_of_cpu(core))});
}

result<void> switch_impl::start() {
  const double hz = cycles_hz();
  fib_owner_params table;
  table.entries = config_.fib_entries;
  table.max_load = config_.fib_max_load;
  table.value_bits = config_.port_bits;
  table.ageing_s = config_.ageing_s;
  table.numa_node = config_.fib_numa_node;
  table.huge_pages = config_.fib_huge_pages;
  table.flap_cycles = static_cast<std::uint64_t>(flap_s * hz);
  table.epoch = &shared_.epoch;
  table.closed = &shared_.closed;
  auto owner = fib_owner::create(table);
  if (!owner) return tl::unexpected(owner.error());
  owner_ = std::move(*owner);

  for (const bridge_config& each : config_.bridges) {
    auto made = switch_bridge::create(each, free_bridge_number(),
                                      static_cast<unsigned>(places_.size()), eal_.control);
    if (!made) {
      error& e = made.error();
      e.where = "bridges[" + std::to_string(bridges_.size()) + "].pipeline: " + e.where;
      return tl::unexpected(std::move(e));
    }
    bridges_.push_back(std::move(*made));
  }
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  coua_fib_get_stats(owner_->fib(), &stats);
  for (unsigned w = 0; w < places_.size(); ++w) {
    worker_params params;
    params.look_ahead = stats.bytes > look_ahead_bytes;
    params.number = w;
    params.core = places_[w].core;
    params.burst = config_.burst;
    params.idle = config_.idle;
    params.suppress_cycles = static_cast<std::uint64_t>(suppress_s * hz);
    params.suppress_move_cycles = static_cast<std::uint64_t>(suppress_move_s * hz);
    params.tx_flush_cycles = static_cast<std::uint64_t>(config_.tx_flush_us * hz / 1e6);
    coua_fib_reader* reader = nullptr;
    if (coua_fib_reader_create(owner_->fib(), &reader) != 0)
      return fail(errc::no_memory, "fib.entries", "no memory for a reader");
    auto quiescence = shared_.readers.register_reader();
    if (!quiescence) return tl::unexpected(quiescence.error());
    workers_.push_back(std::make_unique<worker>(shared_, params, reader, std::move(*quiescence)));
  }
  publish();
  for (auto& each : workers_)
    if (auto started = each->start(); !started) return started;
  auto tables = owner_thread::create("coua-tables", [this] { return housekeeping(); });
  if (!tables) return tl::unexpected(std::move(tables.error()));
  tables_ = std::move(*tables);
  // A thread inherits the CPUs of its creator, which may be those of the workers.
  return tables_->call([this] { return pin_this_thread(eal_.control); });
}

switch_impl::~switch_impl() {
  shared_.stop.store(true, std::memory_order_relaxed);
  for (auto& each : workers_) each->join();
  tables_.reset();
  for (auto& each : bridges_) each->stop();
  for (auto& each : workers_) {
    for (slow_out one; each->slow_outs().pop(one);) rte_pktmbuf_free(one.frame);
  }
  for (unsigned number = 0; number < max_ports; ++number) {
    port_slot& slot = slots_[number];
    if (!slot.device) continue;
    keep_farewells(number);
    say_kept_farewells();
    slot.device->take_pools(graveyard_);
    slot.device.reset();
  }
  for (port_slot& slot : slots_) slot.flush.reset();
  workers_.clear();  // their FIB readers go before the FIB
}

std::string switch_impl::describe() const {
  static constexpr const char* counts[] = {"", "K", "M", "G", "T"};
  static constexpr const char* sizes[] = {" B", "KiB", "MiB", "GiB", "TiB"};
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  coua_fib_get_stats(owner_->fib(), &stats);
  std::string cores;
  for (const worker_place& place : places_)
    cores += (cores.empty() ? "" : ",") + std::to_string(place.core);
  const bool one = places_.size() == 1;
  return eal_.memory + ", " + std::to_string(places_.size()) + (one ? " worker" : " workers") +
         " on core" + (one ? " " : "s ") + cores + ", FIB " +
         human(static_cast<double>(config_.fib_entries), 1000, counts) + " entries (" +
         human(static_cast<double>(stats.bytes), 1024, sizes) + ", " + pages_text(stats.pages) +
         "), " + coua_fib_simd(owner_->fib());
}

/// Publishes a plan of what is there now and returns when no worker uses the one before it.
void switch_impl::publish() {
  // Before, so that nothing is dropped meanwhile; and after, when nobody counts by the old speed.
  const port_set other_speed = note_speeds();
  fill_storms(other_speed);
  std::vector<port_view> views;
  for (unsigned number = 0; number < max_ports; ++number)
    if (slots_[number].device)
      views.push_back({number, slots_[number].bridge->number(), slots_[number].device.get(),
                       slots_[number].link.up, slots_[number].link.lost, slots_[number].is_shut(),
                       &storms_[number], slots_[number].last_mbps,
                       slots_[number].bond ? slots_[number].bond->view() : bond_view{}});
  std::vector<bridge_view> bridges;
  for (const auto& each : bridges_) {
    bridges.push_back({each->number(), &domains_.of(each->number()), {}});
    for (unsigned w = 0; w < places_.size(); ++w)
      bridges.back().of_worker.push_back(each->of_worker(w));
  }
  const auto build = [&] {
    std::unique_ptr<plan> built = build_plan(views, places_, bridges);
    built->serial = plan_ ? plan_->serial + 1 : 1;
    show_captures(*built);
    return built;
  };
  std::unique_ptr<plan> next = build();
  for (unsigned domain = 0; domain < n_domains; ++domain)
    owner_->set_members(static_cast<std::uint16_t>(domain), next->domains[domain].members());
  // A queue is one worker's, and workers come to a plan one after the other: the one that had it
  // lets go of it, and of what it brought, before another one polls it.
  if (plan_ && leave_out_moving(*next, *plan_)) {
    hand_over(std::move(next));
    next = build();
  }
  hand_over(std::move(next));
  fill_storms(other_speed);
  // What was dropped before the speed was known is no storm.
  for_each_port(other_speed, [this](unsigned number) { note_share_drops(number); });
}

void switch_impl::hand_over(std::unique_ptr<plan> next) {
  shared_.current.store(next.get(), std::memory_order_release);
  wait_for_workers();
  plan_ = std::move(next);
}

/// Returns when every worker has let go of all that it had in hand. Workers never wait for this
/// thread, so it may wait for them: a burst, or a slice of the scheduler on a shared core.
void switch_impl::wait_for_workers() {
  const qsbr::token token = shared_.readers.start();
  while (!shared_.readers.poll(token)) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

void switch_impl::set_paused(bool on) {
  // Relaxed: a worker sees it at the latest with the grace period that it is waited for by.
  shared_.paused.store(on, std::memory_order_relaxed);
  if (on) wait_for_workers();
}

bool switch_impl::housekeeping() {
  turns_.fetch_add(1, std::memory_order_relaxed);
  bool more = drain();
  drain_slow();
  shut_violators();
  const std::uint64_t now = now_ns();
  more |= owner_->age(now);
  more |= owner_->flush_slice(flush_records);
  if (now >= next_watch_ns_) {
    next_watch_ns_ = now + watch_ns;
    watch_links();
    bury_pools();
  }
  if (now >= next_bond_watch_ns_) {
    next_bond_watch_ns_ = now + bond_watch_ns;
    watch_bonds();
  }
  if (now >= next_shut_watch_ns_) {
    next_shut_watch_ns_ = now + shut_watch_ns;
    shut_stormy();
    recover_ports();
  }
  if (now >= next_sample_ns_) {
    next_sample_ns_ = now + sample_ns;
    sample_rates();
  }
  return more;
}

/// Empties the learning rings and applies what was in them, for a stretch at most: where the FIB is
/// full, each refusal takes a long search. True when there may be more.
bool switch_impl::drain() {
  constexpr std::size_t part = 64;
  if (next_report_ == n_reports_) {
    next_report_ = n_reports_ = 0;
    drained_.resize(workers_.size() * learn_ring_size);
    for (auto& each : workers_)
      n_reports_ += each->reports().pop(std::span(drained_).subspan(n_reports_, learn_ring_size));
    fib_owner::sort(std::span(drained_).first(n_reports_));
  }
  if (n_reports_ == 0) return false;
  const std::uint64_t end = now_ns() + stretch_ns;
  do {
    const std::size_t n = std::min(part, n_reports_ - next_report_);
    owner_->apply(std::span(drained_).subspan(next_report_, n));
    next_report_ += n;
  } while (next_report_ < n_reports_ && now_ns() < end);
  return true;
}

void switch_impl::sample_rates() {
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    const counters& count = workers_[w]->worker_counters();
    const std::uint64_t packets = count.sum(worker_counter::rx_packets);
    const std::uint64_t busy = count.sum(worker_counter::cycles_busy);
    const std::uint64_t idle = count.sum(worker_counter::cycles_idle);
    rates& r = rates_[w];
    const double d_packets = static_cast<double>(packets - r.packets);
    const double d_busy = static_cast<double>(busy - r.busy);
    const double d_idle = static_cast<double>(idle - r.idle);
    r.cycles_per_packet = d_packets > 0 ? d_busy / d_packets : 0;
    r.busy_share = d_busy + d_idle > 0 ? d_busy / (d_busy + d_idle) : 0;
    r.packets = packets;
    r.busy = busy;
    r.idle = idle;
  }
}

}  // namespace coua::dp
