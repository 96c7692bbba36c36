// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_measurement.h"

#include <algorithm>

#include "base/clock.h"

namespace coua::bench {
namespace {

/// Keys that the check asks of each look-up and share of misses.
constexpr std::size_t check_chunks = 64;
constexpr double most_pair_seconds = 0.1;

/// Answers are summed up to digests of their values, misses to nothing.
constexpr answer_code digests = {1, 0, 0};

unsigned narrow(std::uint64_t value) { return static_cast<unsigned>(value); }

/// Lines that an entry of an array lies in, on average.
double lines_of_entry(std::size_t words) {
  constexpr std::size_t line_words = 8;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < line_words; ++i) {
    sum += (words * (i + 1) - 1) / line_words - words * i / line_words + 1;
  }
  return static_cast<double>(sum) / line_words;
}

}  // namespace

result<std::unique_ptr<flow_measurement>> flow_measurement::create(
    const flow_options& options, const flow_population& people, crew& threads, const void* memory,
    std::uint64_t bytes, progress& shown) {
  std::unique_ptr<flow_measurement> made(new flow_measurement(options, people, threads, shown));
  for (unsigned i = 0; i < threads.size(); ++i) {
    result<sequence> keys = sequence::create(sequence_words(bytes), people.key_words());
    if (!keys) return tl::unexpected(keys.error());
    made->keys_.push_back(std::move(*keys));
  }
  shown.step("line limit");
  auto limit = line_limit::create(threads, options.threads, memory, bytes, options.run);
  if (!limit) return tl::unexpected(limit.error());
  made->limit_ = std::move(*limit);
  return made;
}

result<void> flow_measurement::add(measured_table& table, const json& params) {
  const double bytes = static_cast<double>(table.bytes()) / static_cast<double>(people_.entries);
  for (std::unique_ptr<flow_lookup>& how : table.lookups()) {
    progress_.step("checking " + how->name());
    if (result<void> good = check(*how); !good) return good;
    json all = params;
    all.update(how->params());
    series_.push_back({&table, std::move(all), bytes, std::move(how), {}});
  }
  return {};
}

result<void> flow_measurement::check(flow_lookup& how) {
  std::vector<flow_answer> answers(chunk_keys);
  std::vector<std::uint64_t> value(people_.value_words());
  for (const unsigned misses : {0U, 50U, 100U}) {
    fill_keys(misses);
    for (unsigned thread = 0; thread < keys_.size(); ++thread) {
      const sequence& keys = keys_[thread];
      for (std::size_t i = 0; i < std::min(check_chunks, keys.chunks()); ++i) {
        how.answer(thread, keys.chunk(i), chunk_keys, answers.data());
        for (std::size_t k = 0; k < chunk_keys; ++k) {
          people_.value(keys.chunk(i) + k * people_.key_words(), value.data());
          const bool right =
              answers[k].hit == keys.present(i, k) &&
              (!answers[k].hit || std::equal(value.begin(), value.end(), answers[k].value));
          if (!right) {
            return fail(errc::io, how.name(),
                        "wrong answer to a key that is " +
                            std::string(keys.present(i, k) ? "" : "not ") +
                            "in the table: " + (answers[k].hit ? "found" : "not found"));
          }
        }
      }
    }
  }
  return {};
}

void flow_measurement::fill_keys(unsigned misses) {
  ++round_;
  crew_.run(crew_.size(), [&](unsigned thread) {
    keys_[thread].fill_keys(people_, misses, options_.run.seed + round_ * 1024 + thread);
  });
}

result<double> flow_measurement::timed(series& each, unsigned threads, double seconds, bool exact) {
  const window out = run_window(crew_, threads, *each.how, keys_, seconds, digests);
  if (exact && out.sum != out.expected) {
    return fail(errc::io, each.how->name(),
                "wrong answers in a timed window: their sum is " + std::to_string(out.sum) +
                    " instead of " + std::to_string(out.expected));
  }
  return out.mops;
}

result<void> flow_measurement::run(std::vector<row>& rows) {
  for (unsigned round = 0; round < options_.run.repetitions; ++round) {
    for (const std::uint64_t threads : options_.threads) {
      limit_->run(narrow(threads));
      for (const std::uint64_t misses : options_.misses) {
        fill_keys(narrow(misses));
        for (std::size_t i = 0; i < series_.size(); ++i) {
          series& each = series_[(i + round) % series_.size()];
          progress_.step(each.how->name());
          const result<double> mops = timed(each, narrow(threads), options_.run.seconds, true);
          if (!mops) return tl::unexpected(mops.error());
          each.rates[{narrow(threads), narrow(misses)}].push_back(*mops);
        }
      }
    }
  }
  for (const series& each : series_) {
    for (const auto& [at, rates] : each.rates) {
      row out = make_row(each, at, 0, summarise(rates));
      if (const series* const other = reference(each); other != nullptr) {
        out.more["ratio_to_rte_hash"] = paired_ratio(rates, other->rates.at(at)).median;
      }
      rows.push_back(std::move(out));
    }
  }
  return {};
}

double flow_measurement::lines_per_lookup(unsigned misses) const {
  const std::size_t value_words = people_.value_bytes == 0 ? 0 : people_.value_words();
  const double entry = lines_of_entry(people_.key_words() + value_words);
  return 1 + (1 - misses / 100.0) * entry;
}

const flow_measurement::series* flow_measurement::reference(const series& row) const {
  const series* best = nullptr;
  for (const series& each : series_) {
    if (each.how->name() != "rte_hash/batch") continue;
    if (each.params["batch"] == row.params["batch"]) return &each;
    best = &each;  // it takes no batch of this size: its largest
  }
  return best;
}

row flow_measurement::make_row(const series& each, point at, std::uint64_t per_second,
                               const summary& rate) const {
  const auto [threads, misses] = at;
  row out;
  out.name = each.how->name();
  out.params = each.params;
  out.params["misses"] = misses;
  out.params["threads"] = threads;
  out.params["churn"] = per_second;
  out.set_rate(rate.median, threads);
  out.set_limit(limit_->of(threads) / lines_per_lookup(misses));
  out.bytes_per_entry = each.bytes_per_entry;
  out.spread = rate.spread;
  return out;
}

result<void> flow_measurement::run_churn(std::uint64_t per_second, std::vector<row>& rows) {
  for (unsigned i = 0; i < options_.run.repetitions; ++i) limit_->run(1);
  for (series& each : series_) {
    const std::unique_ptr<churned> target = each.table->writer(0);
    if (!target) continue;
    for (const std::uint64_t misses : options_.misses) {
      result<row> out = churn_pairs(each, *target, narrow(misses), per_second);
      if (!out) return tl::unexpected(out.error());
      rows.push_back(std::move(*out));
    }
  }
  return {};
}

result<row> flow_measurement::churn_pairs(series& each, churned& target, unsigned misses,
                                          std::uint64_t per_second) {
  churn writer(target, people_.entries, static_cast<double>(per_second));
  const double seconds = std::min(options_.run.seconds, most_pair_seconds);
  std::vector<double> with, without;
  double churned_s = 0;
  std::uint64_t done = 0;
  for (unsigned pair = 0; pair < options_.pairs; ++pair) {
    if (pair % 10 == 0) fill_keys(misses);
    progress_.step(each.how->name() + " with churn");
    // Which one comes first alternates too.
    for (const bool on : {pair % 2 == 0, pair % 2 != 0}) {
      if (on) writer.start();
      const std::uint64_t before = writer.done(), start = now_ns();
      const result<double> mops = timed(each, 1, seconds, false);
      if (on) {
        done += writer.done() - before;
        churned_s += static_cast<double>(now_ns() - start) / 1e9;
        writer.pause();
      }
      (on ? with : without).push_back(*mops);
    }
  }
  if (writer.failed() != 0) {
    return fail(errc::no_room, each.table->name(),
                std::to_string(writer.failed()) + " inserts or erases were refused or lost");
  }
  const summary ratio = paired_ratio(with, without);
  row out = make_row(each, {1, misses}, per_second, summarise(with));
  out.more = {{"ratio_to_none", ratio.median},
              {"ratio_spread", ratio.spread},
              {"none_mops", median(without)},
              {"updates_per_s", static_cast<double>(done) / churned_s},
              {"pairs", options_.pairs}};
  return out;
}

}  // namespace coua::bench
