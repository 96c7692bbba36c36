// SPDX-License-Identifier: Apache-2.0
//
// The line limit of one block of memory, measured beside tables: between their windows, and with
// as many threads.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "bench/harness/options.h"
#include "bench/limit/line_reader.h"

namespace coua::bench {

class line_limit {
 public:
  /// Finds the few best ways to read for each number of threads. Errors: no_memory.
  static result<std::unique_ptr<line_limit>> create(crew&,
                                                    const std::vector<std::uint64_t>& threads,
                                                    const void* memory, std::uint64_t bytes,
                                                    const run_options&);

  /// One window of each of them.
  void run(unsigned threads);
  /// Millions of lines per second: the median of the best. 0 before the first run().
  double of(unsigned threads) const;

 private:
  struct series {
    std::vector<line_reader> readers;
    std::vector<std::vector<double>> rates;  // by reader
  };
  line_limit(crew& people, std::uint64_t bytes, const run_options& run)
      : crew_(people), bytes_(bytes), run_(run) {}
  void fill();

  crew& crew_;
  std::uint64_t bytes_;
  run_options run_;
  std::vector<sequence> lines_;  // by thread
  std::uint64_t round_ = 0;
  std::map<unsigned, series> series_;  // by threads
};

}  // namespace coua::bench
