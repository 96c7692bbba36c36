// SPDX-License-Identifier: Apache-2.0
#include "bench/lpm/lpm_command.h"

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/size.h"
#include "bench/harness/crew.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "bench/lpm/coua_routes.h"
#ifdef COUA_BENCH_DPDK
#include "bench/lpm/peers/rte_routes.h"
#endif

namespace coua::bench {
namespace {

constexpr std::size_t trace_keys = std::size_t{1} << 20;

/// All tables over one set of routes, interleaved.
class lpm_run {
 public:
  lpm_run(const lpm_options& options, crew& people, report& out)
      : options_(options), crew_(people), out_(out), progress_("lpm") {}

  result<void> run(ip_family family, std::uint64_t n) {
    progress_.step("making " + format_count(n) + " routes");
    routes_ = std::make_unique<route_set>(family, n, options_.run.seed);
    tables_.clear();
    for (const unsigned bits : options_.roots) {
      if (auto made = enter([&] { return make_coua_routes(*routes_, bits, options_.batch); });
          !made) {
        return made;
      }
    }
#ifdef COUA_BENCH_DPDK
    if (!options_.peers.empty()) {
      if (auto made = enter([&] { return make_rte_fib(*routes_, options_.batch); }); !made) {
        return made;
      }
    }
#endif
    if (auto done = look_up(); !done) return done;
    for (entrant& each : tables_) {
      progress_.step("changing " + each.who->name());
      change(each);
    }
    add_rows();
    return {};
  }

 private:
  struct entrant {
    std::unique_ptr<route_table> who;
    double load_seconds = 0;
    std::vector<double> rates;
    double change_mops = 0;
  };

  template <class Make>
  result<void> enter(Make make) {
    progress_.step("loading");
    const std::uint64_t start = now_ns();
    auto made = make();
    if (!made) return tl::unexpected(made.error());
    tables_.push_back({std::move(*made), static_cast<double>(now_ns() - start) / 1e9, {}, 0});
    return {};
  }

  result<void> look_up() {
    auto trace = sequence::create(trace_keys, 2);
    if (!trace) return tl::unexpected(trace.error());
    trace->fill_keys(*routes_, 0, options_.run.seed);
    std::vector<sequence> traces;
    traces.push_back(std::move(*trace));
    for (unsigned round = 0; round < options_.run.repetitions; ++round) {
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        entrant& each = tables_[(i + round) % tables_.size()];
        progress_.step(each.who->name());
        const window one =
            run_window(crew_, 1, *each.who, traces, options_.run.seconds, answer_code{});
        if (one.sum != one.expected) return fail(errc::io, each.who->name(), "gave a wrong answer");
        each.rates.push_back(one.mops);
      }
    }
    return {};
  }

  void change(entrant& each) {
    const auto length_ns = static_cast<std::uint64_t>(options_.run.seconds * 1e9);
    random_words random(options_.run.seed);
    const std::uint64_t start = now_ns();
    std::uint64_t n = 0, now = start;
    while (now - start < length_ns) {
      for (int i = 0; i < 64; ++i, n += 2) {
        const std::uint64_t at = random.below(routes_->entries);
        each.who->change(routes_->routes()[at], static_cast<std::uint32_t>(at));
      }
      now = now_ns();
    }
    each.change_mops = 1e3 * static_cast<double>(n) / static_cast<double>(now - start);
  }

  void add_rows() {
    const auto n = static_cast<double>(routes_->entries);
    for (const entrant& each : tables_) {
      row one;
      one.name = "lpm/" + each.who->name();
      one.params = {{"family", to_string(routes_->family())},
                    {"prefixes", routes_->entries},
                    {"batch", options_.batch}};
      one.params.update(each.who->params());
      const summary rate = summarise(each.rates);
      one.set_rate(rate.median);
      one.spread = rate.spread;
      one.bytes_per_entry = static_cast<double>(each.who->bytes()) / n;
      one.more["load_mops"] = n / each.load_seconds / 1e6;
      one.more["change_mops"] = each.change_mops;
      one.more.update(each.who->describe());
      out_.rows.push_back(std::move(one));
    }
  }

  const lpm_options& options_;
  crew& crew_;
  report& out_;
  progress progress_;
  std::unique_ptr<route_set> routes_;
  std::vector<entrant> tables_;
};

}  // namespace

const std::vector<std::string>& lpm_peer_names() {
  static const std::vector<std::string> names = {
#ifdef COUA_BENCH_DPDK
      "rte_fib",
#endif
  };
  return names;
}

result<report> run_lpm(const lpm_options& options) {
  auto people = crew::create(1);
  if (!people) return tl::unexpected(people.error());
  report out;
  out.bench = "lpm";
  out.params = {{"seconds", options.run.seconds}, {"repetitions", options.run.repetitions}};
  lpm_run run(options, **people, out);
  for (const ip_family family : options.families) {
    for (const std::uint64_t n : options.prefixes) {
      if (auto done = run.run(family, n); !done) return tl::unexpected(done.error());
    }
  }
  return out;
}

}  // namespace coua::bench
