// SPDX-License-Identifier: Apache-2.0
#include "bench/plot/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>

#include "base/size.h"

namespace coua::bench {
namespace {

constexpr double whisker = 4;
constexpr double most_stretch = 4;  // a limit further above would leave the rest too little room
constexpr double tick_line = 13;    // between two lines of numbers below the plot
// Of a name below a bar that stands, and of such bars; with more the bars lie.
constexpr std::size_t standing_name = 14, standing_bars = 4;
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

/// Where things are, in units of the drawing.
struct layout {
  double width, height;
  double left, right, top, bottom;  // of the plot
  double legend_x, legend_y;        // of its first line
  double digit_width;               // of a number below the plot
  double x_label_y;                 // below the plot
  double line_height;               // of bars that lie
};
constexpr double legend_line = 19;
constexpr layout picture = {.width = 860,
                            .height = 460,
                            .left = 70,
                            .right = 640,
                            .top = 46,
                            .bottom = 390,
                            .legend_x = 658,
                            .legend_y = 54,
                            .digit_width = 7,
                            .x_label_y = 62,
                            .line_height = 0};

/// As narrow as a telephone shows it, its legend below.
layout in_page(const chart& what) {
  layout made{};
  made.width = 480, made.height = 330;
  made.left = 52, made.right = 456, made.top = 12, made.bottom = 280;
  made.legend_x = 56, made.legend_y = 340;
  made.digit_width = 7.5;
  made.x_label_y = 46;
  made.line_height = 24;
  if (what.categories.empty()) {
    if (what.series.size() > 1)
      made.height += 10 + legend_line * static_cast<double>(what.series.size());
    return made;
  }
  made.left = 190;
  made.bottom = made.top + made.line_height * static_cast<double>(what.categories.size());
  made.height = made.bottom + 50;
  return made;
}

/// About as wide as the letters of common fonts, rather wider.
double text_width(const std::string& words, double font_size) {
  return 0.6 * font_size * static_cast<double>(words.size());
}

double widest(const std::vector<std::string>& all, double font_size) {
  double most = 0;
  for (const std::string& each : all) most = std::max(most, text_width(each, font_size));
  return most;
}

bool bars_lie(const chart& what) {
  if (what.categories.empty()) return false;
  return what.in_page || what.categories.size() > standing_bars ||
         std::any_of(what.categories.begin(), what.categories.end(),
                     [](const std::string& each) { return each.size() > standing_name; });
}

/// A picture of its own, as large as its texts need.
layout alone(const chart& what) {
  layout made = picture;
  if (bars_lie(what)) {
    made.left = std::max(picture.left, 12 + widest(what.categories, 12));
    made.right = std::max(picture.width - 20, made.left + 400);
    made.line_height = 20;
    made.bottom = made.top + made.line_height * static_cast<double>(what.categories.size());
    made.height = std::max(picture.height, made.bottom + 60);
    made.width = made.right + 20;
  } else if (what.series.size() > 1) {
    std::vector<std::string> names;
    for (const chart_series& each : what.series) names.push_back(each.name);
    made.width = std::max(made.width, made.legend_x + 36 + widest(names, 11));
  }
  made.width = std::max(made.width, picture.left + text_width(what.title, 16) + 8);
  return made;
}

layout layout_of(const chart& what) { return what.in_page ? in_page(what) : alone(what); }

class canvas {
 public:
  canvas(const layout& place, bool inside) {
    const std::string size = number(place.width) + " " + number(place.height);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
    if (!inside)
      out_ += "width=\"" + number(place.width) + "\" height=\"" + number(place.height) + "\" ";
    out_ += "viewBox=\"0 0 " + size + "\" font-family=\"sans-serif\" font-size=\"";
    out_ += inside ? "13\" fill=\"currentColor\">\n"
                   : "12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
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
  explicit drawing(const chart& what)
      : chart_(what), at_(layout_of(what)), canvas_(at_, what.in_page) {
    double most = 0, limit = 0;
    double least_x = 0, most_x = 0;
    bool first = true;
    for (const chart_series& each : chart_.series) {
      for (const chart_point& point : each.points) {
        double& highest = each.dashed ? limit : most;
        highest = std::max(highest, point.y + point.spread);
        least_x = first ? point.x : std::min(least_x, point.x);
        most_x = first ? point.x : std::max(most_x, point.x);
        first = false;
      }
    }
    const bool holds_limit = limit <= most_stretch * most || most == 0;
    steps_ = round_steps(holds_limit ? std::max(most, limit) : most);
    from_ = least_x;
    to_ = most_x > least_x ? most_x : least_x + 1;
  }

  std::string draw() {
    if (chart_.in_page) {
      canvas_.raw("<title>" + escaped(chart_.title) + "</title>");
    } else {
      canvas_.text(picture.left, 26, chart_.title, "font-size=\"16\" font-weight=\"bold\"");
    }
    if (bars_lie(chart_)) {
      lying_bars();
      return canvas_.finish();
    }
    axes();
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
  const char* colour(std::size_t i) const {
    const char* const found = colours[i % colours.size()];
    return chart_.in_page && found == std::string_view("#000000") ? ink() : found;
  }
  const char* ink() const { return chart_.in_page ? "currentColor" : "black"; }
  std::string faint() const {
    return chart_.in_page ? stroke("currentColor") + " opacity=\"0.2\"" : stroke("#dddddd");
  }

  double place_x(double x) const {
    const double share = chart_.logarithmic ? std::log(x / from_) / std::log(to_ / from_)
                                            : (x - from_) / (to_ - from_);
    return at_.left + 14 + share * (at_.right - at_.left - 28);
  }
  double place_y(double y) const { return at_.bottom - y / steps_.back() * (at_.bottom - at_.top); }

  void axes() {
    for (const double step : steps_) {
      canvas_.line(at_.left, place_y(step), at_.right, place_y(step), faint());
      canvas_.text(at_.left - 8, place_y(step) + 4, number(step), "text-anchor=\"end\"");
    }
    canvas_.line(at_.left, at_.top, at_.left, at_.bottom, stroke(ink()));
    canvas_.line(at_.left, at_.bottom, at_.right, at_.bottom, stroke(ink()));
    const std::string y_label_x = chart_.in_page ? "13" : "18";
    const std::string middle = number((at_.top + at_.bottom) / 2);
    canvas_.text(0, 0, chart_.y_label,
                 "text-anchor=\"middle\" transform=\"translate(" + y_label_x + "," + middle +
                     ") rotate(-90)\"");
    canvas_.text((at_.left + at_.right) / 2, at_.bottom + at_.x_label_y, chart_.x_label,
                 "text-anchor=\"middle\"");
  }

  void number_ticks() {
    std::set<double> values;
    for (const chart_series& each : chart_.series) {
      for (const chart_point& point : each.points) values.insert(point.x);
    }
    // Where the last number of each line ends: one that the first has no room for goes below.
    std::array<double, 2> ends{};
    for (const double value : values) {
      const double x = place_x(value);
      canvas_.line(x, at_.bottom, x, at_.bottom + 5, stroke(ink()));
      const auto whole = static_cast<std::uint64_t>(value);
      const std::string words = value != std::floor(value) ? number(value)
                                : chart_.bytes             ? format_bytes(whole)
                                                           : format_count(whole);
      const double half = at_.digit_width * static_cast<double>(words.size()) / 2;
      const auto free = std::find_if(ends.begin(), ends.end(),
                                     [&](double end) { return end + at_.digit_width <= x - half; });
      if (free == ends.end()) continue;
      *free = x + half;
      canvas_.text(x, at_.bottom + 20 + tick_line * static_cast<double>(free - ends.begin()), words,
                   "text-anchor=\"middle\"");
    }
  }

  double group_width() const {
    return (at_.right - at_.left) / static_cast<double>(chart_.categories.size());
  }

  void category_ticks() {
    for (std::size_t i = 0; i < chart_.categories.size(); ++i) {
      const double x = at_.left + (static_cast<double>(i) + 0.5) * group_width();
      canvas_.text(x, at_.bottom + 14, chart_.categories[i], "text-anchor=\"middle\"");
    }
  }

  void whiskers(double x, const chart_point& point, const std::string& colour) {
    if (point.spread <= 0) return;
    const double low = place_y(std::max(0.0, point.y - point.spread));
    const double high = place_y(std::min(steps_.back(), point.y + point.spread));
    canvas_.line(x, low, x, high, stroke(colour));
    canvas_.line(x - whisker, low, x + whisker, low, stroke(colour));
    canvas_.line(x - whisker, high, x + whisker, high, stroke(colour));
  }

  bool is_inside(const chart_point& point) const { return point.y <= steps_.back(); }

  /// What is left of the line through these points where it is cut off at the top of the plot.
  std::vector<std::string> visible_parts(const std::vector<chart_point>& points) const {
    std::vector<std::string> out;
    const auto add = [&out](double x, double y) {
      out.back() += number(x) + "," + number(y) + " ";
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double x = place_x(points[i].x), y = place_y(points[i].y);
      const bool inside = is_inside(points[i]);
      const bool crosses = i > 0 && inside != is_inside(points[i - 1]);
      if (inside && (i == 0 || crosses)) out.emplace_back();
      if (crosses) {
        const double x_before = place_x(points[i - 1].x), y_before = place_y(points[i - 1].y);
        add(x_before + (x - x_before) * (at_.top - y_before) / (y - y_before), at_.top);
      }
      if (inside) add(x, y);
    }
    return out;
  }

  /// With how far the series goes where that is not to be seen.
  std::string legend_text(const chart_series& of) const {
    double most = 0;
    for (const chart_point& point : of.points) most = std::max(most, point.y);
    return of.name + (most > steps_.back() ? " (above: up to " + number(most) + ")" : "");
  }

  void draw_line(std::size_t index) {
    const chart_series& each = chart_.series[index];
    std::vector<chart_point> points = each.points;
    std::sort(points.begin(), points.end(),
              [](const chart_point& a, const chart_point& b) { return a.x < b.x; });
    for (const std::string& path : visible_parts(points)) {
      canvas_.raw("<polyline fill=\"none\" " + stroke(colour(index), 2) +
                  (each.dashed ? " stroke-dasharray=\"6 4\"" : "") + " points=\"" + path + "\"/>");
    }
    for (const chart_point& point : points) {
      if (!is_inside(point)) continue;
      whiskers(place_x(point.x), point, colour(index));
      canvas_.raw("<circle cx=\"" + number(place_x(point.x)) + "\" cy=\"" +
                  number(place_y(point.y)) + "\" r=\"3\" fill=\"" + colour(index) + "\"/>");
    }
  }

  void draw_bars(std::size_t index) {
    const double room = group_width() * 0.8;
    const double bar = room / static_cast<double>(chart_.series.size());
    for (const chart_point& point : chart_.series[index].points) {
      const double x = at_.left + point.x * group_width() + group_width() * 0.1 +
                       bar * static_cast<double>(index);
      const double high = std::max(at_.top, place_y(point.y));
      canvas_.raw("<rect x=\"" + number(x) + "\" y=\"" + number(high) + "\" width=\"" +
                  number(std::max(1.0, bar - 1)) + "\" height=\"" + number(at_.bottom - high) +
                  "\" fill=\"" + colour(index) + "\"/>");
      whiskers(x + bar / 2, point, "#444444");
    }
  }

  /// One below the other, with their names before and their numbers behind them.
  void lying_bars() {
    std::vector<std::string> numbers;
    for (const chart_point& point : chart_.series.front().points) {
      numbers.push_back(number(point.y));
    }
    const double room = at_.right - at_.left - std::max(50.0, 6 + widest(numbers, 12));
    const auto length_of = [&](double y) { return std::max(1.0, y / steps_.back() * room); };
    for (const chart_point& point : chart_.series.front().points) {
      const double y = at_.top + point.x * at_.line_height, text_y = y + at_.line_height / 2 + 3;
      const double middle = y + at_.line_height / 2 - 0.5;
      const double most = length_of(point.y + point.spread);
      const auto& name = chart_.categories[static_cast<std::size_t>(point.x)];
      canvas_.text(at_.left - 8, text_y, name, "text-anchor=\"end\"");
      canvas_.raw("<rect x=\"" + number(at_.left) + "\" y=\"" + number(y + 3) + "\" width=\"" +
                  number(length_of(point.y)) + "\" height=\"" + number(at_.line_height - 7) +
                  "\" fill=\"" + colour(0) + "\"/>");
      if (point.spread > 0) {
        const double least = length_of(std::max(0.0, point.y - point.spread));
        canvas_.line(at_.left + least, middle, at_.left + most, middle, stroke(ink()));
        for (const double end : {least, most}) {
          canvas_.line(at_.left + end, middle - whisker, at_.left + end, middle + whisker,
                       stroke(ink()));
        }
      }
      canvas_.text(at_.left + most + 6, text_y, number(point.y), "");
    }
    canvas_.text(at_.left, at_.bottom + 24, chart_.y_label, "");
    if (!chart_.in_page) canvas_.text(at_.left, at_.bottom + 44, chart_.x_label, "");
  }

  void legend() {
    if (chart_.series.size() < 2) return;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const double y = at_.legend_y + legend_line * static_cast<double>(i);
      canvas_.line(
          at_.legend_x, y, at_.legend_x + 22, y,
          stroke(colour(i), 3) + (chart_.series[i].dashed ? " stroke-dasharray=\"6 4\"" : ""));
      canvas_.text(at_.legend_x + 28, y + 4, legend_text(chart_.series[i]),
                   chart_.in_page ? "" : "font-size=\"11\"");
    }
  }

  const chart& chart_;
  const layout at_;
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
  double width = 0, height = 0;
  for (const chart& each : all) {
    const layout place = layout_of(each);
    width = std::max(width, place.width);
    height = std::max(height, place.height);
  }
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
