// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/latency.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/forward/case_setup.h"
#include "bench/forward/latency_entrant.h"
#include "bench/forward/ovs_switch.h"
#include "bench/forward/paced_source.h"
#include "bench/forward/pipeline_bed.h"
#include "bench/forward/worker_cores.h"
#include "bench/harness/crew.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

constexpr double peak_share = 0.5;
constexpr double warm_seconds = 0.25;  // of a flood
constexpr unsigned peak_floods = 3;
constexpr unsigned windows = 20;  // of a turn: a CPU that is taken away spoils one of them, not all
constexpr std::uint64_t source_mib = 64;  // of its packets

/// The workers work while it lives, and poll no port any more when it is gone: the driver takes the
/// shared memory away when the other end closes, whoever reads it.
class at_work {
 public:
  explicit at_work(worker_mover& workers) : workers_(workers) { workers_.go_on(); }
  ~at_work() { (void)workers_.rest(); }  // what it dropped under a flood is no trouble
  at_work(const at_work&) = delete;
  at_work& operator=(const at_work&) = delete;

 private:
  worker_mover& workers_;
};

class latency_run {
 public:
  latency_run(const forward_options& options, case_setup& setup, progress& shown)
      : options_(options), setup_(setup), progress_(shown) {
    for (const ovs_caches each : options.ovs) peers_.emplace_back(name_of(each));
  }

  result<void> run() {
    for (unsigned turn = 0; turn < options_.run.repetitions; ++turn) {
      for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (auto done = ovs(options_.ovs[i], peers_[i]); !done) return done;
      }
      if (auto done = coua(); !done) return done;
    }
    return {};
  }

  void add_rows(const json& params, report& out) const {
    std::vector<const latency_entrant*> all = {&ours_};
    if (ours_slow_.has_times()) all.push_back(&ours_slow_);
    for (const latency_entrant& each : peers_) all.push_back(&each);
    for (const latency_entrant* each : all) out.rows.push_back(each->make_row(params, peers_));
  }

 private:
  /// The plan of ports that the source of packets has the other ends of.
  port_plan wire(const memif_wires& wires) const {
    port_plan made = setup_.ports;
    made.frames.clear();
    const pipeline::port_no source = setup_.of->flow(0).in_port;
    std::vector<std::string> sinks;
    for (pipeline::port_no number = 1; number <= setup_.of->n_ports(); ++number) {
      if (number != source) sinks.push_back(switch_end(wires, number));
    }
    made.in = switch_end(wires, source);
    made.out = sinks.front();
    made.more.assign(sinks.begin() + 1, sinks.end());
    return made;
  }
  memif_wires next_wires() { return {setup_.files->path(), serial_++}; }

  static paced_source::flood_result find_peak(paced_source& from) {
    std::vector<double> rates, refused;
    for (unsigned i = 0; i < peak_floods; ++i) {
      const auto one = from.flood(warm_seconds);
      rates.push_back(one.mops);
      refused.push_back(one.refused);
    }
    return {median(rates), median(refused)};
  }

  result<void> measure(paced_source& from, const paced_source::flood_result& peak, double rate,
                       latency_entrant& into) const {
    if (rate <= 0) return fail(errc::io, into.name(), "nothing came back of a flood");
    unsigned timed = 0;
    for (unsigned i = 0; i < windows; ++i) {
      timed += into.add(peak, rate, from.pace(rate, options_.run.seconds / windows));
    }
    if (timed != 0) return {};
    return fail(errc::io, into.name(),
                "no packet came back in any of the " + std::to_string(windows) + " windows");
  }

  result<void> coua() {
    progress_.step("coua");
    const memif_wires wires = next_wires();
    auto bed = pipeline_bed::create(*setup_.of, wire(wires), options_, setup_.memory);
    if (!bed) return tl::unexpected(bed.error());
    auto source = paced_source::create(*setup_.of, wires, 1);
    if (!source) return tl::unexpected(source.error());
    if (auto done = coua_turn((*bed)->workers(), **source); !done) return done;
    raw_turn((*bed)->raw_workers(), **source);
    return {};
  }

  result<void> coua_turn(worker_mover& workers, paced_source& from) {
    const at_work working(workers);
    if (auto done = wait_for_first(from, "coua"); !done) return done;
    const auto peak = find_peak(from);
    if (auto done = measure(from, peak, peak_share * peak.mops, ours_); !done) return done;
    if (peers_.empty()) return {};
    return measure(from, peak, peers_.front().offered_mops(), ours_slow_);
  }

  /// The rings alone, at each rate that a switch was measured at.
  void raw_turn(worker_mover& workers, paced_source& from) {
    const at_work working(workers);
    (void)from.flood(warm_seconds);
    for (unsigned i = 0; i < windows; ++i) {
      const double seconds = options_.run.seconds / windows;
      ours_.add_raw(from.pace(ours_.offered_mops(), seconds));
      for (latency_entrant& each : peers_) {
        const paced_result seen = from.pace(each.offered_mops(), seconds);
        each.add_raw(seen);
        if (&each == &peers_.front()) ours_slow_.add_raw(seen);
      }
    }
  }

  result<void> ovs(ovs_caches caches, latency_entrant& into) {
    progress_.step(into.name());
    const memif_wires wires = next_wires();
    auto other = ovs_switch::start(*setup_.of, wire(wires), setup_.rules,
                                   wires.folder + "/ovs" + std::to_string(wires.serial), caches,
                                   ovs_limits::lifted, options_.workers, setup_.memory.huge_pages);
    if (!other) return tl::unexpected(other.error());
    if (auto done = (*other)->add_source(); !done) return done;
    const auto queues = (*other)->queues_to_send();
    if (!queues) return tl::unexpected(queues.error());
    auto source = paced_source::create(*setup_.of, wires, *queues);
    if (!source) return tl::unexpected(source.error());
    const auto done = ovs_turn(**other, **source, into);
    // Its workers poll the rings until then.
    other->reset();
    (*source)->switch_is_gone();
    return done;
  }

  result<void> ovs_turn(const ovs_switch& there, paced_source& from, latency_entrant& into) const {
    if (auto done = there.learn([&] { return from.flood(warm_seconds).mops > 0; }); !done)
      return done;
    const auto peak = find_peak(from);
    return measure(from, peak, peak_share * peak.mops, into);
  }

  static result<void> wait_for_first(paced_source& from, const char* name) {
    for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(10e9);;) {
      if (from.flood(warm_seconds).mops > 0) return {};
      if (now_ns() > end) return fail(errc::io, name, "no packet comes through");
    }
  }

  const forward_options& options_;
  case_setup& setup_;
  progress& progress_;
  unsigned serial_ = 0;
  latency_entrant ours_{"coua"}, ours_slow_{"coua/at-rate-of-ovs"};
  std::vector<latency_entrant> peers_;
};

}  // namespace

result<report> run_latency(const forward_options& options) {
  if (!leave_a_cpu(options.workers)) {
    return fail(errc::unsupported, "--measure latency",
                "its source of packets needs a CPU beside that of the worker, and there is one");
  }
  progress shown("forward");
  auto setup = case_setup::create(options, source_mib);
  if (!setup) return tl::unexpected(setup.error());
  if (auto running = start_eal_for(options, setup->memory); !running)
    return tl::unexpected(running.error());
  report out = setup->start_report("latency", options);
  latency_run turns(options, *setup, shown);
  if (auto done = turns.run(); !done) return tl::unexpected(done.error());
  turns.add_rows(setup->params(options), out);
  return out;
}

}  // namespace coua::bench
