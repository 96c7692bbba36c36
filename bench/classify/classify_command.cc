// SPDX-License-Identifier: Apache-2.0
#include "bench/classify/classify_command.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/size.h"
#include "bench/classify/coua_rules.h"
#ifdef COUA_BENCH_DPDK
#include "bench/classify/peers/rte_acl.h"
#endif
#include "bench/harness/crew.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

/// Look-ups of one sequence: long enough that no part of the flows becomes a hot subset.
constexpr std::size_t trace_keys = std::size_t{1} << 20;

/// All look-ups over one set of rules and flows, interleaved.
class classify_run {
 public:
  classify_run(const classify_options& options, crew& people, report& out)
      : options_(options), crew_(people), out_(out), progress_("classify") {}

  result<void> run(std::uint64_t size, std::uint64_t flows, std::uint64_t miss_percent) {
    entrants_.clear();
    skipped_.clear();
    progress_.step("making rules and flows");
    auto source = make_rule_source(
        {options_.kind, size, flows, options_.first_percent, miss_percent, options_.run.seed});
    if (!source) return tl::unexpected(source.error());
    source_ = std::make_unique<rule_source>(std::move(*source));
    if (options_.distinct) source_->make_distinct();
    if (result<void> made = make_entrants(); !made) return made;
    if (result<void> filled = fill_trace(); !filled) return filled;
    if (result<void> done = warm(); !done) return done;
    for (unsigned round = 0; round < options_.run.repetitions; ++round) {
      for (std::size_t i = 0; i < entrants_.size(); ++i) {
        entrant& each = entrants_[(i + round) % entrants_.size()];
        progress_.step(each.who->name());
        const window one =
            run_window(crew_, 1, *each.who, traces_, options_.run.seconds, answer_code{});
        if (one.sum != one.expected) return wrong(each);
        each.rates.push_back(one.mops);
      }
    }
    add_rows(size, miss_percent);
    return {};
  }

 private:
  struct entrant {
    std::unique_ptr<named_contestant> who;
    coua_rules* ours = nullptr;
    std::vector<double> rates;
  };

  result<void> make_entrants() {
    const bool by_set = !options_.simd.empty();
    for (const auto& [word, distributor] : options_.distributors) {
      for (const bool pruned : options_.pruned) {
        std::vector<std::optional<isa>> sets = {std::nullopt};
        if (by_set && distributor != COUA_DISTRIBUTOR_OFF) {
          sets.assign(options_.simd.begin(), options_.simd.end());
        }
        for (const std::optional<isa>& each : sets) {
          progress_.step("adding " + format_count(source_->ternary.entries.size()) + " entries");
          auto made = coua_rules::create(*source_, word, distributor, pruned, each, options_.batch);
          if (!made) return tl::unexpected(made.error());
          coua_rules* ours = made->get();
          entrants_.push_back({std::move(*made), ours, {}});
        }
      }
    }
#ifdef COUA_BENCH_DPDK
    for (const std::string& name : options_.peers) {
      progress_.step("building " + name);
      auto made = make_rte_acl(*source_, options_.batch);
      if (made) {
        entrants_.push_back({std::move(*made), nullptr, {}});
      } else if (made.error().code == errc::no_room) {
        skipped_.emplace_back(name, made.error().what);
      } else {
        return tl::unexpected(made.error());
      }
    }
#endif
    return {};
  }

  result<void> fill_trace() {
    auto trace = sequence::create(trace_keys, source_->key_words());
    if (!trace) return tl::unexpected(trace.error());
    trace->fill_keys(*source_, 0, options_.run.seed);
    traces_.clear();
    traces_.push_back(std::move(*trace));
    return {};
  }

  /// Everybody answers the whole trace, so that distributors know the flows; the answers of each
  /// chunk are compared.
  result<void> warm() {
    const sequence& trace = traces_.front();
    result<void> done;
    crew_.run(1, [&](unsigned) {
      for (entrant& each : entrants_) {
        progress_.step("warming up " + each.who->name());
        for (std::size_t i = 0; i < trace.chunks() && done; ++i) {
          const std::uint64_t sum = each.who->ask(0, trace.chunk(i), chunk_keys);
          if (sum != trace.expected(i, answer_code{})) done = wrong(each);
        }
        if (each.ours != nullptr) each.ours->describe();
      }
    });
    return done;
  }

  static tl::unexpected<error> wrong(const entrant& each) {
    return fail(errc::io, each.who->name(), "gave a wrong answer");
  }

  void add_rows(std::uint64_t size, std::uint64_t miss_percent) {
    json common = {{"kind", options_.kind}, {"batch", options_.batch}};
    common[options_.kind == "masks" ? "masks" : "rules"] = size;
    common["flows"] = source_->entries;
    common["misses"] = miss_percent;
    if (options_.distinct) common["distinct"] = true;
    if (options_.first_percent != 0) common["first"] = options_.first_percent;
    const std::vector<double>* plain = nullptr;
    for (const entrant& each : entrants_) {
      const bool is_plain = each.who->name() == "distributor/off" && !each.who->params()["pruned"];
      if (is_plain) plain = &each.rates;
    }
    for (const entrant& each : entrants_) {
      row one;
      one.name = each.who->name();
      one.params = common;
      one.params.update(each.who->params());
      const summary rate = summarise(each.rates);
      one.set_rate(rate.median);
      one.spread = rate.spread;
      if (plain != nullptr && plain != &each.rates) {
        one.more["ratio_to_plain"] = paired_ratio(each.rates, *plain).median;
      }
      one.more["distinct_masks"] = source_->n_masks;
      if (each.ours != nullptr) {
        one.more.update(each.ours->describe());
        one.more["us_per_add"] = each.ours->seconds_to_add() * 1e6 /
                                 static_cast<double>(source_->ternary.entries.size());
      }
      out_.rows.push_back(std::move(one));
    }
    for (const auto& [name, reason] : skipped_) {
      row one;
      one.name = name;
      one.params = common;
      one.more["left_out"] = reason;
      out_.rows.push_back(std::move(one));
    }
  }

  const classify_options& options_;
  crew& crew_;
  report& out_;
  progress progress_;
  std::unique_ptr<rule_source> source_;
  std::vector<entrant> entrants_;
  std::vector<std::pair<std::string, std::string>> skipped_;
  std::vector<sequence> traces_;
};

}  // namespace

const std::vector<std::string>& classify_peer_names() {
  static const std::vector<std::string> names = {
#ifdef COUA_BENCH_DPDK
      "rte_acl",
#endif
  };
  return names;
}

result<report> run_classify(const classify_options& options) {
  auto people = crew::create(1);
  if (!people) return tl::unexpected(people.error());
  report out;
  out.bench = "classify";
  out.params = {{"kind", options.kind},
                {"seconds", options.run.seconds},
                {"repetitions", options.run.repetitions}};
  classify_run run(options, **people, out);
  for (const std::uint64_t size : options.kind == "masks" ? options.masks : options.rules) {
    for (const std::uint64_t flows : options.flows) {
      for (const std::uint64_t misses : options.misses) {
        result<void> done = run.run(size, flows, misses);
        if (!done) return tl::unexpected(done.error());
      }
    }
  }
  return out;
}

}  // namespace coua::bench
