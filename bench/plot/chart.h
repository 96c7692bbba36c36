// SPDX-License-Identifier: Apache-2.0
//
// A chart as SVG, with nothing but text: lines over a number, or bars over names. Bars that are
// many or have long names lie beside them.
//
//   +--------------------------------+----------+
//   | title                          |          |
//   | y |                            | legend   |
//   |   |      plot                  |          |
//   |   +-----------------------     |          |
//   |            x                   |          |
//   +--------------------------------+----------+
#pragma once

#include <string>
#include <vector>

namespace coua::bench {

struct chart_point {
  double x;
  double y;
  double spread = 0;  // of y, both ways; 0: no whiskers
};

struct chart_series {
  std::string name;
  std::vector<chart_point> points;
  // A limit: where it lies so far above the others that they would be flattened, it does not
  // stretch the y axis, is cut off at the top of the plot, and the legend says how far it goes.
  bool dashed = false;
};

struct chart {
  std::string title, x_label, y_label;
  bool logarithmic = false;             // x; all x above 0
  bool bytes = false;                   // x in powers of two
  std::vector<std::string> categories;  // not empty: bars; point x is the index of one
  std::vector<chart_series> series;
  /// For a page: as wide as its place, in the page's colours, as legible on a telephone; bars lie.
  bool in_page = false;
};

/// The whole SVG document. Works for any finite numbers, also none.
std::string draw_svg(const chart&);

/// Several, in lines of `columns` (at least 1).
std::string draw_svg(const std::vector<chart>&, std::size_t columns);

/// Round steps that cover [0, most]: 0, 20, 40, ... At least two.
std::vector<double> round_steps(double most);

}  // namespace coua::bench
