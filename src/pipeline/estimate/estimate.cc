// SPDX-License-Identifier: Apache-2.0
#include "pipeline/estimate/estimate.h"

#include <algorithm>
#include <numeric>

namespace coua::pipeline {
namespace {

cycle_range cost_of_atoms(const std::vector<atom_use>& all, const calibration& on) {
  cycle_range sum;
  for (const atom_use& each : all) {
    const cycle_range& one = on.of(each.which);
    sum += {each.fewest * one.lower, each.most * one.upper};
  }
  return sum;
}

cycle_range with_margin(const cycle_range& exact) {
  return {exact.lower * (1 - margin), exact.upper * (1 + margin)};
}

/// By area: the bytes of it and of all others that are touched as often, line for line.
std::vector<std::uint64_t> working_sets(const pipeline_outline& what) {
  std::vector<double> touched(what.areas.size());
  for (const stage_outline& stage : what.stages) {
    for (const line_use& use : stage.lines) touched[use.area] += stage.visits * use.lines;
  }
  std::vector<std::size_t> order(what.areas.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return touched[i] == 0; });
  const auto often = [&](std::size_t i) {
    return touched[i] / static_cast<double>(std::max<std::uint64_t>(what.areas[i].bytes, 1));
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return often(a) > often(b); });
  std::vector<std::uint64_t> sets(what.areas.size());
  std::uint64_t sum = burst_bytes;
  for (auto first = order.begin(); first != order.end();) {
    const auto last =
        std::find_if(first, order.end(), [&](std::size_t i) { return often(i) < often(*first); });
    for (auto each = first; each != last; ++each) sum += what.areas[*each].bytes;
    for (; first != last; ++first) sets[*first] = sum;
  }
  return sets;
}

}  // namespace

double line_cycles(const calibration& on, std::uint64_t working_set) {
  if (on.levels.empty()) return 0;
  const auto level =
      std::find_if(on.levels.begin(), on.levels.end() - 1,
                   [&](const memory_level& each) { return working_set <= each.bytes; });
  return std::max(level->line_cycles - on.levels.front().line_cycles, 0.0);
}

pipeline_estimate estimate(const pipeline_outline& what, const calibration& on) {
  pipeline_estimate made;
  cycle_range sum = cost_of_atoms(what.always, on);
  const std::vector<std::uint64_t> sets = working_sets(what);
  for (const stage_outline& stage : what.stages) {
    cycle_range one = cost_of_atoms(stage.atoms, on);
    for (const line_use& use : stage.lines) {
      one.upper += use.lines * line_cycles(on, sets[use.area]);
    }
    sum += {one.lower * stage.visits, one.upper * stage.visits};
    made.stages.push_back({stage.table, stage.visits, with_margin(one)});
  }
  made.cycles = with_margin(sum);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i] != 0) made.bytes += what.areas[i].bytes;
  }
  return made;
}

}  // namespace coua::pipeline
