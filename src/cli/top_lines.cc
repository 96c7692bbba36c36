// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/top_view.h"

namespace coua::cli {
namespace {

using text_lines = std::vector<std::string>;

template <typename... Arguments>
std::string format(const char* how, Arguments... arguments) {
  char text[256];
  std::snprintf(text, sizeof text, how, arguments...);
  return text;
}

std::string link_text(const top_port& port) {
  if (!port.is_up) return "down";
  return port.mbps == 0 ? "up" : short_number(port.mbps * 1e6);
}

std::string port_line(const top_port& port, const std::string& link) {
  return format("%-12.12s %5s %7s %7s %8s %8s %8s %11s", port.name.c_str(), link.c_str(),
                short_number(port.rx_pps).c_str(), short_number(port.tx_pps).c_str(),
                short_number(port.rx_bps).c_str(), short_number(port.tx_bps).c_str(),
                short_number(port.drop_pps).c_str(), grouped(port.learned).c_str());
}

/// The table, of at most `room` lines.
text_lines port_lines(const top_view& view, std::size_t room) {
  text_lines out{format("%-12s %5s %7s %7s %8s %8s %8s %11s", "PORT", "LINK", "RX PPS", "TX PPS",
                        "RX BIT/S", "TX BIT/S", "DROPS/S", "LEARNED"),
                 port_line(view.all, "")};
  const std::size_t fitting = room > out.size() ? room - out.size() : 0;
  const bool is_cut = fitting < view.ports.size();
  const std::size_t n = is_cut ? std::max<std::size_t>(fitting, 1) - 1 : view.ports.size();
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(port_line(view.ports[i], link_text(view.ports[i])));
  if (is_cut) out.push_back("... " + std::to_string(view.ports.size() - n) + " more");
  return out;
}

text_lines worker_lines(const top_view& view) {
  const auto with_bursts = [](std::string line, const text_lines& cells) {
    for (const std::string& cell : cells) line += format("%6s", cell.c_str());
    return line;
  };
  text_lines out{
      with_bursts(format("%-6s %4s %6s %10s %7s ", "WORKER", "CORE", "BUSY", "CYCLES/PKT", "PPS"),
                  burst_heads())};
  for (const top_worker& each : view.workers) {
    out.push_back(with_bursts(
        format("%-6u %4u %5.1f%% %10s %7s ", each.number, each.core, 100 * each.busy,
               each.cycles_per_packet > 0 ? format("%.1f", each.cycles_per_packet).c_str() : "-",
               short_number(each.pps).c_str()),
        burst_cells(each.bursts)));
  }
  return out;
}

text_lines drop_lines(const top_view& view) {
  if (view.drops.empty()) return {"DROPS   none so far"};
  text_lines out{format("%-26s %10s %20s", "DROPS", "PER SECOND", "TOTAL")};
  for (const top_count& each : view.drops)
    out.push_back(format("%-26s %10s %20s", each.name.c_str(),
                         short_number(each.per_second).c_str(), grouped(each.total).c_str()));
  return out;
}

/// "LEARNING  reports 12/s (1,234)  lost 0": the rate only where there is one.
std::string counts_line(const char* name, const std::vector<top_count>& counts) {
  std::string line = format("%-9s", name);
  for (const top_count& each : counts) {
    line += " " + each.name + " " + grouped(each.total);
    if (each.per_second > 0) line += " (" + short_number(each.per_second) + "/s)";
    line += " ";
  }
  return line;
}

text_lines table_lines(const top_view& view) {
  return {format("%-9s %s of %s slots, load %.4f", "FIB", grouped(view.fib_entries).c_str(),
                 grouped(view.fib_slots).c_str(), view.fib_load),
          counts_line("", view.fib), counts_line("LEARNING", view.learning),
          format("%-9s %s rules, %s groups, %s meters%s", "PIPELINE", grouped(view.rules).c_str(),
                 grouped(view.groups).c_str(), grouped(view.meters).c_str(),
                 view.bridges > 1 ? (" in " + grouped(view.bridges) + " bridges").c_str() : "")};
}

}  // namespace

std::string short_number(double number) {
  constexpr const char* units[] = {"", "K", "M", "G", "T"};
  std::size_t unit = 0;
  // 999.5 would be printed as 1000.
  while (number >= 999.5 && unit + 1 < std::size(units)) {
    number /= 1000;
    ++unit;
  }
  if (unit == 0)
    return number < 9.95 && number > 0 ? format("%.1f", number) : format("%.0f", number);
  const int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return format("%.*f%s", digits, number, units[unit]);
}

std::vector<std::string> burst_heads() {
  std::vector<std::string> out{"BURST"};
  out.insert(out.end(), burst_class_names.begin(), burst_class_names.end());
  return out;
}

std::vector<std::string> burst_cells(const burst_sizes& of) {
  if (of.mean <= 0) return std::vector<std::string>(1 + burst_classes, "-");
  std::vector<std::string> out{format("%.1f", of.mean)};
  for (const double share : of.shares) out.push_back(format("%.0f%%", 100 * share));
  return out;
}

std::vector<std::string> top_lines(const top_view& view, std::size_t width, std::size_t height) {
  std::vector<std::string> rest;
  for (const auto& part : {worker_lines(view), drop_lines(view), table_lines(view)}) {
    rest.emplace_back();
    rest.insert(rest.end(), part.begin(), part.end());
  }
  // The head, the sum and what stands for those that are cut.
  constexpr std::size_t port_lines_min = 3;
  std::size_t room = view.ports.size() + port_lines_min;
  if (height != 0)
    room = std::min(room, std::max(port_lines_min, height - std::min(height, rest.size())));
  std::vector<std::string> out = port_lines(view, room);
  out.insert(out.end(), rest.begin(), rest.end());
  if (height != 0 && out.size() > height) out.resize(height);
  for (std::string& line : out)
    if (line.size() > width) line.resize(width);
  return out;
}

}  // namespace coua::cli
