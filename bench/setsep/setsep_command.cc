// SPDX-License-Identifier: Apache-2.0
#include "bench/setsep/setsep_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/size.h"
#include "bench/harness/crew.h"
#include "bench/harness/population.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "bench/limit/line_limit.h"
#include "setsep/table.h"

namespace coua::bench {
namespace {

// Keys of each thread's trace: so many that no cache helps to ask for them again.
constexpr std::size_t trace_keys = std::size_t{1} << 20;

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
    std::optional<setsep::table> made;
    const std::vector<isa> sets =
        options_.simd.empty() ? std::vector<isa>{best_isa()} : options_.simd;
    for (const std::uint64_t threads : options_.threads) {
      for (const isa set : sets) {
        if (auto done = build(static_cast<unsigned>(threads), set, made); !done) return done;
      }
    }
    return look_up(*made);
  }

 private:
  void make_keys(std::uint64_t n, unsigned value_bits) {
    progress_.step("making " + format_count(n) + " keys");
    random_words random(options_.run.seed);
    keys_.resize(n);
    for (setsep::keyed_value& each : keys_) {
      each.hash = {random(), random()};
      each.value = static_cast<std::uint16_t>(random() >> (64 - value_bits));
    }
  }

  result<void> build(unsigned threads, isa set, std::optional<setsep::table>& made) {
    std::vector<double> rates;
    for (unsigned i = 0; i < options_.run.repetitions; ++i) {
      progress_.step("building");
      made.reset();
      setsep::build_params params;
      params.shape = shape_;
      params.threads = threads;
      params.instruction_set = set;
      const std::uint64_t start = now_ns();
      auto table = setsep::table::build(keys_, params);
      if (!table) return tl::unexpected(std::move(table.error()));
      rates.push_back(1e3 * static_cast<double>(keys_.size()) /
                      static_cast<double>(now_ns() - start));
      made.emplace(std::move(*table));
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
      std::vector<std::vector<double>> rates(options_.batches.size());
      for (unsigned round = 0; round < options_.run.repetitions; ++round) {
        (*limit)->run(static_cast<unsigned>(threads));
        for (std::size_t i = 0; i < options_.batches.size(); ++i) {
          progress_.step("looking up");
          const auto rate = window_of(in, static_cast<unsigned>(threads), options_.batches[i]);
          if (!rate) return tl::unexpected(rate.error());
          rates[i].push_back(*rate);
        }
      }
      for (std::size_t i = 0; i < options_.batches.size(); ++i) {
        row one = row_of("setsep/lookup", in);
        one.params["threads"] = threads;
        one.params["batch"] = options_.batches[i];
        const summary rate = summarise(rates[i]);
        one.set_rate(rate.median, static_cast<unsigned>(threads));
        one.set_limit((*limit)->of(static_cast<unsigned>(threads)));
        one.spread = rate.spread;
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
      std::vector<std::uint16_t> values(batch);
      const auto length_ns = static_cast<std::uint64_t>(options_.run.seconds * 1e9);
      const std::uint64_t start = now_ns();
      std::uint64_t passes = 0;
      do {
        std::uint64_t sum = 0;
        for (std::size_t at = 0; at < trace_keys; at += batch) {
          const std::size_t n = std::min(batch, trace_keys - at);
          in.find_batch(of.hashes.data() + at, n, values.data());
          for (std::size_t i = 0; i < n; ++i) sum += values[i];
        }
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

  row row_of(const char* name, const setsep::table& of) const {
    row one;
    one.name = name;
    one.params = {
        {"keys", of.n_keys()}, {"value_bits", shape_.value_bits}, {"config", config_word(shape_)}};
    const auto n = static_cast<double>(of.n_keys());
    one.more["bits_per_key"] = 8 * static_cast<double>(of.bytes()) / n;
    one.more["fallback_ratio"] = static_cast<double>(of.n_fallback()) / n;
    return one;
  }

  struct trace {
    std::vector<setsep::key_hash> hashes;
    std::uint64_t sum = 0;  // of the values
  };

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
