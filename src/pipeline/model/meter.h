// SPDX-License-Identifier: Apache-2.0
//
// Meters (OpenFlow 1.3.5, section 5.7): limits on the rate of the packets that rules send through
// them. How a band counts is in semantics/meter_buckets.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/model/instructions.h"
#include "pipeline/model/of_error.h"
#include "pipeline/model/rule.h"

namespace coua::pipeline {

inline constexpr meter_id meter_max = 0xffff'0000;
inline constexpr meter_id meter_all = 0xffff'ffff;  // every meter, in a deletion
inline constexpr std::size_t bands_max = 16;

enum class meter_unit : std::uint8_t { kbps, pktps };
enum class band_type : std::uint8_t { drop = 1, dscp_remark = 2 };

struct meter_band {
  band_type type = band_type::drop;
  std::uint32_t rate = 0;        // kilobits or packets per second
  std::uint32_t burst_size = 0;  // kilobits or packets; counts only in meters with `has_burst`
  std::uint8_t prec_level = 0;   // dscp_remark: steps of drop precedence

  bool operator==(const meter_band&) const = default;
};

/// As it was set, and as it is reported.
struct meter {
  meter_id id = 0;
  meter_unit unit = meter_unit::kbps;
  bool has_burst = false;  // OFPMF_BURST
  bool has_stats = false;  // OFPMF_STATS; counted in any case
  std::vector<meter_band> bands{};

  bool operator==(const meter&) const = default;
};
using meter_ptr = std::shared_ptr<const meter>;

struct meter_state {
  traffic counted;             // that came to the meter
  std::vector<traffic> bands;  // that the band took
  time_ns added = 0;
  std::uint32_t n_rules = 0;
  std::uint64_t generation = 0;  // another one: the token buckets start full again

  bool operator==(const meter_state&) const = default;
};

/// Errors: meter_mod_*.
of_result<void> check_meter(const meter& one);

/// "meter=1,kbps,burst,bands=type:drop,rate:1000,burst_size:100"
std::string to_string(const meter& one);

}  // namespace coua::pipeline
