// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_command.h"

#include <algorithm>
#include <cstdio>

#include "base/size.h"
#include "bench/flow/coua_flows.h"
#include "bench/flow/flow_filling.h"
#include "bench/flow/flow_measurement.h"
#include "bench/flow/flow_memory.h"
#include "bench/flow/flow_peers.h"
#include "bench/flow/flow_ratios.h"
#include "bench/flow/flow_shape.h"
#include "bench/flow/flow_source.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

/// Everything that is compared at one capacity.
class flow_run {
 public:
  flow_run(const flow_options& options, crew& people, std::uint64_t capacity, report& out)
      : options_(options), crew_(people), capacity_(capacity), out_(out), progress_("flow") {}

  result<void> create() {
    measured_params params;
    params.capacity = capacity_;
    params.people = population_at(options_.loads.back());
    params.tables = crew_.size();
    params.pages = options_.pages;
    params.modes = options_.modes;
    params.batches = options_.batches;
    for (const flow_variant_word& variant : options_.variants) {
      for (const coua_flow_sync sync : options_.syncs) {
        auto made = std::make_unique<coua_flows>(params, variant, sync);
        if (ours_ == nullptr) ours_ = made.get();
        tables_.push_back({std::move(made), {}});
      }
    }
    for (const std::string& name : options_.peers) {
      auto made = make_wanted_peer(options_, name, params, out_);
      if (!made) return tl::unexpected(made.error());
      if (*made != nullptr) tables_.push_back({std::move(*made), {}});
    }
    return {};
  }

  result<void> measure() {
    const unsigned fills = options_.fills == 0 ? options_.run.repetitions : options_.fills;
    for (unsigned round = 0; round < fills; ++round) {
      if (result<void> done = fill_all(round); !done) return done;
    }
    for (const entrant& each : tables_) {
      for (const double load : options_.loads) out_.rows.push_back(insert_row(each, load));
    }
    if (options_.modes.empty()) return {};
    const bool full = options_.loads.size() == 1;  // as the last round left them
    std::uint64_t from = 0;
    for (const double load : options_.loads) {
      if (!full) {
        if (result<void> done = raise(from, population_at(load)); !done) return done;
        from = population_at(load).entries;
      }
      if (result<void> done = look_up(load); !done) return done;
    }
    return {};
  }

 private:
  struct entrant {
    std::unique_ptr<measured_table> table;
    std::vector<std::vector<double>> seconds;  // to reach each load from empty, by round
  };

  flow_population population_at(double load) const {
    const auto entries = static_cast<std::uint64_t>(load * static_cast<double>(capacity_));
    return {entries, options_.key_bytes, options_.value_bytes};
  }

  json row_params(const measured_table& table, double load) const {
    json out = {{"capacity", capacity_},
                {"load", load},
                {"key", options_.key_bytes},
                {"value", options_.value_bytes},
                {"pages", pages_word(options_.pages)}};
    out.update(table.params());
    return out;
  }

  /// Every table from empty to the highest load; the clock is read at each load.
  result<void> fill_all(unsigned round) {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      entrant& each = tables_[(i + round) % tables_.size()];
      progress_.step("filling " + each.table->name() + " with " +
                     format_count(population_at(options_.loads.back()).entries) + " entries");
      if (result<void> made = make_empty(crew_, *each.table); !made) return made;
      std::uint64_t from = 0;
      std::vector<double> seconds;
      for (const double load : options_.loads) {
        const flow_population people = population_at(load);
        result<double> took = fill_tables(crew_, *each.table, people, from, people.entries);
        if (!took) return tl::unexpected(took.error());
        seconds.push_back(*took + (seconds.empty() ? 0 : seconds.back()));
        from = people.entries;
      }
      each.seconds.push_back(std::move(seconds));
    }
    return {};
  }

  result<void> raise(std::uint64_t from, const flow_population& people) {
    for (const entrant& each : tables_) {
      progress_.step("filling " + each.table->name());
      if (from == 0) {
        if (result<void> made = make_empty(crew_, *each.table); !made) return made;
      }
      const result<double> took = fill_tables(crew_, *each.table, people, from, people.entries);
      if (!took) return tl::unexpected(took.error());
    }
    return {};
  }

  std::vector<double> rates_of(const entrant& each, double load) const {
    const auto at = std::find(options_.loads.begin(), options_.loads.end(), load);
    const auto entries = static_cast<double>(population_at(load).entries);
    std::vector<double> rates;
    for (const std::vector<double>& round : each.seconds) {
      const double seconds = round[static_cast<std::size_t>(at - options_.loads.begin())];
      rates.push_back(entries * crew_.size() / seconds / 1e6);
    }
    return rates;
  }

  row insert_row(const entrant& each, double load) const {
    const summary rate = summarise(rates_of(each, load));
    row out;
    out.name = each.table->name() + "/insert";
    out.params = row_params(*each.table, load);
    out.params["threads"] = crew_.size();
    out.set_rate(rate.median, crew_.size());
    out.bytes_per_entry =
        static_cast<double>(each.table->bytes()) / static_cast<double>(population_at(load).entries);
    out.spread = rate.spread;
    for (const entrant& other : tables_) {
      if (other.table->name() != "rte_hash") continue;
      out.more["ratio_to_rte_hash"] =
          paired_ratio(rates_of(each, load), rates_of(other, load)).median;
    }
    for (const flow_ratio& wanted : flow_ratios(out.name, row_params(*each.table, load))) {
      for (const entrant& other : tables_) {
        if (other.table->name() + "/insert" != wanted.name ||
            row_params(*other.table, load) != wanted.params) {
          continue;
        }
        out.more[wanted.field] = paired_ratio(rates_of(each, load), rates_of(other, load)).median;
      }
    }
    if (load == options_.loads.back()) out.more.update(each.table->describe());
    return out;
  }

  result<void> look_up(double load) {
    const arena& memory = ours_->memory();
    auto run = flow_measurement::create(options_, population_at(load), crew_, memory.data(),
                                        memory.bytes(), progress_);
    if (!run) return tl::unexpected(run.error());
    for (const entrant& each : tables_) {
      if (result<void> good = (*run)->add(*each.table, row_params(*each.table, load)); !good) {
        return good;
      }
    }
    for (const std::uint64_t rate : options_.churns) {
      result<void> done = rate == 0 ? (*run)->run(out_.rows) : (*run)->run_churn(rate, out_.rows);
      if (!done) return done;
    }
    return {};
  }

  const flow_options& options_;
  crew& crew_;
  std::uint64_t capacity_;
  report& out_;
  progress progress_;
  std::vector<entrant> tables_;
  const coua_flows* ours_ = nullptr;  // the first of them
};

/// What the grammar cannot see in one option alone.
result<void> check(const flow_options& options) {
  for (const std::uint64_t capacity : options.capacities) {
    const flow_population people = {capacity, options.key_bytes, options.value_bytes};
    if (2 * capacity > people.most_keys()) {
      return fail(errc::invalid, "--key " + std::to_string(options.key_bytes),
                  "is too short for twice " + size_word(capacity) +
                      " different keys (half of them are misses)");
    }
  }
  const bool shared = std::find(options.syncs.begin(), options.syncs.end(), COUA_FLOW_ONE_WRITER) !=
                      options.syncs.end();
  for (const std::uint64_t rate : options.churns) {
    if (rate == 0) continue;
    const std::string option = "--churn " + std::to_string(rate);
    if (!shared) return fail(errc::invalid, option, "needs tables of --sync one-writer");
    if (options.threads != std::vector<std::uint64_t>{1}) {
      return fail(errc::invalid, option, "needs --threads 1: the writer has one table");
    }
  }
  return {};
}

result<void> run_capacity(const flow_options& options, crew& people, std::uint64_t capacity,
                          report& out) {
  if (options.figure == 2) return add_secondary_shares(options, people, capacity, out);
  if (options.figure == 5) return add_moved_counts(options, people, capacity, out);
  if (options.table == "memory") return add_memory(options, people, capacity, out);
  if (options.table == "2") return add_false_positives(options, people, capacity, out);
  flow_run run(options, people, capacity, out);
  if (result<void> done = run.create(); !done) return done;
  return run.measure();
}

}  // namespace

result<report> run_flow(const flow_options& asked) {
  if (result<void> good = check(asked); !good) return tl::unexpected(good.error());
  flow_options options = asked;
  std::sort(options.loads.begin(), options.loads.end());
  for (std::uint64_t& capacity : options.capacities) capacity = (capacity + 7) / 8 * 8;
  report out = start_report("flow", options.run, options.pairs);
  if (options.figure != 0) out.params["figure"] = options.figure;
  if (!options.table.empty()) out.params["table"] = options.table;
  if (options.figure == 2 || options.figure == 5 || options.figure == 7 || options.table == "2") {
    out.params["panels"] = {"capacity", "key"};
  }
  if (options.figure == 3 || options.figure == 8 || options.figure == 9) {
    out.params["panels"] = {"capacity", "load"};
  }
  if (options.table == "memory") out.params["panels"] = {"capacity", "load"};
  if (options.table == "1" || options.table == "memory") out.params["bars"] = true;
  if (options.table == "1") {
    add_source_lines(options, out);
    return out;
  }
  result<std::unique_ptr<crew>> people = crew::create_for(options.threads);
  if (!people) return tl::unexpected(people.error());
  for (const std::uint64_t capacity : options.capacities) {
    result<void> done = run_capacity(options, **people, capacity, out);
    if (done) continue;
    if (done.error().code != errc::no_memory || options.capacities.size() == 1) {
      return tl::unexpected(done.error());
    }
    std::fprintf(stderr, "coua-bench: left out: --capacity %s: %s\n", size_word(capacity).c_str(),
                 done.error().message().c_str());
  }
  if (out.rows.empty()) return fail(errc::no_memory, "--capacity", "none of them fits");
  return out;
}

}  // namespace coua::bench
