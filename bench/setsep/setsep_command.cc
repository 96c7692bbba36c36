// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_command.h"

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/size.h"
#include "bench/harness/crew.h"
#include "bench/harness/population.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "bench/limit/line_limit.h"
#include "bench/setsep/bring_up.h"
#include "bench/setsep/plain_loop.h"
#include "bench/setsep/scaling.h"
#include "bench/setsep/setsep_contest.h"
#include "bench/setsep/setsep_lookups.h"
#include "bench/setsep/setsep_peers.h"
#include "bench/setsep/update_measurement.h"
#include "setsep/bulk_build.h"

namespace coua::bench {
namespace {

/// Of our keys, so that runs are alike.
setsep::key_hasher make_hasher(std::uint64_t seed) {
  random_words random(seed);
  hash_key key;
  for (auto& each : key) each = static_cast<std::decay_t<decltype(each)>>(random());
  return {key, sizeof(std::uint64_t)};
}

std::string config_word(const setsep::layout& of) {
  return std::to_string(8 * of.index_bytes) + "+" + std::to_string(8 * of.array_bytes);
}

class setsep_run {
 public:
  setsep_run(const setsep_options& options, const setsep_peers& peers, crew& people, report& out)
      : options_(options),
        peers_(peers),
        crew_(people),
        out_(out),
        progress_("setsep"),
        hasher_(make_hasher(options.run.seed)) {}

  result<void> run(std::uint64_t n_keys, const setsep::layout& shape) {
    make_keys(n_keys, shape);
    std::unique_ptr<setsep::table> made;
    if (auto done = build(options_.threads, made); !done) return done;
    auto files = bring_up::create(*made, n_keys);
    if (!files) return tl::unexpected(std::move(files.error()));
    if (auto done = bring_up_replicas(*files, *made); !done) return done;
    if (auto done = look_up(*made, &files->mapped()); !done) return done;
    made.reset();
    return update();
  }

  /// Table 1: one of the three at a time differs from the first configuration, number of bits, and
  /// number of threads.
  result<void> run_table_1(std::uint64_t n_keys) {
    std::unique_ptr<setsep::table> made;
    const auto rows_for = [&](setsep::layout shape, std::uint64_t bits,
                              const std::vector<std::uint64_t>& threads) -> result<void> {
      shape.value_bits = static_cast<unsigned>(bits);
      make_keys(n_keys, shape);
      return build(threads, made);
    };
    const setsep::layout& config = options_.configs.front();
    const std::uint64_t bits = options_.value_bits.front(), threads = options_.threads.front();
    if (auto done = rows_for(config, bits, options_.threads); !done) return done;
    for (const setsep::layout& each : std::span(options_.configs).subspan(1)) {
      if (auto done = rows_for(each, bits, {threads}); !done) return done;
    }
    for (const std::uint64_t each : std::span(options_.value_bits).subspan(1)) {
      if (auto done = rows_for(config, each, {threads}); !done) return done;
    }
    return {};
  }

  /// Figure 7: look-ups alone.
  result<void> run_figure_7(std::uint64_t n_keys, const setsep::layout& shape) {
    make_keys(n_keys, shape);
    progress_.step("building");
    setsep::build_params params;
    params.shape = shape_;
    params.threads = crew_.size();
    auto made = setsep::build_table(keys_, params);
    if (!made) return tl::unexpected(std::move(made.error()));
    return look_up(**made, nullptr);
  }

 private:
  population people() const { return {.entries = keys_.size(), .value_bits = shape_.value_bits}; }

  void make_keys(std::uint64_t n, const setsep::layout& shape) {
    progress_.step("making " + format_count(n) + " keys");
    shape_ = shape;
    keys_.resize(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t key = people().key(i);
      keys_[i] = {hasher_(&key), static_cast<std::uint16_t>(people().value(key))};
    }
  }

  /// A row for each number of threads and instruction set, built in turns; leaves one of the
  /// tables.
  result<void> build(const std::vector<std::uint64_t>& threads,
                     std::unique_ptr<setsep::table>& made) {
    const std::vector<isa> sets =
        options_.simd.empty() ? std::vector<isa>{best_isa()} : options_.simd;
    std::vector<std::vector<double>> rates(threads.size() * sets.size()), loops(rates.size());
    for (unsigned round = 0; round < options_.run.repetitions; ++round) {
      for (std::size_t i = 0; i < rates.size(); ++i) {
        progress_.step("building");
        made.reset();
        setsep::build_params params;
        params.shape = shape_;
        params.threads = static_cast<unsigned>(threads[i / sets.size()]);
        params.instruction_set = sets[i % sets.size()];
        if (threads.size() > 1) loops[i].push_back(plain_loop(params.threads));
        const std::uint64_t start = now_ns();
        auto table = setsep::build_table(keys_, params);
        if (!table) return tl::unexpected(std::move(table.error()));
        rates[i].push_back(1e3 * static_cast<double>(keys_.size()) /
                           static_cast<double>(now_ns() - start));
        made = std::move(*table);
      }
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
      row one = row_of("setsep/build", *made);
      one.params["threads"] = threads[i / sets.size()];
      if (!options_.simd.empty()) one.params["simd"] = to_string(sets[i % sets.size()]);
      const summary rate = summarise(rates[i]);
      one.set_rate(rate.median);
      one.spread = rate.spread;
      if (i >= sets.size()) {
        const std::size_t first = i % sets.size();
        const double ratio = paired_ratio(rates[i], rates[first]).median;
        const double ceiling = paired_ratio(loops[i], loops[first]).median;
        one.more["ratio_to_first"] = ratio;
        one.more["ceiling"] = ceiling;
        one.more["ratio_to_ceiling"] = ratio / ceiling;
      }
      out_.rows.push_back(std::move(one));
    }
    return {};
  }

  /// A row for each way, in turns; leaves a mapped one.
  result<void> bring_up_replicas(bring_up& files, const setsep::table& of) {
    std::vector<double> loads, maps;
    for (unsigned i = 0; i < options_.run.repetitions; ++i) {
      progress_.step("bringing replicas up");
      const auto loaded = files.load(), mapped = files.map();
      if (!loaded) return tl::unexpected(loaded.error());
      if (!mapped) return tl::unexpected(mapped.error());
      loads.push_back(*loaded);
      maps.push_back(*mapped);
    }
    for (const auto& [name, times] : {std::pair("setsep/load", &loads), {"setsep/map", &maps}}) {
      row one = row_of(name, of);
      const summary ms = summarise(*times);
      one.set_rate(static_cast<double>(keys_.size()) / ms.median / 1e3);
      one.spread = ms.spread;
      one.more["ms"] = ms.median;
      out_.rows.push_back(std::move(one));
    }
    return {};
  }

  /// `mapped`: the same table in a mapped file; may be null.
  result<void> look_up(const setsep::table& in, const setsep::table* mapped) {
    const row ours = row_of("", in);
    const bool compared = peers_.any();
    auto others =
        peers_.load(people(), options_.batches, crew_.size(), ours.params, progress_, out_.notes);
    if (!others) return tl::unexpected(others.error());
    progress_.step("finding the line limit");
    auto limit = line_limit::create(crew_, options_.threads, in.blocks().data(), in.blocks().size(),
                                    options_.run);
    if (!limit) return tl::unexpected(std::move(limit.error()));
    setsep_contest contest(options_.run, crew_, people(), progress_);
    for (setsep_contender& each : setsep_lookups(
             in, mapped, options_.batches, compared ? &hasher_ : nullptr, ours.params, ours.more)) {
      if (options_.figure == 0 || each.name == "setsep/lookup") contest.add(std::move(each));
    }
    for (const setsep_contender& each : (*others)->contenders) contest.add(each);
    for (const std::uint64_t n : options_.threads) {
      const auto threads = static_cast<unsigned>(n);
      if (auto done = contest.run(threads, **limit, hasher_); !done) return done;
      for (row& each : contest.rows(threads, (*limit)->of(threads))) {
        out_.rows.push_back(std::move(each));
      }
    }
    return {};
  }

  result<void> update() {
    progress_.step("building, and keeping the keys");
    setsep::build_params params;
    params.shape = shape_;
    params.threads = crew_.size();
    auto from = setsep::builder::create(keys_, params, {});
    if (!from) return tl::unexpected(std::move(from.error()));
    const auto keys_before = static_cast<double>((*from)->n_keys());
    const auto folder = scratch_folder::create();
    if (!folder) return tl::unexpected(folder.error());
    update_measurement measured(**from, keys_, (*folder)->path() + "/snapshot", options_.run.seed);
    for (const unsigned per_delta : {1U, 32U}) {
      std::vector<double> updates, applies, mapped_applies, bytes;
      for (unsigned i = 0; i < options_.run.repetitions; ++i) {
        progress_.step("updating");
        const auto window = measured.run(options_.run.seconds, per_delta);
        if (!window) return tl::unexpected(window.error());
        updates.push_back(window->update_mops);
        applies.push_back(window->apply_mops);
        mapped_applies.push_back(window->mapped_apply_mops);
        bytes.push_back(window->delta_bytes);
      }
      for (const auto& [name, rates] : {std::pair("setsep/update", &updates),
                                        {"setsep/apply", &applies},
                                        {"setsep/mapped-apply", &mapped_applies}}) {
        row one = row_of(name, (*from)->table());
        one.params["per_delta"] = per_delta;
        const summary rate = summarise(*rates);
        one.set_rate(rate.median);
        one.spread = rate.spread;
        one.more["delta_bytes"] = summarise(bytes).median;
        if (rates == &updates) {
          one.more["key_bytes_per_key"] = static_cast<double>((*from)->key_bytes()) / keys_before;
        }
        out_.rows.push_back(std::move(one));
      }
    }
    return {};
  }

  row row_of(const char* name, const setsep::table& of) const {
    row one;
    one.name = name;
    one.params = {
        {"keys", keys_.size()}, {"value_bits", shape_.value_bits}, {"config", config_word(shape_)}};
    const auto n = static_cast<double>(keys_.size());
    one.more["bits_per_key"] = 8 * static_cast<double>(of.bytes_used()) / n;
    one.more["fallback_ratio"] = static_cast<double>(of.fallback().size()) / n;
    return one;
  }

  const setsep_options& options_;
  const setsep_peers& peers_;
  crew& crew_;
  report& out_;
  progress progress_;
  const setsep::key_hasher hasher_;
  setsep::layout shape_;
  std::vector<setsep::keyed_value> keys_;
};

result<void> run_keys(const setsep_options& options, std::uint64_t n, setsep_run& run) try {
  if (options.table == 1) return run.run_table_1(n);
  for (setsep::layout shape : options.configs) {
    for (const std::uint64_t bits : options.value_bits) {
      shape.value_bits = static_cast<unsigned>(bits);
      auto done = options.figure == 7 ? run.run_figure_7(n, shape) : run.run(n, shape);
      if (!done) return done;
    }
  }
  return {};
} catch (const std::bad_alloc&) {
  return fail(errc::no_memory, "--keys " + format_count(n), "does not fit");
}

}  // namespace

result<report> run_setsep(const setsep_options& options) {
  report out;
  out.bench = "setsep";
  out.params = {{"seconds", options.run.seconds},
                {"repetitions", options.run.repetitions},
                {"seed", options.run.seed}};
  if (options.figure != 0) out.params["figure"] = options.figure;
  if (options.table != 0) out.params.update({{"table", options.table}, {"bars", true}});
  if (options.figure == 11) {
    if (auto done = add_scaling(options, out); !done) return tl::unexpected(done.error());
    return out;
  }
  auto people = crew::create_for(options.threads);
  if (!people) return tl::unexpected(people.error());
  const auto peers = setsep_peers::create(options.peers, *std::ranges::max_element(options.keys));
  if (!peers) return tl::unexpected(peers.error());
  setsep_run run(options, *peers, **people, out);
  for (const std::uint64_t n : options.keys) {
    const std::size_t n_rows = out.rows.size();
    result<void> done = run_keys(options, n, run);
    if (done) continue;
    if (done.error().code != errc::no_memory || options.keys.size() == 1) {
      return tl::unexpected(done.error());
    }
    out.rows.resize(n_rows);
    out.notes.push_back("--keys " + format_count(n) + " left out: " + done.error().message());
  }
  return out;
}

}  // namespace coua::bench
