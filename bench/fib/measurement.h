// SPDX-License-Identifier: Apache-2.0
//
// Look-ups of the FIB and of other tables, compared as bench/harness/lookup_comparison.h does.
#pragma once

#include <memory>
#include <vector>

#include "bench/fib/fib_options.h"
#include "bench/fib/lookup_table.h"
#include "bench/harness/lookup_comparison.h"

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
  measurement(const fib_options& options, const population& people, progress& shown)
      : options_(options), people_(people), progress_(shown) {}

  result<void> check(lookup_table&, lookup&);
  row make_row(const compared_lookup&, comparison_point, std::uint64_t updates,
               const summary& rate) const;

  /// Adds ratios of our table to the peers that are given as many keys at a time.
  void compare_with_peers(const compared_lookup&, comparison_point, row&) const;

  const fib_options& options_;
  population people_;
  progress& progress_;
  std::unique_ptr<lookup_comparison> comparison_;
};

}  // namespace coua::bench
