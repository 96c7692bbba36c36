// SPDX-License-Identifier: Apache-2.0
//
// The line limit: how many random 64-byte lines per second a thread can read from a block of
// memory, when nothing else is done with them. It is the ceiling of every table that needs one
// line per look-up.
//
//   grouped   prefetch G lines, then read those G, then the next group: what a synchronous batch
//             call can reach at best
//   rolling   before reading line i prefetch line i + D: a pipeline that never drains
//
// The limit is the best of both over all distances, with prefetches into the first-level cache
// (T0). T1 prefetches go to the second level: they are not capped by the line fill buffers of the
// first, and are reported for comparison only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/harness/contestant.h"

namespace coua::bench {

enum class hint { t0, t1 };
enum class scheme { grouped, rolling };
const char* to_string(hint);
const char* to_string(scheme);

struct reading {
  hint where = hint::t0;
  scheme how = scheme::rolling;
  unsigned distance = 32;  // 1 to 1,024
};

/// Reads the lines whose byte offsets a sequence holds (sequence::fill_lines).
class line_reader final : public contestant {
 public:
  line_reader(const void* memory, reading how) : memory_(memory), how_(how) {}
  std::uint64_t ask(unsigned thread, const std::uint64_t* words, std::size_t n) override;
  const reading& how() const { return how_; }

 private:
  const void* memory_;
  reading how_;
};

/// Tries every scheme and distance with short windows and returns the best few, best first. The
/// sequences must hold lines of this memory.
std::vector<reading> best_readings(crew&, unsigned threads, const void* memory,
                                   const std::vector<sequence>& lines, hint where,
                                   double seconds_each, std::size_t how_many);

}  // namespace coua::bench
