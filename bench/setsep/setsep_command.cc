// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_command.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/size.h"
#include "bench/harness/crew.h"
#include "bench/harness/population.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "bench/limit/line_limit.h"
#include "bench/setsep/update_measurement.h"
#include "setsep/bulk_build.h"
#include "setsep/pipeline.h"

namespace coua::bench {
namespace {

// Keys of each thread's trace: as many lines as the table of 64 M keys has, and 4 MiB of hashes,
// which shall not take the cache from the table.
constexpr std::size_t trace_keys = std::size_t{1} << 18;

std::string config_word(const setsep::layout& of) {
  return std::to_string(8 * of.index_bytes) + "+" + std::to_string(8 * of.array_bytes);
}

class setsep_run {
 public:
  setsep_run(const setsep_options& options, crew& people, report& out)
      : options_(options), crew_(people), out_(out), progress_("setsep") {}

  result<void> run(std::uint64_t n_keys, const setsep::layout& shape) {
    make_keys(n_keys, shape.value_bits);
    shape_ = shape;
    std::unique_ptr<setsep::table> made;
    const std::vector<isa> sets =
        options_.simd.empty() ? std::vector<isa>{best_isa()} : options_.simd;
    for (const std::uint64_t threads : options_.threads) {
      for (const isa set : sets) {
        if (auto done = build(static_cast<unsigned>(threads), set, made); !done) return done;
      }
    }
    if (auto done = look_up(*made); !done) return done;
    made.reset();
    return update();
  }

 private:
  struct trace {
    std::vector<setsep::key_hash> hashes;
    std::uint64_t sum = 0;  // of the values
  };

  void make_keys(std::uint64_t n, unsigned value_bits) {
    progress_.step("making " + format_count(n) + " keys");
    random_words random(options_.run.seed);
    keys_.resize(n);
    for (setsep::keyed_value& each : keys_) {
      each.hash = {random(), random()};
      each.value = static_cast<std::uint16_t>(random() >> (64 - value_bits));
    }
  }

  result<void> build(unsigned threads, isa set, std::unique_ptr<setsep::table>& made) {
    std::vector<double> rates;
    for (unsigned i = 0; i < options_.run.repetitions; ++i) {
      progress_.step("building");
      made.reset();
      setsep::build_params params;
      params.shape = shape_;
      params.threads = threads;
      params.instruction_set = set;
      const std::uint64_t start = now_ns();
      auto table = setsep::build_table(keys_, params);
      if (!table) return tl::unexpected(std::move(table.error()));
      rates.push_back(1e3 * static_cast<double>(keys_.size()) /
                      static_cast<double>(now_ns() - start));
      made = std::move(*table);
    }
    row one = row_of("setsep/build", *made);
    one.params["threads"] = threads;
    if (!options_.simd.empty()) one.params["simd"] = to_string(set);
    const summary rate = summarise(rates);
    one.set_rate(rate.median);
    one.spread = rate.spread;
    out_.rows.push_back(std::move(one));
    return {};
  }

  result<void> look_up(const setsep::table& in) {
    progress_.step("finding the line limit");
    auto limit = line_limit::create(crew_, options_.threads, in.blocks().data(), in.blocks().size(),
                                    options_.run);
    if (!limit) return tl::unexpected(std::move(limit.error()));
    const auto most =
        static_cast<unsigned>(*std::max_element(options_.threads.begin(), options_.threads.end()));
    make_traces(most);
    for (const std::uint64_t threads : options_.threads) {
      std::vector<std::vector<double>> rates(options_.batches.size() + 1);
      for (unsigned round = 0; round < options_.run.repetitions; ++round) {
        (*limit)->run(static_cast<unsigned>(threads));
        for (std::size_t i = 0; i < rates.size(); ++i) {
          progress_.step("looking up");
          const auto rate = window_of(in, static_cast<unsigned>(threads), batch_of(i));
          if (!rate) return tl::unexpected(rate.error());
          rates[i].push_back(*rate);
        }
      }
      for (std::size_t i = 0; i < rates.size(); ++i) {
        row one = row_of(batch_of(i) == 0 ? "setsep/pipeline" : "setsep/lookup", in);
        one.params["threads"] = threads;
        one.params["batch"] = batch_of(i) == 0 ? simd::setsep_batch : batch_of(i);
        const summary rate = summarise(rates[i]);
        one.set_rate(rate.median, static_cast<unsigned>(threads));
        one.set_limit((*limit)->of(static_cast<unsigned>(threads)));
        one.spread = rate.spread;
        out_.rows.push_back(std::move(one));
      }
    }
    return {};
  }

  /// Keys to a call; 0, behind all others: those of the pipeline.
  std::size_t batch_of(std::size_t i) const {
    return i < options_.batches.size() ? options_.batches[i] : 0;
  }

  result<void> update() {
    progress_.step("building, and keeping the keys");
    setsep::build_params params;
    params.shape = shape_;
    params.threads = crew_.size();
    auto from = setsep::builder::create(keys_, params, {});
    if (!from) return tl::unexpected(std::move(from.error()));
    const auto keys_before = static_cast<double>((*from)->n_keys());
    update_measurement measured(**from, keys_, options_.run.seed);
    for (const unsigned per_delta : {1U, 32U}) {
      std::vector<double> updates, applies, bytes;
      for (unsigned i = 0; i < options_.run.repetitions; ++i) {
        progress_.step("updating");
        const auto window = measured.run(options_.run.seconds, per_delta);
        if (!window) return tl::unexpected(window.error());
        updates.push_back(window->update_mops);
        applies.push_back(window->apply_mops);
        bytes.push_back(window->delta_bytes);
      }
      for (const bool applied : {false, true}) {
        row one = row_of(applied ? "setsep/apply" : "setsep/update", (*from)->table());
        one.params["per_delta"] = per_delta;
        const summary rate = summarise(applied ? applies : updates);
        one.set_rate(rate.median);
        one.spread = rate.spread;
        one.more["delta_bytes"] = summarise(bytes).median;
        if (!applied) {
          one.more["key_bytes_per_key"] = static_cast<double>((*from)->key_bytes()) / keys_before;
        }
        out_.rows.push_back(std::move(one));
      }
    }
    return {};
  }

  void make_traces(unsigned threads) {
    traces_.resize(threads);
    for (unsigned t = 0; t < threads; ++t) {
      random_words random(options_.run.seed + t + 1);
      trace& each = traces_[t];
      each.hashes.resize(trace_keys);
      each.sum = 0;
      for (setsep::key_hash& hash : each.hashes) {
        const setsep::keyed_value& key = keys_[random.below(keys_.size())];
        hash = key.hash;
        each.sum += key.value;
      }
    }
  }

  /// Millions a second, of all threads together. Fails when an answer is wrong.
  result<double> window_of(const setsep::table& in, unsigned threads, std::size_t batch) {
    std::vector<double> rates(threads);
    std::vector<char> right(threads, 1);
    crew_.run(threads, [&](unsigned t) {
      const trace& of = traces_[t];
      std::vector<std::uint16_t> values(batch == 0 ? simd::setsep_batch : batch);
      const auto length_ns = static_cast<std::uint64_t>(options_.run.seconds * 1e9);
      const std::uint64_t start = now_ns();
      std::uint64_t passes = 0;
      do {
        const std::uint64_t sum = batch == 0 ? pipelined(in, of, values) : batched(in, of, values);
        if (sum != of.sum) right[t] = 0;
        ++passes;
      } while (now_ns() - start < length_ns);
      rates[t] =
          1e3 * static_cast<double>(passes * trace_keys) / static_cast<double>(now_ns() - start);
    });
    if (std::count(right.begin(), right.end(), 0) != 0) {
      return fail(errc::io, "setsep/lookup", "gave a wrong value");
    }
    double all = 0;
    for (const double each : rates) all += each;
    return all;
  }

  static std::uint64_t sum_of(const std::uint16_t* values, std::size_t n) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += values[i];
    return sum;
  }
  static std::uint64_t batched(const setsep::table& in, const trace& of,
                               std::vector<std::uint16_t>& values) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < trace_keys; at += values.size()) {
      const std::size_t n = std::min(values.size(), trace_keys - at);
      in.find_batch(of.hashes.data() + at, n, values.data());
      sum += sum_of(values.data(), n);
    }
    return sum;
  }
  static std::uint64_t pipelined(const setsep::table& in, const trace& of,
                                 std::vector<std::uint16_t>& values) {
    setsep::lookup_pipeline pipeline;
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < trace_keys; at += simd::setsep_batch) {
      const std::size_t n =
          pipeline.submit(in, of.hashes.data() + at, simd::setsep_batch, values.data());
      sum += sum_of(values.data(), n);
    }
    std::uint16_t rest[setsep::lookup_pipeline::depth];
    return sum + sum_of(rest, pipeline.drain(in, rest));
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
  crew& crew_;
  report& out_;
  progress progress_;
  setsep::layout shape_;
  std::vector<setsep::keyed_value> keys_;
  std::vector<trace> traces_;
};

}  // namespace

result<report> run_setsep(const setsep_options& options) {
  auto people = crew::create_for(options.threads);
  if (!people) return tl::unexpected(people.error());
  report out;
  out.bench = "setsep";
  out.params = {{"seconds", options.run.seconds},
                {"repetitions", options.run.repetitions},
                {"seed", options.run.seed}};
  setsep_run run(options, **people, out);
  for (const std::uint64_t n : options.keys) {
    for (setsep::layout shape : options.configs) {
      for (const std::uint64_t bits : options.value_bits) {
        shape.value_bits = static_cast<unsigned>(bits);
        if (auto done = run.run(n, shape); !done) return tl::unexpected(done.error());
      }
    }
  }
  return out;
}

}  // namespace coua::bench
