// SPDX-License-Identifier: Apache-2.0
//
// Look-ups in tables that hold the same keys, in turns:
//
//   for each repetition
//     the line limit of that moment
//     one window of each, in a rotating order
//
// Each asks the same random keys, over and over. One whose table is large asks more of them, so
// that what it touches is not in a cache that its table is not in. A wrong sum of the values ends
// the benchmark with an error.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/crew.h"
#include "bench/harness/progress.h"
#include "bench/harness/question.h"
#include "bench/harness/report.h"
#include "bench/limit/line_limit.h"
#include "bench/setsep/key_trace.h"

namespace coua::bench {

/// One way to look keys up in one table.
struct setsep_contender {
  std::string name;
  json params = json::object();
  json more = json::object();
  bool ours = false;
  std::size_t n_keys = 0;  // of the trace, a multiple of chunk_keys
  answer_code code{};
  /// The sum of the answers to the first n_keys of a trace.
  std::function<std::uint64_t(unsigned thread, const key_trace&)> ask;
  std::vector<double> rates{};  // of the last run, by repetition
};

class setsep_contest {
 public:
  setsep_contest(const run_options& run, crew& people, const population& of, progress& shown)
      : run_(run), crew_(people), population_(of), progress_(shown) {}

  void add(setsep_contender one) { all_.push_back(std::move(one)); }
  const std::vector<setsep_contender>& contenders() const { return all_; }

  /// All repetitions by so many threads, beside `limit`. Errors: io, a wrong answer.
  result<void> run(unsigned threads, line_limit& limit, const setsep::key_hasher& hasher);
  /// The rates of the last run as rows; ours with their ratios to the fastest ways of those peers
  /// that a floor is about, fib and rte_efd.
  std::vector<row> rows(unsigned threads, double limit) const;

 private:
  result<double> window(const setsep_contender& one, unsigned threads);
  double ratio_to(const char* peer, const setsep_contender& one) const;
  void make_traces(unsigned threads, const setsep::key_hasher& hasher);

  const run_options& run_;
  crew& crew_;
  const population population_;
  progress& progress_;
  std::vector<setsep_contender> all_;
  std::vector<key_trace> traces_;
};

}  // namespace coua::bench
