// SPDX-License-Identifier: Apache-2.0
//
// Several flow tables that hold the same entries, asked the same keys, interleaved as the FIB's are
// (bench/fib/measurement.h): before the clock runs each look-up answers a long list of keys that
// are compared one by one, and in the windows the sum of the answers is compared.
//
// The line limit is that of the lines which a look-up cannot avoid: one bucket for a miss, a bucket
// and the lines of one entry for a hit. It is measured on the memory of our entries.
#pragma once

#include <map>

#include "bench/flow/flow_options.h"
#include "bench/flow/measured_table.h"
#include "bench/harness/progress.h"
#include "bench/harness/stats.h"
#include "bench/limit/line_limit.h"

namespace coua::bench {

class flow_measurement {
 public:
  /// `memory` is what the line limit is measured on.
  static result<std::unique_ptr<flow_measurement>> create(const flow_options&,
                                                          const flow_population&, crew&,
                                                          const void* memory,
                                                          std::uint64_t memory_bytes, progress&);

  /// Takes the look-ups of a filled table. `params` go into every row of it.
  result<void> add(measured_table&, const json& params);

  /// Runs all repetitions and appends the rows.
  result<void> run(std::vector<row>& rows);

  /// Paired windows with and without a writer, of the tables that have one, with one thread.
  result<void> run_churn(std::uint64_t per_second, std::vector<row>& rows);

 private:
  using point = std::pair<unsigned, unsigned>;  // threads, misses
  struct series {
    measured_table* table;
    json params;
    double bytes_per_entry;
    std::unique_ptr<flow_lookup> how;
    std::map<point, std::vector<double>> rates;  // by repetition
  };

  flow_measurement(const flow_options& options, const flow_population& people, crew& threads,
                   progress& shown)
      : options_(options), people_(people), crew_(threads), progress_(shown) {}

  result<void> check(flow_lookup&);
  void fill_keys(unsigned misses);
  result<double> timed(series&, unsigned threads, double seconds, bool exact);
  result<row> churn_pairs(series&, churned&, unsigned misses, std::uint64_t per_second);
  double lines_per_lookup(unsigned misses) const;
  /// The series that ratios relate to, of rows like this one; null: there is none.
  const series* reference(const series&) const;
  row make_row(const series&, point, std::uint64_t per_second, const summary& rate) const;

  const flow_options& options_;
  flow_population people_;
  crew& crew_;
  progress& progress_;
  std::vector<sequence> keys_;  // by thread
  std::uint64_t round_ = 0;
  std::vector<series> series_;
  std::unique_ptr<line_limit> limit_;
};

}  // namespace coua::bench
