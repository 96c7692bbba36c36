// SPDX-License-Identifier: Apache-2.0
//
// Several tables that hold the same population, asked the same keys, interleaved:
//
//   for each repetition
//     for each number of threads
//       the line limit of that moment
//       for each share of misses: fresh keys; one window of each look-up, in a rotating order
//
// so that whatever happens to the machine happens to all of them. The caller lets each look-up
// answer a long list of keys before the first window and compares them one by one; in the windows
// the sum of the answers is compared. A wrong answer ends the benchmark with an error.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/churn_pairs.h"
#include "bench/harness/contestant.h"
#include "bench/harness/progress.h"
#include "bench/harness/report.h"
#include "bench/limit/line_limit.h"

namespace coua::bench {

/// Chunks of a sequence that are compared one by one, for each look-up and share of misses.
constexpr std::size_t check_chunks = 64;

/// Of a number from a list of options, whose range is that of an unsigned.
inline unsigned narrow(std::uint64_t value) { return static_cast<unsigned>(value); }

struct comparison_plan {
  run_options run;
  std::vector<std::uint64_t> threads, misses;
  std::size_t key_words = 1;
  /// Fills the sequence of one thread.
  std::function<void(sequence&, unsigned misses, std::uint64_t seed)> fill;
};

/// Of a subcommand's options, and its population.
template <typename Options, typename People>
comparison_plan plan_for(const Options& options, const People& people, std::size_t key_words) {
  const auto fill = [people](sequence& keys, unsigned misses, std::uint64_t seed) {
    keys.fill_keys(people, misses, seed);
  };
  return {options.run, options.threads, options.misses, key_words, fill};
}

/// What differs between the rows of one look-up.
struct comparison_point {
  unsigned threads = 1, misses = 0;
  auto operator<=>(const comparison_point&) const = default;
};

/// One of the look-ups.
struct compared_lookup {
  std::unique_ptr<named_contestant> how;
  answer_code code;
  json params;  // of every row
  double bytes_per_entry = 0;
  std::unique_ptr<churned> writer = nullptr;  // to its table; null: none that may run beside it
  std::map<comparison_point, std::vector<double>> rates = {};  // by repetition
};

class lookup_comparison {
 public:
  /// `memory` is what the line limit is measured on. Errors: no_memory.
  static result<std::unique_ptr<lookup_comparison>> create(comparison_plan, crew&,
                                                           const void* memory,
                                                           std::uint64_t memory_bytes, progress&);

  /// Keys of which `misses` percent are not in the tables, anew for each thread.
  void fill_keys(unsigned misses);
  const std::vector<sequence>& keys() const { return keys_; }

  void add(compared_lookup each) { lookups_.push_back(std::move(each)); }
  std::vector<compared_lookup>& lookups() { return lookups_; }
  const std::vector<compared_lookup>& lookups() const { return lookups_; }

  /// All repetitions, into the rates. Errors: io, wrong answers.
  result<void> run();
  /// Paired windows; `doing` names what the writer does in the line of progress. Their answers are
  /// not compared: entries come and go.
  result<churn_pairs> run_pairs(compared_lookup&, comparison_point, churn& writer, unsigned pairs,
                                const std::string& doing);

  /// As many windows of the line limit as there are repetitions.
  void run_limit(unsigned threads);
  double limit(unsigned threads) const { return limit_->of(threads); }

  /// Without its line limit.
  static row make_row(const compared_lookup&, comparison_point, const summary& rate);

 private:
  lookup_comparison(comparison_plan plan, crew& threads, progress& shown)
      : plan_(std::move(plan)), crew_(threads), progress_(shown) {}
  window timed(compared_lookup&, unsigned threads, double seconds);

  comparison_plan plan_;
  crew& crew_;
  progress& progress_;
  std::vector<sequence> keys_;  // by thread
  std::uint64_t round_ = 0;
  std::vector<compared_lookup> lookups_;
  std::unique_ptr<line_limit> limit_;
};

}  // namespace coua::bench
