// SPDX-License-Identifier: Apache-2.0
//
// What a compiled pipeline costs a packet, before any has come (ESWITCH, SIGCOMM 2016,
// section 4.4). A pipeline is a few templates in a row, so its cost is a sum:
//
//   cycles of a packet  =  fixed atoms                      parse, look-ups, ops; once for each
//                       +  visits of each table x (atoms    that a packet meets
//                                                  + lines x cost of the level that they are in)
//
//            lower bound                        upper bound
//   atoms    as with packets that are alike     as with many flows in a random order, whose
//                                               branches nobody can predict, and with packets of a
//                                               burst that go different ways
//   lines    in the first-level cache           from the level that the working set falls in
//
// Both bounds are of full bursts. What a packet adds beside the pipeline, drivers and copies of its
// frame, is in neither.
//
// Working sets. A cache keeps what is touched most often for its size. So the lines of an area come
// from the first level that holds this area and all others of which a line is touched as often or
// more often: the rows of a table of ten rules stay in the first-level cache beside a gigabyte of
// entries, and of two tables the one that is a thousand times as large does not drive the other one
// out.
//
// Misses overlap. A batch asks for the lines of 32 packets before it needs the first one, so what a
// line adds is not its latency: the calibration reads lines in such batches (line_probe.h).
//
// Margin. Two stages in a row take less than both of them alone, since a processor begins the one
// before it has ended the other; and no calibration of some milliseconds is exact. Therefore both
// bounds are moved apart by a fifth (`margin`).
#pragma once

#include "pipeline/estimate/outline.h"

namespace coua::pipeline {

struct stage_estimate {
  table_id table = 0;
  double visits = 0;   // of a packet
  cycle_range cycles;  // of a packet that comes there
};

struct pipeline_estimate {
  cycle_range cycles;                  // of a packet, all in all
  std::vector<stage_estimate> stages;  // as in the outline
  std::uint64_t bytes = 0;             // that the packets of all flows touch
};

/// What workers keep in the first-level cache whatever the tables are: the state of a burst of
/// packets, and their headers.
inline constexpr std::uint64_t burst_bytes = 20 << 10;

inline constexpr double margin = 0.2;

pipeline_estimate estimate(const pipeline_outline& what, const calibration& on);

/// Of a random line in a working set: what it costs more than in the first-level cache.
double line_cycles(const calibration& on, std::uint64_t working_set);

}  // namespace coua::pipeline
