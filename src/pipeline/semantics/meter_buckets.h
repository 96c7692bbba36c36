// SPDX-License-Identifier: Apache-2.0
//
// What a meter does to a packet: one definition for every interpreter of the model and for the
// datapath. It depends on the packets, their lengths and their times only.
//
// Each band has a bucket of tokens, full at first, that fills at the band's rate and holds a burst.
// A packet costs its bits, or 1 where the meter counts packets. A band whose bucket holds enough
// gives the tokens; one whose bucket does not is exceeded, and keeps them. Every band is asked for
// every packet. Of the exceeded bands the one with the highest rate takes the packet
// (OpenFlow 1.3.5, section 5.7.1); of equal ones, the first.
//
// Tokens are whole millionths of a bit, or billionths of a packet: then a rate fits a nanosecond
// without a rest, whatever the rate is, and nothing is rounded.
//
// A burst that the controller did not set is what the rate gives in a second, at least 128 kilobits
// (a jumbo frame) or one packet. A band whose burst is smaller than a packet never lets that packet
// pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/model/meter.h"

namespace coua::pipeline {

class meter_buckets {
 public:
  meter_buckets(const meter& of, time_ns now);

  /// The band that takes a packet of `n_bytes` (the frame as received, without its check sequence);
  /// nothing: it passes. A time before the last one counts as the last one.
  std::optional<std::size_t> charge(std::size_t n_bytes, time_ns now);

 private:
  struct token_bucket {
    std::uint64_t rate;  // tokens per ns
    std::uint64_t size;  // at most 2^32 * 10^9: below 2^62
    std::uint64_t level;
  };

  std::vector<token_bucket> bands_;
  meter_unit unit_;
  time_ns last_;
};

}  // namespace coua::pipeline
