// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/latency.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "base/clock.h"
#include "bench/forward/case_setup.h"
#include "bench/forward/ovs_switch.h"
#include "bench/forward/paced_source.h"
#include "bench/forward/pipeline_bed.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

constexpr double peak_share = 0.5;
constexpr double warm_seconds = 0.25;  // of a flood
constexpr unsigned peak_floods = 3;
constexpr unsigned windows = 20;  // of a turn: a CPU that is taken away spoils one of them, not all
constexpr double learn_seconds = 60;
constexpr std::uint64_t source_mib = 64;

/// What was seen of a switch at one rate, a number for each window.
struct entrant {
  std::string name;
  std::vector<double> peak{}, refused{}, offered{}, mean{}, p50{}, p99{}, p999{}, most{},
      received{}, lost{}, late{}, skipped{};

  void add(double peak_mops, double refused_share, double rate, const paced_result& seen) {
    const auto n = static_cast<double>(std::max<std::size_t>(1, seen.us.size()));
    const auto due = static_cast<double>(seen.sent + seen.refused + seen.skipped);
    const auto at = [&](double share) {
      if (seen.us.empty()) return 0.0;
      return double{seen.us[static_cast<std::size_t>(share * (n - 1))]};
    };
    peak.push_back(peak_mops);
    refused.push_back(refused_share);
    offered.push_back(rate);
    mean.push_back(std::accumulate(seen.us.begin(), seen.us.end(), 0.0) / n);
    p50.push_back(at(0.5));
    p99.push_back(at(0.99));
    p999.push_back(at(0.999));
    most.push_back(at(1));
    received.push_back(static_cast<double>(seen.received) / seen.seconds / 1e6);
    lost.push_back(seen.sent == 0
                       ? 1
                       : 1 - static_cast<double>(seen.received) / static_cast<double>(seen.sent));
    late.push_back(static_cast<double>(seen.late) / n);
    skipped.push_back(due == 0 ? 0 : static_cast<double>(seen.refused + seen.skipped) / due);
  }
};

/// The workers work while it lives, and poll no port any more when it is gone: the driver takes the
/// shared memory away when the other end closes, whoever reads it.
class at_work {
 public:
  explicit at_work(worker_mover& workers) : workers_(workers) { workers_.go_on(); }
  ~at_work() {
    (void)workers_.rest();  // what it dropped under a flood is no trouble
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  at_work(const at_work&) = delete;
  at_work& operator=(const at_work&) = delete;

 private:
  worker_mover& workers_;
};

class latency_run {
 public:
  latency_run(const forward_options& options, case_setup& setup, progress& shown)
      : options_(options), setup_(setup), progress_(shown) {
    ours_.name = "coua";
    ours_slow_.name = "coua/at-rate-of-ovs";
    for (const ovs_caches each : options.ovs) peers_.push_back({name_of(each)});
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
    std::vector<const entrant*> all = {&ours_};
    if (!ours_slow_.mean.empty()) all.push_back(&ours_slow_);
    for (const entrant& each : peers_) all.push_back(&each);
    for (const entrant* each : all) out.rows.push_back(make_row(*each, params));
  }

 private:
  row make_row(const entrant& of, const json& params) const {
    row made;
    made.name = of.name;
    made.params = params;
    made.set_rate(median(of.received), options_.workers);
    const summary mean = summarise(of.mean);
    made.spread = mean.spread;
    made.more = {{"mean_us", mean.median},        {"p50_us", median(of.p50)},
                 {"p99_us", median(of.p99)},      {"p999_us", median(of.p999)},
                 {"longest_us", median(of.most)}, {"offered_mops", median(of.offered)},
                 {"peak_mops", median(of.peak)},  {"peak_refused", median(of.refused)},
                 {"lost", median(of.lost)},       {"late", median(of.late)},
                 {"not_sent", median(of.skipped)}};
    for (const entrant& peer : peers_) {
      std::string field = "mean_ratio_to_" + peer.name;
      std::replace(field.begin(), field.end(), '/', '_');
      if (const double other = median(peer.mean); other > 0) made.more[field] = mean.median / other;
    }
    return made;
  }

  /// The plan of ports that the source of packets has the other ends of.
  port_plan wire(const memif_wires& wires) const {
    port_plan made = setup_.ports;
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

  static std::pair<double, double> find_peak(paced_source& from) {
    std::vector<double> rates, refused;
    for (unsigned i = 0; i < peak_floods; ++i) {
      const auto one = from.flood(warm_seconds);
      rates.push_back(one.mops);
      refused.push_back(one.refused);
    }
    return {median(rates), median(refused)};
  }

  void measure(paced_source& from, std::pair<double, double> peak, double rate,
               entrant& into) const {
    for (unsigned i = 0; i < windows; ++i) {
      into.add(peak.first, peak.second, rate, from.pace(rate, options_.run.seconds / windows));
    }
  }

  result<void> coua() {
    progress_.step("coua");
    const memif_wires wires = next_wires();
    auto bed = pipeline_bed::create(*setup_.of, wire(wires), options_, setup_.memory);
    if (!bed) return tl::unexpected(bed.error());
    auto source = paced_source::create(*setup_.of, wires, 1);
    if (!source) return tl::unexpected(source.error());
    const at_work working((*bed)->workers());
    if (auto done = wait_for_first(**source, "coua"); !done) return done;
    const auto peak = find_peak(**source);
    measure(**source, peak, peak_share * peak.first, ours_);
    if (!peers_.empty()) measure(**source, peak, peers_.front().offered.back(), ours_slow_);
    return {};
  }

  result<void> ovs(ovs_caches caches, entrant& into) {
    progress_.step(into.name);
    const memif_wires wires = next_wires();
    auto other = ovs_switch::start(*setup_.of, wire(wires), setup_.rules,
                                   wires.folder + "/ovs" + std::to_string(wires.serial), caches,
                                   ovs_limits::lifted, options_.workers, setup_.memory.huge_pages);
    if (!other) return tl::unexpected(other.error());
    ovs_switch& there = **other;
    if (auto done = there.add_source(); !done) return done;
    const auto queues = there.queues_to_send();
    if (!queues) return tl::unexpected(queues.error());
    auto source = paced_source::create(*setup_.of, wires, *queues);
    if (!source) return tl::unexpected(source.error());
    if (auto done = settle(there, **source); !done) return done;
    const auto peak = find_peak(**source);
    measure(**source, peak, peak_share * peak.first, into);
    return {};
  }

  static result<void> wait_for_first(paced_source& from, const char* name) {
    for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(10e9);;) {
      if (from.flood(warm_seconds).mops > 0) return {};
      if (now_ns() > end) return fail(errc::io, name, "no packet comes through");
    }
  }

  /// Until no packet misses any more.
  static result<void> settle(const ovs_switch& there, paced_source& from) {
    ovs_counts before;
    for (const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(learn_seconds * 1e9);;) {
      const auto rate = from.flood(warm_seconds);
      const result<ovs_counts> now = there.counts();
      if (!now) return tl::unexpected(now.error());
      const bool settled = has_settled(before, *now);
      before = *now;
      if (settled && rate.mops > 0) return {};
      if (now_ns() > end) return fail(errc::io, there.name(), "still misses flows after a minute");
    }
  }

  const forward_options& options_;
  case_setup& setup_;
  progress& progress_;
  unsigned serial_ = 0;
  entrant ours_, ours_slow_;
  std::vector<entrant> peers_;
};

}  // namespace

result<report> run_latency(const forward_options& options) {
  report out;
  out.bench = "forward";
  out.params = {{"measure", "latency"},
                {"repetitions", options.run.repetitions},
                {"seconds", options.run.seconds}};
  progress shown("forward");
  auto setup = case_setup::create(options);
  if (!setup) return tl::unexpected(setup.error());
  setup->memory.mib += source_mib;
  out.params["packet_pages"] = setup->memory.huge_pages ? "2M" : "4K";
  if (auto running = start_eal_for(options, setup->memory); !running)
    return tl::unexpected(running.error());
  latency_run turns(options, *setup, shown);
  if (auto done = turns.run(); !done) return tl::unexpected(done.error());
  turns.add_rows(setup->params(options), out);
  return out;
}

}  // namespace coua::bench
