// SPDX-License-Identifier: Apache-2.0
#include "bench/plot/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/size.h"

namespace coua::bench {
namespace {

constexpr double width = 860, height = 460;
constexpr double left = 70, right = 640, top = 46, bottom = 390;
constexpr double whisker = 4;
constexpr std::size_t text_chart_limit = 14;  // characters of a category before it is tilted
// Colours that stay apart for colour-blind readers (Okabe and Ito, 2008), then darker ones.
constexpr std::array<const char*, 12> colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#7f3b08",
                                                 "#1b7837", "#762a83", "#b2182b", "#666666"};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

/// A few decimals, without those that say nothing.
std::string number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string out = text;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out;
}

class canvas {
 public:
  canvas() {
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
           number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& style) {
    out_ += "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
            "\" y2=\"" + number(y2) + "\" " + style + "/>\n";
  }
  void text(double x, double y, const std::string& words, const std::string& style) {
    out_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + style + ">" +
            escaped(words) + "</text>\n";
  }
  void raw(const std::string& element) { out_ += element + "\n"; }
  std::string finish() { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

std::string stroke(const std::string& colour, double thickness = 1) {
  return "stroke=\"" + colour + "\" stroke-width=\"" + number(thickness) + "\"";
}

class drawing {
 public:
  explicit drawing(const chart& what) : chart_(what) {
    double most = 0;
    double least_x = 0, most_x = 0;
    bool first = true;
    for (const chart_series& each : chart_.series) {
      for (const chart_point& point : each.points) {
        if (!each.dashed) most = std::max(most, point.y + point.spread);
        least_x = first ? point.x : std::min(least_x, point.x);
        most_x = first ? point.x : std::max(most_x, point.x);
        first = false;
      }
    }
    steps_ = round_steps(most);
    from_ = least_x;
    to_ = most_x > least_x ? most_x : least_x + 1;
  }

  std::string draw() {
    canvas_.text(left, 26, chart_.title, "font-size=\"16\" font-weight=\"bold\"");
    axes();
    canvas_.raw("<clipPath id=\"plot\"><rect x=\"" + number(left) + "\" y=\"" + number(top) +
                "\" width=\"" + number(right - left) + "\" height=\"" + number(bottom - top) +
                "\"/></clipPath>");
    if (chart_.categories.empty()) {
      number_ticks();
      for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_line(i);
    } else {
      category_ticks();
      for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_bars(i);
    }
    legend();
    return canvas_.finish();
  }

 private:
  const char* colour(std::size_t i) const { return colours[i % colours.size()]; }

  double place_x(double x) const {
    const double share = chart_.logarithmic ? std::log(x / from_) / std::log(to_ / from_)
                                            : (x - from_) / (to_ - from_);
    return left + 14 + share * (right - left - 28);
  }
  double place_y(double y) const { return bottom - y / steps_.back() * (bottom - top); }

  void axes() {
    for (const double step : steps_) {
      canvas_.line(left, place_y(step), right, place_y(step), stroke("#dddddd"));
      canvas_.text(left - 8, place_y(step) + 4, number(step), "text-anchor=\"end\"");
    }
    canvas_.line(left, top, left, bottom, stroke("black"));
    canvas_.line(left, bottom, right, bottom, stroke("black"));
    const std::string middle = number((top + bottom) / 2);
    canvas_.text(0, 0, chart_.y_label,
                 "text-anchor=\"middle\" transform=\"translate(18," + middle + ") rotate(-90)\"");
    canvas_.text((left + right) / 2, bottom + 62, chart_.x_label, "text-anchor=\"middle\"");
  }

  void number_ticks() {
    std::set<double> values;
    for (const chart_series& each : chart_.series) {
      for (const chart_point& point : each.points) values.insert(point.x);
    }
    double last = -1000;
    for (const double value : values) {
      const double x = place_x(value);
      canvas_.line(x, bottom, x, bottom + 5, stroke("black"));
      if (x - last < 34) continue;
      last = x;
      const auto whole = static_cast<std::uint64_t>(value);
      const std::string words = value != std::floor(value) ? number(value)
                                : chart_.bytes             ? format_bytes(whole)
                                                           : format_count(whole);
      canvas_.text(x, bottom + 20, words, "text-anchor=\"middle\"");
    }
  }

  double group_width() const {
    return (right - left) / static_cast<double>(chart_.categories.size());
  }

  void category_ticks() {
    for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
      const double x = left + (static_cast<double>(i) + 0.5) * group_width();
      const bool tilted =
          chart_.categories.size() > 4 || chart_.categories[i].size() > text_chart_limit;
      const std::string turn =
          tilted ? " transform=\"rotate(-25 " + number(x) + " " + number(bottom + 14) + ")\"" : "";
      canvas_.text(
          x, bottom + 14, chart_.categories[i],
          (tilted ? "font-size=\"10\" text-anchor=\"end\"" : "text-anchor=\"middle\"") + turn);
    }
  }

  void whiskers(double x, const chart_point& point, const std::string& colour) {
    if (point.spread <= 0) return;
    const double low = place_y(std::max(0.0, point.y - point.spread));
    const double high = place_y(point.y + point.spread);
    canvas_.line(x, low, x, high, stroke(colour));
    canvas_.line(x - whisker, low, x + whisker, low, stroke(colour));
    canvas_.line(x - whisker, high, x + whisker, high, stroke(colour));
  }

  void draw_line(std::size_t index) {
    const chart_series& each = chart_.series[index];
    std::vector<chart_point> points = each.points;
    std::sort(points.begin(), points.end(),
              [](const chart_point& a, const chart_point& b) { return a.x < b.x; });
    std::string path;
    for (const chart_point& point : points) {
      path += number(place_x(point.x)) + "," + number(place_y(point.y)) + " ";
    }
    canvas_.raw("<polyline clip-path=\"url(#plot)\" fill=\"none\" " + stroke(colour(index), 2) +
                (each.dashed ? " stroke-dasharray=\"6 4\"" : "") + " points=\"" + path + "\"/>");
    for (const chart_point& point : points) {
      if (place_y(point.y) < top) continue;
      whiskers(place_x(point.x), point, colour(index));
      canvas_.raw("<circle cx=\"" + number(place_x(point.x)) + "\" cy=\"" +
                  number(place_y(point.y)) + "\" r=\"3\" fill=\"" + colour(index) + "\"/>");
    }
  }

  void draw_bars(std::size_t index) {
    const double room = group_width() * 0.8;
    const double bar = room / static_cast<double>(chart_.series.size());
    for (const chart_point& point : chart_.series[index].points) {
      const double x =
          left + point.x * group_width() + group_width() * 0.1 + bar * static_cast<double>(index);
      const double high = std::max(top, place_y(point.y));
      canvas_.raw("<rect x=\"" + number(x) + "\" y=\"" + number(high) + "\" width=\"" +
                  number(std::max(1.0, bar - 1)) + "\" height=\"" + number(bottom - high) +
                  "\" fill=\"" + colour(index) + "\"/>");
      whiskers(x + bar / 2, point, "#444444");
    }
  }

  void legend() {
    if (chart_.series.size() < 2) return;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const double y = top + 8 + 19 * static_cast<double>(i);
      canvas_.line(
          right + 18, y, right + 40, y,
          stroke(colour(i), 3) + (chart_.series[i].dashed ? " stroke-dasharray=\"6 4\"" : ""));
      canvas_.text(right + 46, y + 4, chart_.series[i].name, "font-size=\"11\"");
    }
  }

  const chart& chart_;
  canvas canvas_;
  std::vector<double> steps_;
  double from_ = 0, to_ = 1;
};

}  // namespace

std::vector<double> round_steps(double most) {
  if (!(most > 0)) return {0, 1};
  const double raw = most / 5;
  const double unit = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * unit;
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * unit >= raw) {
      step = factor * unit;
      break;
    }
  }
  std::vector<double> out;
  for (int i = 0; out.empty() || out.back() < most; ++i) out.push_back(i * step);
  return out;
}

std::string draw_svg(const chart& what) { return drawing(what).draw(); }

std::string draw_svg(const std::vector<chart>& all, std::size_t columns) {
  if (all.size() == 1) return draw_svg(all.front());
  const std::size_t lines = (all.size() + columns - 1) / columns;
  const std::string whole_width = number(width * static_cast<double>(columns));
  const std::string whole_height = number(height * static_cast<double>(lines));
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + whole_width +
                    "\" height=\"" + whole_height + "\" viewBox=\"0 0 " + whole_width + " " +
                    whole_height + "\">\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    out += "<g transform=\"translate(" + number(width * static_cast<double>(i % columns)) + "," +
           number(height * static_cast<double>(i / columns)) + ")\">\n" + draw_svg(all[i]) +
           "</g>\n";
  }
  return out + "</svg>\n";
}

}  // namespace coua::bench
