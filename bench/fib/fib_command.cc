// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/fib_command.h"

#include <algorithm>

#include "base/clock.h"
#include "base/size.h"
#include "bench/fib/coua_table.h"
#include "bench/fib/factor_table.h"
#include "bench/fib/fib_filling.h"
#include "bench/fib/measurement.h"
#include "bench/fib/peers.h"
#include "bench/harness/cpu_time.h"
#include "table/fib_geometry.h"

namespace coua::bench {
namespace {

/// The widest values, of at most 16 bits, with which a table keeps its layout and is no larger than
/// its entries need at this load: one-word slots need buckets by the width of a value.
unsigned widest_values(std::uint64_t entries, double load, coua_fib_layout layout) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = entries;
  params.max_load = load;
  params.layout = layout;
  for (params.value_bits = 16; params.value_bits > 1; --params.value_bits) {
    const auto made = fib_geometry::plan(params);
    if (!made) break;  // creating the table says what is wrong
    const bool one_word = made->layout != simd::fib_layout::wide8;
    const bool asked_wide = layout == COUA_FIB_LAYOUT_WIDE8;
    if ((one_word || asked_wide) && made->n_buckets == made->n_buckets_asked) break;
  }
  return params.value_bits;
}

class fib_run {
 public:
  fib_run(const fib_options& options, crew& people, report& out)
      : options_(options), crew_(people), out_(out), progress_("fib") {}

  /// One table size and load, with everything that is compared at it.
  result<void> measure(std::uint64_t entries, double load) {
    const unsigned value_bits = options_.value_bits != 0
                                    ? options_.value_bits
                                    : widest_values(entries, load, options_.layout);
    const population people{entries, value_bits};
    if (result<void> done = measure_inserts(people, load); !done) return done;
    result<std::unique_ptr<coua_table>> ours = create(people, load);
    if (!ours) return tl::unexpected(ours.error());
    const json params = {{"entries", entries}, {"load", load}};
    if (result<void> done = load_table(**ours, people, params); !done) return done;
    std::vector<std::unique_ptr<lookup_table>> others;
    if (options_.figure == 5) {
      auto made = make_factor_tables(
          {entries, load, value_bits, options_.batches.front(), options_.load_threads});
      if (!made) return tl::unexpected(made.error());
      others = std::move(*made);
      for (const auto& each : others) {
        if (result<void> done = load_table(*each, people, params); !done) return done;
      }
    }
    for (const std::string& name : options_.peers) {
      result<std::unique_ptr<lookup_table>> made =
          make_peer(name, {entries, options_.pages, options_.batches});
      if (!made) return tl::unexpected(made.error());
      if (result<void> done = load_table(**made, people, params); !done) return done;
      others.push_back(std::move(*made));
    }

    const arena& memory = (*ours)->memory();
    result<std::unique_ptr<measurement>> run =
        measurement::create(options_, people, crew_, memory.data(), memory.bytes(), progress_);
    if (!run) return tl::unexpected(run.error());
    if (result<void> good = (*run)->add(**ours, row_params(**ours, params)); !good) return good;
    for (const auto& each : others) {
      if (result<void> good = (*run)->add(*each, row_params(*each, params)); !good) return good;
    }
    for (const std::uint64_t rate : options_.updates) {
      result<void> done =
          rate == 0 ? (*run)->run(out_.rows) : (*run)->run_updates((*ours)->fib(), rate, out_.rows);
      if (!done) return done;
    }
    return {};
  }

 private:
  result<std::unique_ptr<coua_table>> create(const population& people, double load) const {
    coua_table_params params;
    params.entries = people.entries;
    params.load = load;
    params.value_bits = people.value_bits;
    params.layout = options_.layout;
    params.pages = options_.pages;
    params.modes = options_.modes;
    params.batches = options_.batches;
    params.readers = crew_.size();
    params.load_threads = options_.load_threads;
    return coua_table::create(params);
  }

  json row_params(const lookup_table& table, const json& params) const {
    json out = params;
    out["pages"] = pages_word(options_.pages);
    const json own = table.describe();
    if (own.contains("layout")) out["layout"] = own["layout"];
    if (own.contains("value_bits")) out["value_bits"] = own["value_bits"];
    return out;
  }

  /// Before the table that is looked up: their memory is free again when that takes its own.
  result<void> measure_inserts(const population& people, double load) {
    fib_filling filling(people, crew_);
    for (unsigned round = 0; round < options_.fills; ++round) {
      progress_.step("inserting " + format_count(people.entries) + " entries, one thread");
      for (const bool batched : {round % 2 != 0, round % 2 == 0}) {
        auto table = create(people, load);
        if (!table) return tl::unexpected(table.error());
        if (result<void> done = filling.fill(**table, batched); !done) return done;
        if (round + 1 < options_.fills) continue;
        const json params =
            row_params(**table, {{"entries", people.entries}, {"load", load}, {"threads", 1}});
        out_.rows.push_back(filling.make_row(**table, batched, params));
      }
    }
    return {};
  }

  result<void> load_table(lookup_table& table, const population& people, const json& params) {
    progress_.step("loading " + format_count(people.entries) + " entries into " + table.name());
    const std::uint64_t start = now_ns(), cpu_start = this_process_cpu_ns();
    if (result<void> done = table.load(people); !done) return done;
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    const double cpu_seconds = static_cast<double>(this_process_cpu_ns() - cpu_start) / 1e9;
    const double entries = static_cast<double>(people.entries);
    row out;
    out.name = table.name() + "/load";
    out.params = row_params(table, params);
    out.params["threads"] = table.load_threads();
    out.set_rate(entries / seconds / 1e6, table.load_threads());
    out.bytes_per_entry = static_cast<double>(table.bytes()) / entries;
    out.more["seconds"] = seconds;
    out.more["cpu_seconds"] = cpu_seconds;
    const json own = table.describe();
    for (const auto& [name, value] : own.items()) {
      if (!out.params.contains(name)) out.more[name] = value;
      if (name == "load") out.more["load_reached"] = value;
    }
    out_.rows.push_back(std::move(out));
    return {};
  }

  const fib_options& options_;
  crew& crew_;
  report& out_;
  progress progress_;
};

}  // namespace

result<report> run_fib(const fib_options& options) {
  if (!options.peers.empty() && options.value_bits > 16) {
    return fail(errc::invalid, "--value-bits", "the compared tables hold values of 16 bits");
  }
  report out = start_report("fib", options.run, options.pairs);
  if (options.figure != 0) out.params["figure"] = options.figure;
  result<std::unique_ptr<crew>> people = crew::create_for(options.threads);
  if (!people) return tl::unexpected(people.error());
  fib_run run(options, **people, out);
  for (const std::uint64_t entries : options.entries) {
    for (const double load : options.loads) {
      if (result<void> done = run.measure(entries, load); !done)
        return tl::unexpected(done.error());
    }
  }
  return out;
}

}  // namespace coua::bench
