// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_measurement.h"

#include <algorithm>

#include "bench/flow/flow_ratios.h"

namespace coua::bench {
namespace {

/// Answers are summed up to digests of their values, misses to nothing.
constexpr answer_code digests = {1, 0, 0};

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
  std::unique_ptr<flow_measurement> made(new flow_measurement(options, people, shown));
  auto comparison = lookup_comparison::create(plan_for(options, people, people.key_words()),
                                              threads, memory, bytes, shown);
  if (!comparison) return tl::unexpected(comparison.error());
  made->comparison_ = std::move(*comparison);
  return made;
}

result<void> flow_measurement::add(measured_table& table, const json& params) {
  const double bytes = static_cast<double>(table.bytes()) / static_cast<double>(people_.entries);
  for (std::unique_ptr<flow_lookup>& how : table.lookups()) {
    progress_.step("checking " + how->name());
    if (result<void> good = check(*how); !good) return good;
    json all = params;
    all.update(how->params());
    comparison_->add({std::move(how), digests, std::move(all), bytes, table.writer(0)});
  }
  return {};
}

result<void> flow_measurement::check(flow_lookup& how) {
  std::vector<flow_answer> answers(chunk_keys);
  std::vector<std::uint64_t> value(people_.value_words());
  for (const unsigned misses : {0U, 50U, 100U}) {
    comparison_->fill_keys(misses);
    for (unsigned thread = 0; thread < comparison_->keys().size(); ++thread) {
      const sequence& keys = comparison_->keys()[thread];
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

result<void> flow_measurement::run(std::vector<row>& rows) {
  if (result<void> done = comparison_->run(); !done) return done;
  for (const compared_lookup& each : comparison_->lookups()) {
    for (const auto& [at, rates] : each.rates) {
      row out = make_row(each, at, 0, summarise(rates));
      if (const compared_lookup* const other = reference(each); other != nullptr) {
        out.more["ratio_to_rte_hash"] = paired_ratio(rates, other->rates.at(at)).median;
      }
      add_ratios(each, at, out);
      rows.push_back(std::move(out));
    }
  }
  return {};
}

void flow_measurement::add_ratios(const compared_lookup& each, comparison_point at,
                                  row& out) const {
  for (const flow_ratio& wanted : flow_ratios(each.how->name(), each.params)) {
    for (const compared_lookup& other : comparison_->lookups()) {
      if (other.how->name() != wanted.name || other.params != wanted.params) continue;
      out.more[wanted.field] = paired_ratio(each.rates.at(at), other.rates.at(at)).median;
    }
  }
}

double flow_measurement::lines_per_lookup(unsigned misses) const {
  const std::size_t value_words = people_.value_bytes == 0 ? 0 : people_.value_words();
  const double entry = lines_of_entry(people_.key_words() + value_words);
  return 1 + (1 - misses / 100.0) * entry;
}

const compared_lookup* flow_measurement::reference(const compared_lookup& row) const {
  const compared_lookup* best = nullptr;
  for (const compared_lookup& each : comparison_->lookups()) {
    if (each.how->name() != "rte_hash/batch") continue;
    if (each.params["batch"] == row.params["batch"]) return &each;
    best = &each;  // it takes no batch of this size: its largest
  }
  return best;
}

row flow_measurement::make_row(const compared_lookup& each, comparison_point at,
                               std::uint64_t per_second, const summary& rate) const {
  row out = lookup_comparison::make_row(each, at, rate);
  out.params["churn"] = per_second;
  out.set_limit(comparison_->limit(at.threads) / lines_per_lookup(at.misses));
  return out;
}

result<void> flow_measurement::run_churn(std::uint64_t per_second, std::vector<row>& rows) {
  comparison_->run_limit(1);
  for (compared_lookup& each : comparison_->lookups()) {
    if (!each.writer) continue;
    for (const std::uint64_t misses : options_.misses) {
      const comparison_point at = {1, narrow(misses)};
      churn writer(*each.writer, people_.entries, static_cast<double>(per_second));
      result<churn_pairs> pairs = comparison_->run_pairs(each, at, writer, options_.pairs, "churn");
      if (!pairs) return tl::unexpected(pairs.error());
      row out = make_row(each, at, per_second, pairs->rate());
      out.more = pairs->fields();
      rows.push_back(std::move(out));
    }
  }
  return {};
}

}  // namespace coua::bench
