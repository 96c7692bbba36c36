// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/estimate.h"

#include <gtest/gtest.h>

#include <limits>

namespace coua::pipeline {
namespace {

constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kib = 1024;

/// A machine whose lines cost 1, 3, 11 and 31 cycles.
calibration machine() {
  calibration made;
  made.levels = {{32 * kib, 1}, {1024 * kib, 3}, {32768 * kib, 11}, {everything, 31}};
  made.of(atom::packet) = {10, 20};
  made.of(atom::exact) = {40, 50};
  made.of(atom::direct) = {15, 25};
  made.of(atom::call) = {0, 8};
  made.of(atom::output) = {5, 6};
  return made;
}

/// Without the margin.
cycle_range exact_bounds(const pipeline_outline& what, const calibration& on = machine()) {
  const cycle_range all = estimate(what, on).cycles;
  return {all.lower / (1 - margin), all.upper / (1 + margin)};
}

void expect_range(const cycle_range& got, double lower, double upper) {
  EXPECT_DOUBLE_EQ(got.lower, lower);
  EXPECT_DOUBLE_EQ(got.upper, upper);
}

stage_outline stage(table_id table, double visits, std::vector<atom_use> atoms,
                    std::vector<line_use> lines = {}) {
  return {table, visits, std::move(atoms), std::move(lines)};
}

/// What tables may have of the first-level cache.
constexpr std::uint64_t near_bytes = 32 * kib - burst_bytes;

TEST(pipeline_estimate, of_an_empty_pipeline_is_what_each_packet_costs) {
  const pipeline_outline what{{{atom::packet}}, {}, {}};
  expect_range(exact_bounds(what), 10, 20);
  EXPECT_EQ(estimate(what, machine()).bytes, 0U);
  EXPECT_TRUE(estimate(what, machine()).stages.empty());
  expect_range(exact_bounds({}, {}), 0, 0);
}

TEST(pipeline_estimate, adds_up_tables_by_their_visits) {
  const pipeline_outline what{
      {{atom::packet}},
      {},
      {stage(0, 1, {{atom::direct}}), stage(3, 0.25, {{atom::exact, 2, 2}, {atom::output}})}};
  expect_range(exact_bounds(what), 10 + 15 + 0.25 * 85, 20 + 25 + 0.25 * 106);
  const auto stages = estimate(what, machine()).stages;
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[1].table, 3);
  EXPECT_DOUBLE_EQ(stages[1].visits, 0.25);
  expect_range(stages[1].cycles, 85 * (1 - margin), 106 * (1 + margin));
}

TEST(pipeline_estimate, counts_what_is_not_always_met_in_the_upper_bound_alone) {
  const pipeline_outline what{{}, {}, {stage(0, 1, {{atom::exact}, {atom::call, 0, 3}})}};
  expect_range(exact_bounds(what), 40, 50 + 3 * 8);
}

TEST(pipeline_estimate, takes_lines_from_the_level_that_the_working_set_falls_in) {
  double before = 0;
  for (const auto& [bytes, more] : {std::pair{kib, 0.0},
                                    {near_bytes, 0.0},
                                    {32 * kib, 2.0},
                                    {1024 * kib, 10.0},
                                    {32768 * kib - burst_bytes, 10.0},
                                    {32768 * kib, 30.0},
                                    {std::uint64_t{1} << 40, 30.0}}) {
    const pipeline_outline what{{}, {{bytes}}, {stage(0, 1, {{atom::exact}}, {{0, 3}})}};
    const cycle_range got = exact_bounds(what);
    expect_range(got, 40, 50 + 3 * more);
    EXPECT_GE(got.upper, before) << bytes;
    before = got.upper;
    EXPECT_EQ(estimate(what, machine()).bytes, bytes);
  }
}

TEST(pipeline_estimate, keeps_what_is_touched_often_in_the_near_caches) {
  // A small table that all packets come to, beside a large one: each for itself fits no other level
  // than together.
  const auto both = [](double visits_of_small) {
    return pipeline_outline{{},
                            {{4 * kib}, {40960 * kib}},
                            {stage(0, visits_of_small, {}, {{0, 1}}), stage(1, 1, {}, {{1, 1}})}};
  };
  EXPECT_DOUBLE_EQ(exact_bounds(both(1)).upper, 30);
  // Rarely enough, and its lines are driven out.
  EXPECT_DOUBLE_EQ(exact_bounds(both(1e-5)).upper, 30 + 1e-5 * 30);
}

TEST(pipeline_estimate, adds_areas_that_are_touched_alike) {
  const auto two = [](std::uint64_t bytes) {
    return pipeline_outline{
        {}, {{bytes}, {bytes}}, {stage(0, 1, {}, {{0, 1}}), stage(1, 1, {}, {{1, 1}})}};
  };
  EXPECT_DOUBLE_EQ(exact_bounds(two(near_bytes / 2)).upper, 0);
  EXPECT_DOUBLE_EQ(exact_bounds(two(near_bytes)).upper, 2 * 2) << "one alone would fit";
}

TEST(pipeline_estimate, leaves_out_what_no_packet_comes_to) {
  const pipeline_outline what{{},
                              {{near_bytes}, {4096 * kib}},
                              {stage(0, 1, {}, {{0, 1}}), stage(1, 0, {{atom::exact}}, {{1, 1}})}};
  expect_range(exact_bounds(what), 0, 0);
  EXPECT_EQ(estimate(what, machine()).bytes, near_bytes);
  // What it would cost is told all the same.
  EXPECT_GT(estimate(what, machine()).stages[1].cycles.lower, 30);
}

TEST(pipeline_estimate, of_unknown_caches_expects_memory) {
  calibration on = machine();
  const pipeline_outline what{{}, {{100 * kib}}, {stage(0, 1, {}, {{0, 1}})}};
  EXPECT_DOUBLE_EQ(exact_bounds(what, on).upper, 2);
  on.levels = {{32 * kib, 1}, {everything, 31}};
  EXPECT_DOUBLE_EQ(exact_bounds(what, on).upper, 30);
  on.levels = {};
  EXPECT_DOUBLE_EQ(exact_bounds(what, on).upper, 0);
}

TEST(pipeline_estimate, has_its_bounds_in_order) {
  const pipeline_outline what{
      {{atom::packet}}, {{64 * kib}}, {stage(0, 1, {{atom::exact}, {atom::output}}, {{0, 2}})}};
  const cycle_range all = estimate(what, machine()).cycles;
  EXPECT_LT(all.lower, all.upper);
  EXPECT_DOUBLE_EQ(all.lower, 55 * (1 - margin));
  EXPECT_DOUBLE_EQ(all.upper, (76 + 2 * 2) * (1 + margin));
}

}  // namespace
}  // namespace coua::pipeline
