// SPDX-License-Identifier: Apache-2.0
//
// That a calibration is there and hangs together; not how fast the machine is, which tests that run
// beside others cannot know.
#include "pipeline/estimate/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pipeline/estimate/pipeline_probe.h"
#include "pipeline/estimate/probe_rules.h"

namespace coua::pipeline {
namespace {

TEST(pipeline_calibration, is_whole) {
  const result<calibration> got = calibrate();
  ASSERT_TRUE(got.has_value());
  for (std::size_t i = 0; i < n_atoms; ++i) {
    const cycle_range one = got->atoms[i];
    EXPECT_TRUE(std::isfinite(one.lower) && std::isfinite(one.upper)) << i;
    EXPECT_GE(one.lower, 0) << i;
    EXPECT_GE(one.upper, one.lower) << i;
  }
  // What no machine does in no time.
  for (const atom each : {atom::exact, atom::lpm, atom::classifier, atom::group}) {
    EXPECT_GT(got->of(each).upper, 0) << static_cast<int>(each);
  }
  ASSERT_GE(got->levels.size(), 2U);
  EXPECT_EQ(got->levels.back().bytes, std::numeric_limits<std::uint64_t>::max());
  for (std::size_t i = 0; i < got->levels.size(); ++i) {
    EXPECT_GT(got->levels[i].line_cycles, 0) << i;
    if (i == 0) continue;
    EXPECT_GT(got->levels[i].bytes, got->levels[i - 1].bytes);
    EXPECT_GE(got->levels[i].line_cycles, got->levels[i - 1].line_cycles);
  }
}

TEST(pipeline_calibration, is_made_once) {
  EXPECT_EQ(&machine_calibration(), &machine_calibration());
  EXPECT_TRUE(machine_calibration().has_value());
}

// A difference of two pipelines says nothing unless both are what they are meant to be.
TEST(pipeline_probe, small_pipelines_have_the_templates_that_they_are_for) {
  struct expected {
    small_pipeline which;
    table_template kind;
    unsigned words;
  };
  using enum small_pipeline;
  for (const expected& each : {expected{two_tables, table_template::direct, 0},
                               {direct_8, table_template::direct, 1},
                               {direct_16, table_template::direct, 1},
                               {direct_wide, table_template::direct, 5},
                               {small_pipeline::exact, table_template::exact, 2},
                               {exact_wide, table_template::exact, 5},
                               {lpm, table_template::lpm, 0},
                               {lpm_group, table_template::lpm, 0},
                               {masks_4, table_template::classifier, 4},
                               {masks_16, table_template::classifier, 16}}) {
    const auto made = running_bridge::create({}, pipeline_probe::compiled_with);
    ASSERT_TRUE(made.has_value());
    running_bridge& in = **made;
    port to;
    to.number = pipeline_probe::out_port;
    ASSERT_TRUE(in.apply(port_mod{mod_command::add, to}, 0).has_value());
    ASSERT_TRUE(in.apply(rules_of(each.which), 0).has_value());
    const table_stage& stage = in.compiler().form(0)->stage();
    const int number = static_cast<int>(each.which);
    EXPECT_EQ(stage.kind, each.kind) << number;
    EXPECT_EQ(in.compiler().published().root.load()->depth, net::parse_depth::transport);
    if (stage.kind != each.kind) continue;
    if (each.kind == table_template::direct) {
      EXPECT_EQ(stage.direct.load()->rows.n_words, each.words) << number;
    } else if (each.kind == table_template::exact) {
      EXPECT_EQ(stage.exact->stride(), each.words) << number;
    } else if (each.kind == table_template::lpm) {
      EXPECT_EQ(stage.prefixes->ipv4->stats().groups, each.which == lpm ? 0U : 1U);
    } else {
      coua_classifier_stats stats{};
      stats.size = sizeof stats;
      stage.wildcard->rules().get_stats(stats);
      EXPECT_EQ(stats.masks, each.words);
    }
  }
}

TEST(pipeline_probe, packets_of_all_kinds_match_what_is_measured) {
  const auto by = pipeline_probe::create();
  ASSERT_TRUE(by.has_value());
  for (std::size_t i = 0; i < n_small_pipelines; ++i) {
    const auto which = static_cast<small_pipeline>(i);
    pipeline_probe::rounds took;
    (*by)->measure(rules_of(which), is_tagged(which), took);
    ASSERT_FALSE(took.alike.empty() || took.mixed.empty());
    // All of them go as far as the last table, and out.
    EXPECT_EQ((*by)->n_dropped() != 0, which == small_pipeline::dropped) << i;
  }
}

}  // namespace
}  // namespace coua::pipeline
