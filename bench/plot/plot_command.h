// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace coua::bench {

struct plot_options {
  std::string input;   // JSON as a subcommand printed it; "-" for the standard input
  std::string output;  // .svg or .png; empty: the input's name with .svg
  std::string title;   // empty: what the rows have in common
  std::string field;   // what is drawn; empty: the most telling
  bool in_page = false;
};

/// `coua-bench plot`: writes the chart and returns the name of the file. A PNG is made by
/// rsvg-convert. Errors: io, invalid, not_found.
result<std::string> run_plot(const plot_options&);

}  // namespace coua::bench
