// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/cold_start.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/size.h"
#include "bench/forward/case_setup.h"
#include "bench/forward/cold_start_course.h"
#include "bench/forward/ovs_switch.h"
#include "bench/forward/pipeline_bed.h"
#include "bench/harness/progress.h"
#include "bench/traffic/case_files.h"

namespace coua::bench {
namespace {

/// One turn of a switch.
struct turn {
  std::vector<snapshot> at;
  double cpu_seconds = 0;
};

class cold_start {
 public:
  cold_start(const forward_options& options, case_setup& setup, progress& shown)
      : options_(options), setup_(setup), progress_(shown) {}

  result<void> coua(cold_course& into) {
    progress_.step("adding the rules");
    auto bed = pipeline_bed::create(*setup_.of, setup_.ports, options_, setup_.memory);
    if (!bed) return tl::unexpected(bed.error());
    worker_mover& workers = (*bed)->workers();
    into.name = workers.name();
    progress_.step(into.name);
    workers.go_on();
    auto made = watch([&] { return workers.cpu_ns(); },
                      [&]() -> result<snapshot> {
                        return snapshot{0, static_cast<double>(workers.sent()), 0};
                      });
    if (auto clean = workers.rest(); !clean) return clean;
    return take(made, into);
  }

  result<void> ovs(ovs_caches caches, ovs_limits limits, cold_course& into) {
    into.name = name_of(caches) + (limits == ovs_limits::lifted ? "/lifted" : "");
    progress_.step("starting Open vSwitch");
    auto other = ovs_switch::start(*setup_.of, setup_.ports, setup_.rules,
                                   setup_.files->path() + "/" + std::to_string(serial_++), caches,
                                   limits, options_.workers, setup_.memory.huge_pages);
    if (!other) return tl::unexpected(other.error());
    ovs_switch& there = **other;
    progress_.step(into.name);
    if (auto done = there.add_source(); !done) return done;
    return take(watch([&] { return there.cpu_ns(); },
                      [&]() -> result<snapshot> {
                        const auto lifted =
                            limits == ovs_limits::lifted ? there.lift_limits() : result<void>();
                        if (!lifted) return tl::unexpected(lifted.error());
                        const auto now = there.counts();
                        if (!now) return tl::unexpected(now.error());
                        return snapshot{0, static_cast<double>(now->sent),
                                        static_cast<double>(now->misses())};
                      }),
                into);
  }

 private:
  static result<void> take(const result<turn>& made, cold_course& into) {
    if (!made) return tl::unexpected(made.error());
    into.turns.push_back(made->at);
    into.cpu_seconds.push_back(made->cpu_seconds);
    return {};
  }

  /// From now on. What it forwarded before that moment counts for the first window.
  result<turn> watch(const std::function<std::uint64_t()>& cpu_ns,
                     const std::function<result<snapshot>()>& look) {
    std::vector<snapshot> looks(1);
    const std::uint64_t cpu_before = cpu_ns(), start = now_ns();
    const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    for (unsigned i = 1; i <= options_.windows; ++i) {
      const double end = i * options_.run.seconds;
      std::this_thread::sleep_until(began +
                                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                        std::chrono::duration<double>(end)));
      auto now = look();
      if (!now) return tl::unexpected(now.error());
      now->seconds = static_cast<double>(now_ns() - start) / 1e9;
      looks.push_back(*now);
    }
    return turn{at_ends(looks, options_.windows, options_.run.seconds),
                static_cast<double>(cpu_ns() - cpu_before) / 1e9};
  }

  const forward_options& options_;
  case_setup& setup_;
  progress& progress_;
  unsigned serial_ = 0;
};

}  // namespace

result<report> run_cold_start(const forward_options& options) {
  progress shown("forward");
  auto setup = case_setup::create(options);
  if (!setup) return tl::unexpected(setup.error());
  const std::uint64_t flows = setup->of->params().flows;
  shown.step("writing " + format_count(flows) + " packets");
  if (auto done = write_case_packets(*setup->of, flows, setup->files->path()); !done)
    return tl::unexpected(done.error());

  cold_start starts(options, *setup, shown);
  cold_course ours;
  std::vector<cold_course> peers(2 * options.ovs.size());
  for (unsigned i = 0; i < options.run.repetitions; ++i) {
    if (auto done = starts.coua(ours); !done) return tl::unexpected(done.error());
    auto peer = peers.begin();
    for (const ovs_caches caches : options.ovs) {
      for (const ovs_limits limits : {ovs_limits::own, ovs_limits::lifted}) {
        if (auto done = starts.ovs(caches, limits, *peer++); !done)
          return tl::unexpected(done.error());
      }
    }
  }
  report out = setup->start_report("cold-start", options);
  out.params["feed"] = to_string(options.feed);
  out.params["windows"] = options.windows;
  const json params = setup->params(options);
  const auto add = [&](const cold_course& each) {
    for (row& made : make_rows(each, peers, params, options.workers))
      out.rows.push_back(std::move(made));
  };
  add(ours);
  std::for_each(peers.begin(), peers.end(), add);
  return out;
}

}  // namespace coua::bench
