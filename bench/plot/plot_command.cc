// SPDX-License-Identifier: Apache-2.0
#include "bench/plot/plot_command.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "bench/harness/foreign_program.h"
#include "bench/harness/scratch_folder.h"
#include "bench/plot/figure.h"

namespace coua::bench {
namespace {

constexpr double convert_seconds = 60;

result<json> read_report(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream file(path);
    if (!file) return fail(errc::io, path, std::strerror(errno));
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) return fail(errc::invalid, path, "is not JSON");
  return parsed;
}

result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(errc::io, path, std::strerror(errno));
  return {};
}

/// The SVG goes to a file first.
result<void> write_png(const std::string& path, const std::string& svg) {
  const std::string tool = find_program("rsvg-convert");
  if (tool.empty()) {
    return fail(errc::not_found, path,
                "PNG needs rsvg-convert (Debian's package librsvg2-bin); or write an .svg");
  }
  const auto folder = scratch_folder::create();
  if (!folder) return tl::unexpected(folder.error());
  const std::string source = (*folder)->path() + "/picture.svg";
  if (result<void> done = write_file(source, svg); !done) return done;
  const auto drawn = run_program({tool, "-o", path, source}, {}, convert_seconds);
  if (!drawn) return tl::unexpected(drawn.error());
  return {};
}

std::string default_output(const std::string& input) {
  if (input == "-") return "coua-bench.svg";
  const std::size_t slash = input.rfind('/') + 1;
  const std::size_t dot = input.rfind('.');
  return (dot != std::string::npos && dot > slash ? input.substr(0, dot) : input) + ".svg";
}

}  // namespace

result<std::string> run_plot(const plot_options& asked) {
  const std::string output = asked.output.empty() ? default_output(asked.input) : asked.output;
  const bool png = output.ends_with(".png");
  if (!png && !output.ends_with(".svg")) {
    return fail(errc::invalid, output, "must end in .svg or .png");
  }
  const result<json> report = read_report(asked.input);
  if (!report) return tl::unexpected(report.error());
  result<panels> figure = make_panels(*report, asked.field);
  if (!figure) return fail(figure.error().code, asked.input, figure.error().what);
  if (asked.in_page && figure->charts.size() > 1) {
    return fail(errc::invalid, "--page", asked.input + " makes more than one chart");
  }
  for (chart& each : figure->charts) {
    each.in_page = asked.in_page;
    if (!asked.title.empty()) each.title = asked.title;
  }
  const std::string svg = draw_svg(figure->charts, figure->columns);
  if (result<void> done = png ? write_png(output, svg) : write_file(output, svg); !done) {
    return tl::unexpected(done.error());
  }
  return output;
}

}  // namespace coua::bench
