// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/worker_mover.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "base/clock.h"
#include "bench/harness/cpu_time.h"
#include "dp/bench_hooks.h"

namespace coua::bench {
namespace {

constexpr auto start_time = std::chrono::milliseconds(10);  // until a window's rate is steady
constexpr std::uint64_t patience_ns = 10'000'000'000;
constexpr const char* worker_name = "coua-worker";

}  // namespace

std::vector<pid_t> threads_of_workers() { return threads_named(getpid(), worker_name); }

result<std::vector<pid_t>> new_workers(const std::vector<pid_t>& before, unsigned wanted) {
  std::vector<pid_t> out;
  // A thread names itself once it runs.
  for (const std::uint64_t deadline = now_ns() + 5'000'000'000; now_ns() < deadline;) {
    const std::vector<pid_t> now = threads_of_workers();
    out.clear();
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::back_inserter(out));
    if (out.size() == wanted) return out;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return fail(errc::io, "coua",
              "found " + std::to_string(out.size()) + " of its " + std::to_string(wanted) +
                  " worker threads");
}

void worker_mover::go_on() {
  before_ = count();
  dp::set_raw_io(device_, mode_ == worker_mode::raw);
  dp::set_paused(device_, false);
}

std::uint64_t worker_mover::sent() const { return count()["tx_packets"]; }

std::uint64_t worker_mover::cpu_ns() const { return threads_cpu_ns(workers_); }

result<void> worker_mover::rest() {
  dp::set_paused(device_, true);
  return mode_ == worker_mode::switching ? check(before_) : result<void>();
}

result<double> worker_mover::run(double seconds) {
  go_on();
  std::this_thread::sleep_for(start_time);
  const std::uint64_t before = sent(), start = cpu_ns();
  std::uint64_t after = 0, end = start;
  // On a busy machine workers may have had no CPU at all in a short window.
  for (const std::uint64_t deadline = now_ns() + patience_ns;
       end == start && now_ns() < deadline;) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    after = sent();
    end = cpu_ns();
  }
  if (result<void> clean = rest(); !clean) return tl::unexpected(clean.error());
  if (end == start) return fail(errc::io, "coua", "its workers had no CPU time in 10 s");
  return 1e3 * static_cast<double>(after - before) * static_cast<double>(workers_.size()) /
         static_cast<double>(end - start);
}

worker_mover::counts worker_mover::count() const {
  counts out;
  for (const std::string& port : ports_) {
    const auto counters = device_.port_counters(port);
    if (!counters) continue;
    for (const dp::counter& each : *counters) out[each.name] += each.value;
  }
  return out;
}

result<void> worker_mover::check(const counts& before) const {
  for (const auto& [name, now] : count()) {
    const std::uint64_t more = now - before.at(name);
    const bool wrong =
        (name == "flooded" && !floods_) || name == "to_controller" || name.starts_with("drop_");
    if (!wrong || more == 0) continue;
    return fail(errc::io, "coua", std::to_string(more) + " packets were counted as " + name);
  }
  return {};
}

}  // namespace coua::bench
