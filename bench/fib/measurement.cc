// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/measurement.h"

#include <algorithm>

#include "base/clock.h"
#include "bench/fib/fib_writer.h"
#include "bench/harness/stats.h"

namespace coua::bench {
namespace {

constexpr double most_pair_seconds = 0.1;

/// A table of our own, through its C API.
class table_writer final : public fib_writer {
 public:
  table_writer(coua_fib* fib, record_of record) : fib_writer(std::move(record)), fib_(fib) {}

 private:
  std::size_t erase(std::span<const std::uint64_t> keys) override {
    return coua_fib_erase_batch(fib_, keys.data(), keys.size());
  }
  std::size_t insert(std::span<const coua_fib_record> records) override {
    results_.resize(records.size());
    coua_fib_insert_batch(fib_, records.data(), records.size(), results_.data());
    return static_cast<std::size_t>(
        std::count(results_.begin(), results_.end(), static_cast<std::int8_t>(COUA_FIB_ADDED)));
  }

  coua_fib* fib_;
  std::vector<std::int8_t> results_;
};

/// Keys that the check asks of each look-up and share of misses.
constexpr std::size_t check_chunks = 64;

unsigned narrow(std::uint64_t value) { return static_cast<unsigned>(value); }

}  // namespace

result<std::unique_ptr<measurement>> measurement::create(const fib_options& options,
                                                         const population& people, crew& threads,
                                                         const void* memory, std::uint64_t bytes,
                                                         progress& shown) {
  std::unique_ptr<measurement> made(new measurement(options, people, threads, shown));
  for (unsigned i = 0; i < threads.size(); ++i) {
    result<sequence> words = sequence::create(sequence_words(bytes));
    if (!words) return tl::unexpected(words.error());
    made->words_.push_back(std::move(*words));
  }
  shown.step("line limit");
  auto limit = line_limit::create(threads, options.threads, memory, bytes, options.run);
  if (!limit) return tl::unexpected(limit.error());
  made->limit_ = std::move(*limit);
  return made;
}

result<void> measurement::add(lookup_table& table, const json& params) {
  const double bytes = static_cast<double>(table.bytes()) / static_cast<double>(people_.entries);
  for (std::unique_ptr<lookup>& how : table.lookups()) {
    progress_.step("checking " + how->name());
    if (result<void> good = check(table, *how); !good) return good;
    series_.push_back({&table, params, bytes, std::move(how), {}});
  }
  return {};
}

result<void> measurement::check(lookup_table& table, lookup& how) {
  const answer_code code = table.code();
  std::vector<std::uint32_t> words(chunk_keys);
  for (const unsigned misses : {0U, 50U, 100U}) {
    fill_keys(misses);
    const sequence& keys = words_[0];
    for (std::size_t i = 0; i < std::min(check_chunks, keys.chunks()); ++i) {
      const std::uint64_t* const asked = keys.chunk(i);
      how.answer(0, asked, chunk_keys, words.data());
      for (std::size_t k = 0; k < chunk_keys; ++k) {
        const std::optional<std::uint32_t> value = keys.expected_value(i, k, people_);
        const std::uint32_t right = value ? *value * code.scale + code.offset : code.miss;
        if (words[k] != right) {
          return fail(errc::io, how.name(),
                      "wrong answer to key " + std::to_string(asked[k]) + ": " +
                          std::to_string(words[k]) + " instead of " + std::to_string(right));
        }
      }
    }
  }
  return {};
}

void measurement::fill_keys(unsigned misses) {
  ++round_;
  crew_.run(crew_.size(), [&](unsigned thread) {
    words_[thread].fill_keys(people_, misses, options_.run.seed + round_ * 1024 + thread);
  });
}

result<double> measurement::timed(series& each, unsigned threads, double seconds, bool exact) {
  const window out = run_window(crew_, threads, *each.how, words_, seconds, each.table->code());
  if (exact && out.sum != out.expected) {
    return fail(errc::io, each.how->name(),
                "wrong answers in a timed window: their sum is " + std::to_string(out.sum) +
                    " instead of " + std::to_string(out.expected));
  }
  return out.mops;
}

result<void> measurement::run(std::vector<row>& rows) {
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
    for (const auto& [key, rates] : each.rates) {
      const summary rate = summarise(rates);
      rows.push_back(make_row(each, key.first, key.second, 0, rate.median, rate.spread));
    }
  }
  return {};
}

row measurement::make_row(const series& each, unsigned threads, unsigned misses,
                          std::uint64_t updates, double mops, double spread) const {
  row out;
  out.name = each.how->name();
  out.params = each.params;
  out.params.update(each.how->params());
  out.params["misses"] = misses;
  out.params["threads"] = threads;
  out.params["updates"] = updates;
  out.set_rate(mops, threads);
  out.set_limit(limit_->of(threads));
  out.bytes_per_entry = each.bytes_per_entry;
  out.spread = spread;
  return out;
}

result<void> measurement::run_updates(coua_fib* fib, std::uint64_t per_second,
                                      std::vector<row>& rows) {
  table_writer target(fib, [this](std::uint64_t index) -> coua_fib_record {
    const std::uint64_t key = people_.key(index);
    return {key, people_.value(key), 0, 0, 0};
  });
  churn writer(target, people_.entries, static_cast<double>(per_second));
  const double seconds = std::min(options_.run.seconds, most_pair_seconds);
  for (const std::uint64_t threads : options_.threads) {
    for (unsigned i = 0; i < options_.run.repetitions; ++i) limit_->run(narrow(threads));
    for (const std::uint64_t misses : options_.misses) {
      for (series& each : series_) {
        if (!each.params.contains("layout")) continue;  // a peer
        std::vector<double> with, without;
        double updated_s = 0;
        std::uint64_t updates = 0;
        for (unsigned pair = 0; pair < options_.pairs; ++pair) {
          if (pair % 10 == 0) fill_keys(narrow(misses));
          progress_.step(each.how->name() + " with updates");
          // Which one comes first alternates too.
          for (const bool on : {pair % 2 == 0, pair % 2 != 0}) {
            if (on) writer.start();
            const std::uint64_t before = writer.done(), start = now_ns();
            const result<double> mops = timed(each, narrow(threads), seconds, false);
            if (on) {
              updates += writer.done() - before;
              updated_s += static_cast<double>(now_ns() - start) / 1e9;
              writer.pause();
            }
            (on ? with : without).push_back(*mops);
          }
        }
        if (writer.failed() != 0) {
          return fail(errc::no_room, "fib",
                      std::to_string(writer.failed()) + " updates were refused or lost");
        }
        const summary rate = summarise(with);
        const summary ratio = paired_ratio(with, without);
        row out =
            make_row(each, narrow(threads), narrow(misses), per_second, rate.median, rate.spread);
        out.more = {{"ratio_to_none", ratio.median},
                    {"ratio_spread", ratio.spread},
                    {"none_mops", median(without)},
                    {"updates_per_s", static_cast<double>(updates) / updated_s},
                    {"pairs", options_.pairs}};
        rows.push_back(std::move(out));
      }
    }
  }
  return {};
}

}  // namespace coua::bench
