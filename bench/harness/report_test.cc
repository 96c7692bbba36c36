// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/report.h"

#include <gtest/gtest.h>

#include "bench/harness/options.h"

namespace coua::bench {
namespace {

report example() {
  report out;
  out.bench = "fib";
  out.params = {{"repetitions", 5}};
  for (const unsigned batch : {8U, 32U}) {
    row each;
    each.name = "fib/batch";
    each.params = {{"entries", 16'000'000}, {"batch", batch}};
    each.set_rate(50.0 * batch / 8, 2);
    each.set_limit(400);
    each.more["seconds"] = 1.23456789;
    out.rows.push_back(each);
  }
  return out;
}

TEST(report, json_has_the_fields_that_apply) {
  const json out = to_json(example(), {{"cpu", "x"}});
  EXPECT_EQ(out["bench"], "fib");
  EXPECT_EQ(out["machine"]["cpu"], "x");
  ASSERT_EQ(out["rows"].size(), 2U);
  const json& first = out["rows"][0];
  EXPECT_EQ(first["name"], "fib/batch");
  EXPECT_TRUE(first["params"]["entries"].is_number_integer());
  EXPECT_EQ(first["mops"], 50.0);
  EXPECT_EQ(first["ns_per_op"], 40.0) << "two threads, 50 M/s together";
  EXPECT_EQ(first["ratio_to_limit"], 0.125);
  EXPECT_EQ(first["seconds"], 1.23457) << "six digits";
  EXPECT_FALSE(first.contains("bytes_per_entry")) << "was not set";
}

TEST(report, table_shows_what_differs_and_says_once_what_does_not) {
  const std::string table = to_table(example(), {{"cpu", "x"}, {"cpus", 2}});
  EXPECT_NE(table.find("entries 16000000\n"), std::string::npos) << table;
  EXPECT_NE(table.find("batch"), std::string::npos);
  EXPECT_EQ(table.find("16000000"), table.rfind("16000000")) << table;
}

TEST(report, table_shows_small_shares_that_are_not_zero) {
  report out = example();
  out.rows[0].more["rate"] = 0.000463843;
  out.rows[1].more["rate"] = 0.0;
  const std::string table = to_table(out, {{"cpu", "x"}, {"cpus", 2}});
  EXPECT_NE(table.find("0.00046\n"), std::string::npos) << table;
  EXPECT_NE(table.find("  0.000\n"), std::string::npos) << table;
}

TEST(report, what_is_not_known_is_a_dash_and_no_field) {
  report out = example();
  out.rows[0].spread = 0.25;
  out.rows[0].put("ratio_spread", 0.125);
  out.rows[1].put("ratio_spread", std::nullopt);
  const json rows = to_json(out, {})["rows"];
  EXPECT_EQ(rows[0]["spread"], 0.25);
  EXPECT_EQ(rows[0]["ratio_spread"], 0.125);
  EXPECT_FALSE(rows[1].contains("spread")) << "its rate was measured once";
  EXPECT_FALSE(rows[1].contains("ratio_spread"));
  const std::string table = to_table(out, {{"cpu", "x"}, {"cpus", 2}});
  EXPECT_NE(table.find("0.250    1.235         0.125\n"), std::string::npos) << table;
  EXPECT_NE(table.find("    -    1.235             -\n"), std::string::npos) << table;
}

TEST(report, notes_stand_below_the_table_and_in_json) {
  report out = example();
  EXPECT_FALSE(to_json(out, {}).contains("notes"));
  out.notes = {"x is left out"};
  EXPECT_EQ(to_json(out, {})["notes"], json::array({"x is left out"}));
  EXPECT_TRUE(to_table(out, {{"cpu", "x"}, {"cpus", 2}}).ends_with("\nnote: x is left out\n"));
}

TEST(report, table_of_no_rows_is_a_heading) {
  EXPECT_EQ(to_table(report{"limit", {}, {}}, {{"cpu", "x"}, {"cpus", 2}}), "limit on x, 2 CPUs\n");
  EXPECT_EQ(to_table(report{"limit", {}, {}}, {{"cpu", "x"}, {"cpus", 2}, {"built_for", "tests"}}),
            "limit on x, 2 CPUs, built for tests, which makes it slow: see make bench\n");
}

TEST(options, sizes_take_both_kinds_of_units) {
  const auto sizes =
      parse_sizes("--size", {"64K", "64Ki", "16M", "2Mi", "1G", "1Gi", "7"}, 1, 1ULL << 40);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(*sizes, (std::vector<std::uint64_t>{64'000, 65'536, 16'000'000, 2'097'152,
                                                1'000'000'000, 1'073'741'824, 7}));
}

TEST(options, errors_name_the_option_and_the_word) {
  const auto unit = parse_sizes("--entries", {"16M", "5Q"}, 1, 100'000'000);
  ASSERT_FALSE(unit);
  EXPECT_NE(unit.error().message().find("--entries 5Q"), std::string::npos);
  const auto range = parse_sizes("--batch", {"5000"}, 1, 4096);
  ASSERT_FALSE(range);
  EXPECT_NE(range.error().message().find("1 to 4096"), std::string::npos);
  EXPECT_FALSE(parse_pages("3M"));
}

}  // namespace
}  // namespace coua::bench
