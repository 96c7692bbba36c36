// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/cold_start.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/size.h"
#include "bench/forward/case_setup.h"
#include "bench/forward/ovs_switch.h"
#include "bench/forward/pipeline_bed.h"
#include "bench/harness/progress.h"
#include "bench/traffic/case_files.h"

namespace coua::bench {
namespace {

/// What a switch says of itself at some moment.
struct snapshot {
  double seconds = 0;  // since the start
  double packets = 0;  // that left
  double misses = 0;   // that its slow path had to look at
};

struct course {
  std::string name;
  std::vector<snapshot> at;  // the ends of the windows, and before them the start
  double cpu_seconds = 0;    // that the workers had
};

double between(double from, double to, double share) { return from + share * (to - from); }

/// A look takes time, and packets go on: what was there at `seconds` exactly.
snapshot at_end(const snapshot& before, const snapshot& after, double seconds) {
  const double share = (seconds - before.seconds) / (after.seconds - before.seconds);
  return {seconds, between(before.packets, after.packets, share),
          between(before.misses, after.misses, share)};
}

class cold_start {
 public:
  cold_start(const forward_options& options, case_setup& setup, progress& shown)
      : options_(options), setup_(setup), progress_(shown) {}

  result<course> coua() {
    progress_.step("adding the rules");
    auto bed = pipeline_bed::create(*setup_.of, setup_.ports, options_, setup_.memory);
    if (!bed) return tl::unexpected(bed.error());
    worker_mover& workers = (*bed)->workers();
    progress_.step("coua");
    workers.go_on();
    auto made = watch([&]() -> result<snapshot> {
      return snapshot{0, static_cast<double>(workers.sent()), 0};
    });
    if (auto clean = workers.rest(); !clean) return tl::unexpected(clean.error());
    if (!made) return made;
    made->name = workers.name();
    made->cpu_seconds = static_cast<double>(workers.cpu_ns()) / 1e9;
    return made;
  }

  result<course> ovs(ovs_caches caches, ovs_limits limits) {
    progress_.step("starting Open vSwitch");
    auto other = ovs_switch::start(*setup_.of, setup_.ports, setup_.rules,
                                   setup_.files->path() + "/" + std::to_string(serial_++), caches,
                                   limits, options_.workers, setup_.memory.huge_pages);
    if (!other) return tl::unexpected(other.error());
    ovs_switch& there = **other;
    progress_.step(there.name());
    if (auto done = there.add_source(); !done) return tl::unexpected(done.error());
    auto made = watch([&]() -> result<snapshot> {
      const auto now = there.counts();
      if (!now) return tl::unexpected(now.error());
      return snapshot{0, static_cast<double>(now->sent), static_cast<double>(now->misses())};
    });
    if (!made) return made;
    made->name = there.name() + (limits == ovs_limits::lifted ? "/lifted" : "");
    made->cpu_seconds = static_cast<double>(there.cpu_ns()) / 1e9;
    return made;
  }

 private:
  /// From now on. What it forwarded before that moment counts for the first window.
  result<course> watch(const std::function<result<snapshot>()>& look) {
    course made;
    std::vector<snapshot> looks(1);
    const std::uint64_t start = now_ns();
    const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    for (unsigned i = 1; i <= options_.run.repetitions; ++i) {
      const double end = i * options_.run.seconds;
      std::this_thread::sleep_until(began +
                                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                        std::chrono::duration<double>(end)));
      auto now = look();
      if (!now) return tl::unexpected(now.error());
      now->seconds = static_cast<double>(now_ns() - start) / 1e9;
      looks.push_back(*now);
    }
    // An answer may take longer than a window: of the two looks around its end.
    made.at.emplace_back();
    for (unsigned i = 1; i <= options_.run.repetitions; ++i) {
      const double end = i * options_.run.seconds;
      auto after = std::find_if(looks.begin() + 1, looks.end() - 1,
                                [&](const snapshot& one) { return one.seconds >= end; });
      made.at.push_back(at_end(*(after - 1), *after, end));
    }
    return made;
  }

  const forward_options& options_;
  case_setup& setup_;
  progress& progress_;
  unsigned serial_ = 0;
};

/// A row for each window.
void add_rows(const course& of, const std::vector<course>& peers, const json& params,
              const forward_options& options, report& out) {
  for (std::size_t i = 1; i < of.at.size(); ++i) {
    const snapshot &from = of.at[i - 1], &to = of.at[i];
    row made;
    made.name = of.name;
    made.params = params;
    made.params["second"] = std::round(to.seconds * 1e6) / 1e6;  // 0.9, not 0.8999999
    made.set_rate((to.packets - from.packets) / options.run.seconds / 1e6, options.workers);
    made.more["packets"] = to.packets;
    for (const course& peer : peers) {
      if (peer.at[i].packets <= 0) continue;
      std::string field = "ratio_to_" + peer.name;
      for (char& c : field) c = c == '/' ? '_' : c;
      made.more[field] = to.packets / peer.at[i].packets;
    }
    if (of.name != "coua") made.more["misses"] = to.misses - from.misses;
    if (i + 1 == of.at.size()) made.more["cpu_seconds"] = of.cpu_seconds;
    out.rows.push_back(std::move(made));
  }
}

}  // namespace

result<report> run_cold_start(const forward_options& options) {
  report out;
  out.bench = "forward";
  out.params = {{"measure", "cold-start"},
                {"repetitions", options.run.repetitions},
                {"seconds", options.run.seconds}};
  progress shown("forward");
  auto setup = case_setup::create(options);
  if (!setup) return tl::unexpected(setup.error());
  out.params["packet_pages"] = setup->memory.huge_pages ? "2M" : "4K";
  const std::uint64_t flows = setup->of->params().flows;
  shown.step("writing " + format_count(flows) + " packets");
  if (auto done = write_case_packets(*setup->of, flows, setup->files->path()); !done)
    return tl::unexpected(done.error());

  cold_start starts(options, *setup, shown);
  auto ours = starts.coua();
  if (!ours) return tl::unexpected(ours.error());
  std::vector<course> peers;
  for (const ovs_caches caches : options.ovs) {
    for (const ovs_limits limits : {ovs_limits::own, ovs_limits::lifted}) {
      auto one = starts.ovs(caches, limits);
      if (!one) return tl::unexpected(one.error());
      peers.push_back(std::move(*one));
    }
  }
  const json params = setup->params(options);
  add_rows(*ours, peers, params, options, out);
  for (const course& each : peers) add_rows(each, peers, params, options, out);
  return out;
}

}  // namespace coua::bench
