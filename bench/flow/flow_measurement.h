// SPDX-License-Identifier: Apache-2.0
//
// Look-ups of several flow tables, compared as bench/harness/lookup_comparison.h does.
//
// The line limit is that of the lines which a look-up cannot avoid: one bucket for a miss, a bucket
// and the lines of one entry for a hit. It is measured on the memory of our entries.
#pragma once

#include "bench/flow/flow_options.h"
#include "bench/flow/measured_table.h"
#include "bench/harness/lookup_comparison.h"

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
  flow_measurement(const flow_options& options, const flow_population& people, progress& shown)
      : options_(options), people_(people), progress_(shown) {}

  result<void> check(flow_lookup&);
  double lines_per_lookup(unsigned misses) const;
  /// The look-up that ratios relate to, of rows like this one; null: there is none.
  const compared_lookup* reference(const compared_lookup&) const;
  /// Of the rates to those of rows that differ in one thing alone.
  void add_ratios(const compared_lookup&, comparison_point, row&) const;
  row make_row(const compared_lookup&, comparison_point, std::uint64_t per_second,
               const summary& rate) const;

  const flow_options& options_;
  flow_population people_;
  progress& progress_;
  std::unique_ptr<lookup_comparison> comparison_;
};

}  // namespace coua::bench
