// SPDX-License-Identifier: Apache-2.0
#include "bench/limit/line_limit.h"

#include <algorithm>

#include "bench/harness/stats.h"

namespace coua::bench {
namespace {
constexpr std::size_t candidates = 3;
}

result<std::unique_ptr<line_limit>> line_limit::create(crew& people,
                                                       const std::vector<std::uint64_t>& threads,
                                                       const void* memory, std::uint64_t bytes,
                                                       const run_options& run) {
  std::unique_ptr<line_limit> made(new line_limit(people, bytes, run));
  for (unsigned i = 0; i < people.size(); ++i) {
    result<sequence> lines = sequence::create(sequence_words(bytes));
    if (!lines) return tl::unexpected(lines.error());
    made->lines_.push_back(std::move(*lines));
  }
  made->fill();
  const double seconds = std::min(run.seconds / 10, 0.02);
  for (const std::uint64_t each : threads) {
    const auto count = static_cast<unsigned>(each);
    series& limit = made->series_[count];
    for (const reading& how :
         best_readings(people, count, memory, made->lines_, hint::t0, seconds, candidates)) {
      limit.readers.emplace_back(memory, how);
    }
    limit.rates.resize(limit.readers.size());
  }
  return made;
}

void line_limit::fill() {
  ++round_;
  crew_.run(crew_.size(), [&](unsigned thread) {
    lines_[thread].fill_lines(bytes_, run_.seed + round_ * 1024 + thread);
  });
}

void line_limit::run(unsigned threads) {
  fill();
  series& limit = series_.at(threads);
  for (std::size_t i = 0; i < limit.readers.size(); ++i) {
    limit.rates[i].push_back(
        run_window(crew_, threads, limit.readers[i], lines_, run_.seconds).mops);
  }
}

double line_limit::of(unsigned threads) const {
  double best = 0;
  for (const std::vector<double>& rates : series_.at(threads).rates) {
    best = std::max(best, median(rates));
  }
  return best;
}

}  // namespace coua::bench
