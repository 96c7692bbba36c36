// SPDX-License-Identifier: Apache-2.0
#include "bench/plot/figure.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace coua::bench {
namespace {

json report_of(const json& rows) {
  return {{"bench", "fib"}, {"params", {{"figure", 6}}}, {"machine", {}}, {"rows", rows}};
}

json row_of(const char* name, unsigned entries, unsigned batch, double mops) {
  return {{"name", name},
          {"params", {{"entries", entries}, {"batch", batch}}},
          {"mops", mops},
          {"limit_mops", 2 * mops},
          {"spread", 0.1}};
}

TEST(figure, lines_over_the_number_that_varies) {
  const result<chart> made = make_figure(report_of(
      json::array({row_of("fib/batch", 1000, 8, 50), row_of("fib/batch", 2000, 8, 40),
                   row_of("fib/batch", 1000, 32, 60), row_of("fib/batch", 2000, 32, 55)})));
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->categories.empty());
  EXPECT_TRUE(made->logarithmic);
  ASSERT_EQ(made->series.size(), 3U) << "two batch sizes and the limit";
  EXPECT_EQ(made->series[0].name, "fib/batch batch 8");
  EXPECT_EQ(made->series[1].points.size(), 2U);
  EXPECT_EQ(made->series[1].points[1].x, 2000);
  EXPECT_EQ(made->series[1].points[1].y, 55);
  EXPECT_DOUBLE_EQ(made->series[1].points[1].spread, 5.5);
  EXPECT_EQ(made->series[2].name, "limit");
  EXPECT_EQ(made->series[2].points[0].y, 120);
  EXPECT_NE(made->title.find("figure 6"), std::string::npos);
}

TEST(figure, what_follows_from_x_does_not_split_a_line) {
  json small = row_of("fib/batch", 1000, 8, 50), large = row_of("fib/batch", 2000, 8, 40);
  small["params"]["layout"] = "wide8";
  large["params"]["layout"] = "packed8";
  const result<chart> made = make_figure(report_of(json::array({small, large})));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->series.front().name, "fib/batch");
  EXPECT_EQ(made->series.front().points.size(), 2U);
}

TEST(figure, bars_where_only_names_differ) {
  const json load = row_of("fib/load", 1000, 32, 9);
  const json one = row_of("fib/insert", 1000, 1, 5), more = row_of("fib/insert-batch", 1000, 32, 6);
  const result<chart> made = make_figure(report_of(json::array(
      {load, one, more, row_of("fib/batch", 1000, 32, 50), row_of("absl/single", 1000, 1, 20)})));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->categories, (std::vector<std::string>{"fib/batch", "absl/single"}))
      << "loading and inserting are left out";
  EXPECT_EQ(made->x_label, "limit 100 millions per second");
}

TEST(figure, bars_where_the_report_asks_for_them) {
  json report =
      report_of(json::array({row_of("fib/batch", 1000, 8, 50), row_of("fib/batch", 2000, 8, 40)}));
  EXPECT_TRUE(make_figure(report)->categories.empty());
  report["params"]["bars"] = true;
  EXPECT_EQ(make_figure(report)->categories.size(), 2U);
}

TEST(figure, entries_of_a_cluster_over_its_nodes) {
  json rows = json::array();
  for (const unsigned nodes : {2U, 4U}) {
    for (const char* source : {"formula", "measured"}) {
      rows.push_back({{"name", "scalebricks"},
                      {"params", {{"nodes", nodes}, {"keys", 1000}, {"source", source}}},
                      {"million_entries", nodes * 2.0}});
    }
  }
  const json report = {{"bench", "setsep"}, {"params", {{"figure", 11}}}, {"rows", rows}};
  const result<chart> made = make_figure(report);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->series.size(), 2U);
  EXPECT_EQ(made->series[1].name, "scalebricks source measured");
  EXPECT_EQ(made->series[1].points[1].y, 8);
  EXPECT_NE(made->title.find("ScaleBricks figure 11"), std::string::npos);
}

TEST(figure, panels_are_lines_of_charts_in_the_order_of_the_rows) {
  json rows = json::array();
  for (const unsigned capacity : {512U, 4096U}) {
    for (const double load : {0.6, 0.95}) {
      for (const unsigned misses : {0U, 50U}) {
        rows.push_back({{"name", "bloom/batch"},
                        {"params", {{"capacity", capacity}, {"load", load}, {"misses", misses}}},
                        {"mops", load * 100}});
      }
    }
  }
  json report = report_of(rows);
  report["params"]["panels"] = {"capacity", "load"};
  const result<panels> made = make_panels(report);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->columns, 2U);
  ASSERT_EQ(made->charts.size(), 4U);
  EXPECT_EQ(made->charts[1].series[0].points.size(), 2U);
  EXPECT_EQ(made->charts[1].series[0].points[0].y, 95);
  EXPECT_NE(made->charts[2].title.find("capacity 4096"), std::string::npos);
  EXPECT_EQ(draw_svg(made->charts, 2).find("nan"), std::string::npos);
  report["params"].erase("panels");
  EXPECT_EQ(make_panels(report)->charts.size(), 1U);
  EXPECT_FALSE(make_panels(json::array()));
}

TEST(figure, inserts_are_drawn_where_there_is_nothing_else) {
  json insert = row_of("bloom/insert", 1000, 32, 9);
  EXPECT_EQ(make_figure(report_of(json::array({insert, row_of("bloom/batch", 1000, 32, 50)})))
                ->categories.size(),
            1U);
  EXPECT_EQ(make_figure(report_of(json::array({insert})))->categories,
            (std::vector<std::string>{"bloom/insert"}));
}

TEST(figure, what_is_no_report_is_refused) {
  EXPECT_FALSE(make_figure(json::array()));
  EXPECT_FALSE(make_figure(report_of(json::array())));
  EXPECT_FALSE(make_figure(report_of(json::array({{{"name", "x"}, {"params", {}}}}))));
}

TEST(figure, a_field_by_its_name) {
  json one = row_of("nothing", 1000, 32, 9), other = row_of("port add", 1000, 32, 9);
  one["gap_us"] = 50;
  other["gap_us"] = 70;
  const result<chart> made = make_figure(report_of(json::array({one, other})), "gap_us");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->series[0].points[1].y, 70);
  EXPECT_FALSE(make_figure(report_of(json::array({one})), "gap"));
}

TEST(chart, in_a_page_it_takes_colours_and_width_from_there) {
  chart what;
  what.in_page = true;
  what.title = "a & b";
  what.series.push_back({"one", {{0, 10, 1}, {1, 8, 0}}, false});
  what.series.push_back({"two", {{0, 5, 1}, {1, 9, 0}}, false});
  chart bars = what;
  bars.categories = {"first", "second"};
  bars.series.pop_back();
  for (const std::string& svg : {draw_svg(what), draw_svg(bars)}) {
    EXPECT_EQ(svg.find("white"), std::string::npos);
    EXPECT_EQ(svg.find("black"), std::string::npos);
    EXPECT_EQ(svg.find(" id="), std::string::npos) << "a page has several charts";
    EXPECT_NE(svg.find("<title>a &amp; b</title>"), std::string::npos);
    EXPECT_LT(svg.find("viewBox"), svg.find(" width="));
  }
  EXPECT_NE(draw_svg(bars).find(">second<"), std::string::npos);
}

TEST(chart, steps_are_round_and_cover_the_most) {
  EXPECT_EQ(round_steps(100), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(round_steps(0), (std::vector<double>{0, 1}));
  for (const double most : {0.003, 0.9, 7.0, 349.0, 12345.0}) {
    const std::vector<double> steps = round_steps(most);
    EXPECT_GE(steps.back(), most);
    EXPECT_LE(steps.size(), 8U);
  }
}

TEST(chart, svg_escapes_and_places_points_inside) {
  chart what;
  what.title = "a < b & c";
  what.logarithmic = true;
  what.series.push_back({"one", {{1000, 10, 1}, {1'000'000, 5, 0}}, false});
  const std::string svg = draw_svg(what);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(svg.find("1.0 K"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

/// The values of an attribute, wherever it stands.
std::vector<std::string> all_of(const std::string& svg, const std::string& attribute) {
  std::vector<std::string> out;
  const std::string start = attribute + "=\"";
  for (std::size_t at = 0; (at = svg.find(start, at)) != std::string::npos;) {
    at += start.size();
    out.push_back(svg.substr(at, svg.find('"', at) - at));
  }
  return out;
}

double number_of(const std::string& element, const std::string& attribute, double otherwise) {
  const std::vector<std::string> found = all_of(element, attribute);
  return found.empty() ? otherwise : std::strtod(found.front().c_str(), nullptr);
}

/// Texts that would be cut off, by an estimate of half a font size for each letter.
std::vector<std::string> texts_outside(const std::string& svg) {
  const std::string size = all_of(svg, "viewBox").front();
  char* end = nullptr;
  std::strtod(size.c_str() + 4, &end);
  const double width = std::strtod(size.c_str() + 4, nullptr), height = std::strtod(end, nullptr);
  const double common = number_of(svg, "font-size", 12);
  std::vector<std::string> out;
  std::istringstream elements(svg);
  for (std::string each; std::getline(elements, each);) {
    if (!each.starts_with("<text ")) continue;
    const std::size_t from = each.find('>') + 1;
    const std::string words = each.substr(from, each.find("</text>") - from);
    const double font = number_of(each, "font-size", common);
    const double length = 0.5 * font * static_cast<double>(words.size());
    const double before = each.find("\"end\"") != std::string::npos      ? length
                          : each.find("\"middle\"") != std::string::npos ? length / 2
                                                                         : 0;
    double left = number_of(each, " x", 0) - before, right = left + length;
    double bottom = number_of(each, " y", 0), top = bottom - font;
    if (const std::size_t at = each.find("translate("); at != std::string::npos) {
      // Turned by a quarter to the left around this place.
      const double x = std::strtod(each.c_str() + at + 10, &end);
      const double y = std::strtod(end + 1, nullptr);
      left = x - font, right = x, top = y - (length - before), bottom = y + before;
    }
    if (left < 0 || right > width || top < 0 || bottom > height) out.push_back(words);
  }
  return out;
}

TEST(chart, no_text_is_cut_off) {
  const std::vector<std::string> none;
  chart bars;
  bars.title = "coua-bench flow, Cuckoo++ table memory, capacity 134217728, load 0.95";
  bars.y_label = "bytes per entry";
  bars.x_label = "limit 100 millions per second";
  bars.series.push_back({"measured", {}, false});
  for (int i = 0; i < 40; ++i) {
    bars.categories.push_back("pessimistic-timer/memory sync one-writer " + std::to_string(i));
    bars.series[0].points.push_back({static_cast<double>(i), 42.18 * i, 2});
    EXPECT_EQ(texts_outside(draw_svg(bars)), none) << i;
  }
  bars.series[0].points.back().y = 123'456'789.25;
  EXPECT_EQ(texts_outside(draw_svg(bars)), none);
  bars.categories = {"generic", "avx2", "avx512"};
  bars.series[0].points.resize(3);
  EXPECT_EQ(texts_outside(draw_svg(bars)), none);
  chart lines = bars;
  lines.categories.clear();
  EXPECT_EQ(texts_outside(draw_svg(lines)), none);
  lines.series.push_back(
      {"pessimistic-timer/pipeline batch 32 sync one-writer", {{1, 2, 0}}, false});
  EXPECT_EQ(texts_outside(draw_svg(lines)), none);
  lines.title += lines.title;
  EXPECT_EQ(texts_outside(draw_svg(lines)), none);
}

TEST(chart, panels_are_as_large_as_the_largest) {
  chart small, large;
  for (int i = 0; i < 40; ++i) {
    large.categories.push_back("a name that is long enough for bars to lie");
  }
  small.series = large.series = {{"measured", {{0, 1, 0}}, false}};
  const std::string svg = draw_svg({small, large, small}, 2);
  const double width = number_of(draw_svg(large), " width", 0);
  const double height = number_of(draw_svg(large), " height", 0);
  EXPECT_GT(height, 800);
  EXPECT_EQ(number_of(svg, " width", 0), 2 * width);
  EXPECT_EQ(number_of(svg, " height", 0), 2 * height);
}

chart with_limit(double first, double second, double spread = 0) {
  chart what;
  what.series.push_back({"one", {{1, 10, spread}, {2, 8, spread}}, false});
  what.series.push_back({"limit", {{1, first, spread}, {2, second, spread}}, true});
  return what;
}

/// Of circles and of the lines between them.
std::vector<std::string> heights_of_lines(const std::string& svg) {
  std::vector<std::string> out = all_of(svg, "cy");
  for (const std::string& line : all_of(svg, " points")) {
    for (std::size_t at = 0; (at = line.find(',', at)) != std::string::npos;)
      out.push_back(line.substr(++at));
  }
  return out;
}

/// Of thin lines in the colours of with_limit().
std::vector<std::string> heights_of_whiskers(const std::string& svg) {
  std::vector<std::string> out;
  std::istringstream elements(svg);
  for (std::string each; std::getline(elements, each);) {
    if (each.find("stroke=\"#0072b2\" stroke-width=\"1\"") == std::string::npos &&
        each.find("stroke=\"#d55e00\" stroke-width=\"1\"") == std::string::npos)
      continue;
    for (const char* end : {"y1", "y2"}) out.push_back(all_of(each, end).front());
  }
  return out;
}

TEST(chart, the_axis_holds_everything_that_is_drawn) {
  for (const auto& [first, second] : {std::pair(9.0, 7.0),
                                      {19.0, 39.0},
                                      {1000.0, 9.0},
                                      {9.0, 1000.0},
                                      {70.0, 1000.0},
                                      {1000.0, 12.0}}) {
    for (const auto& [in_page, spread] :
         {std::pair(false, 0.0), {true, 0.0}, {false, 1.0}, {true, 1.0}}) {
      chart what = with_limit(first, second, spread);
      what.in_page = in_page;
      const std::string svg = draw_svg(what);
      const double top = in_page ? 12 : 46, bottom = in_page ? 280 : 390;
      std::vector<std::string> heights = heights_of_lines(svg);
      const std::vector<std::string> whiskers = heights_of_whiskers(svg);
      EXPECT_GE(heights.size(), 4U);
      EXPECT_GE(whiskers.size(), spread > 0 ? 12U : 0U) << "of two points at least";
      heights.insert(heights.end(), whiskers.begin(), whiskers.end());
      for (const std::string& each : heights) {
        const double y = std::strtod(each.c_str(), nullptr);
        EXPECT_TRUE(y >= top && y <= bottom)
            << y << " with a limit of " << first << " and " << second;
      }
    }
  }
}

TEST(chart, a_limit_stretches_the_axis_until_it_would_flatten_the_rest) {
  EXPECT_NE(draw_svg(with_limit(39, 20)).find(">40</text>"), std::string::npos);
  EXPECT_NE(draw_svg(with_limit(39, 20)).find(">limit</text>"), std::string::npos);
  chart alone = with_limit(0, 0);
  alone.series.pop_back();
  const std::string line = all_of(draw_svg(alone), " points").front();
  for (const double second : {9.0, 70.0}) {
    const std::string both = draw_svg(with_limit(1000, second));
    EXPECT_EQ(all_of(both, " points").front(), line) << "drawn where it was";
    EXPECT_EQ(all_of(both, " points").size(), second > 10 ? 1U : 2U) << "what is above is cut off";
    EXPECT_NE(both.find(">limit (above: up to 1000)</text>"), std::string::npos);
  }
}

TEST(chart, close_ticks_have_their_numbers_as_well) {
  chart what = with_limit(20, 20);
  what.logarithmic = true;
  what.series.front().points.clear();
  for (const double batch : {1, 2, 4, 8, 14, 16, 32})
    what.series.front().points.push_back({batch, batch, 0});
  for (const bool in_page : {false, true}) {
    what.in_page = in_page;
    const std::string svg = draw_svg(what);
    for (const char* each : {"1", "2", "4", "8", "14", "16", "32"})
      EXPECT_NE(svg.find("text-anchor=\"middle\">" + std::string(each) + "</text>"),
                std::string::npos)
          << each;
  }
}

TEST(chart, svg_of_nothing_and_of_one_point_has_no_infinite_number) {
  chart what;
  for (const std::string& svg : {draw_svg(what), [&] {
                                   what.logarithmic = true;
                                   what.series.push_back({"one", {{64, 0, 0}}, false});
                                   return draw_svg(what);
                                 }()}) {
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
  }
}

}  // namespace
}  // namespace coua::bench
