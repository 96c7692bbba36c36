// SPDX-License-Identifier: Apache-2.0
//
// A compiled pipeline as the performance model sees it (estimate.h): which atoms a packet meets in
// which table, and which memory it touches there.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/estimate/calibration.h"
#include "pipeline/model/instructions.h"

namespace coua::pipeline {

/// How often something is met, at least and at most.
struct atom_use {
  atom which = atom::packet;
  double fewest = 1, most = 1;
};

/// Memory of one kind, each line of which is as likely to be touched as any other.
struct memory_area {
  std::uint64_t bytes = 0;
};
struct line_use {
  std::size_t area = 0;  // its place in pipeline_outline::areas
  double lines = 0;
};

/// What a packet meets at a table.
struct stage_outline {
  table_id table = 0;
  double visits = 0;  // of a packet; one that does not get there counts as 0
  std::vector<atom_use> atoms;
  std::vector<line_use> lines;
};

struct pipeline_outline {
  std::vector<atom_use> always;  // of each packet
  std::vector<memory_area> areas;
  std::vector<stage_outline> stages;
};

}  // namespace coua::pipeline
