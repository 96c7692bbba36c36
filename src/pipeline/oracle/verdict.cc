// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/verdict.h"

namespace coua::pipeline {

void counts::add_to(bridge& model, time_ns now) const {
  for (const auto& [id, more] : tables) model.count_table(id, more.lookups, more.matches);
  for (const auto& [id, more] : rules) model.count_rule(id, more, now);
  for (const auto& [id, more] : groups) model.count_group(id, more);
  for (const auto& [at, more] : buckets) model.count_bucket(at.first, at.second, more);
  for (const auto& [id, more] : meters) model.count_meter(id, more);
  for (const auto& [at, more] : bands) model.count_band(at.first, at.second, more);
}

std::string verdict::trace_text() const {
  std::string text;
  for (const trace_line& line : trace) {
    text += std::string(line.depth * std::size_t{2}, ' ') + line.text + "\n";
  }
  return text;
}

}  // namespace coua::pipeline
