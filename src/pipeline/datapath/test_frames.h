// SPDX-License-Identifier: Apache-2.0
//
// Frames of every kind that the parsers know, for tests that compare the datapath with the oracle.
#pragma once

#include <random>
#include <vector>

#include "pipeline/oracle/test_packet.h"

namespace coua::pipeline::test {

/// With all that the pipeline keeps of a packet set to something.
packet with_state(const bytes& frame);

const std::vector<bytes>& frames();

/// One of them with some bytes changed, and perhaps cut.
bytes damaged_frame(const std::vector<bytes>& all, std::mt19937_64& random);

}  // namespace coua::pipeline::test
