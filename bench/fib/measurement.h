// SPDX-License-Identifier: Apache-2.0
//
// Several tables that hold the same population, asked the same keys, interleaved:
//
//   for each repetition
//     for each number of threads
//       the line limit of that moment
//       for each share of misses: fresh keys; one window of each look-up, in a rotating order
//
// so that whatever happens to the machine happens to all of them. Before the first window each
// look-up answers a long list of keys that are compared one by one; in the windows the sum of the
// answers is compared. A wrong answer ends the benchmark with an error.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/fib/fib_options.h"
#include "bench/fib/lookup_table.h"
#include "bench/harness/progress.h"
#include "bench/limit/line_limit.h"

namespace coua::bench {

class measurement {
 public:
  /// `memory` is what the line limit is measured on.
  static result<std::unique_ptr<measurement>> create(const fib_options&, const population&, crew&,
                                                     const void* memory, std::uint64_t memory_bytes,
                                                     progress&);

  /// Takes the look-ups of a loaded table. `params` go into every row of it.
  result<void> add(lookup_table&, const json& params);

  /// Runs all repetitions without updates and appends the rows.
  result<void> run(std::vector<row>& rows);

  /// Paired windows of our table's look-ups, with and without a writer.
  result<void> run_updates(coua_fib* fib, std::uint64_t per_second, std::vector<row>& rows);

 private:
  struct series {
    lookup_table* table;
    json params;
    double bytes_per_entry;
    std::unique_ptr<lookup> how;
    // By (threads, misses).
    std::map<std::pair<unsigned, unsigned>, std::vector<double>> rates;
  };

  measurement(const fib_options& options, const population& people, crew& threads, progress& shown)
      : options_(options), people_(people), crew_(threads), progress_(shown) {}

  result<void> check(lookup_table&, lookup&);
  void fill_keys(unsigned misses);
  result<double> timed(series&, unsigned threads, double seconds, bool exact);
  row make_row(const series&, unsigned threads, unsigned misses, std::uint64_t updates, double mops,
               double spread) const;

  const fib_options& options_;
  population people_;
  crew& crew_;
  progress& progress_;
  std::vector<sequence> words_;  // by thread
  std::uint64_t round_ = 0;
  std::vector<series> series_;
  std::unique_ptr<line_limit> limit_;
};

}  // namespace coua::bench
