// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include <gtest/gtest.h>

namespace coua {
namespace {

TEST(clock, cycles_and_nanoseconds_agree) {
  const double hz = cycles_hz();
  EXPECT_EQ(hz, cycles_hz());
  const std::uint64_t start_ns = now_ns(), start = cycles();
  while (now_ns() - start_ns < 50'000'000) {
  }
  const std::uint64_t ns = now_ns() - start_ns, ticks = cycles() - start;
  // The two readings are not taken at one moment: a machine that is busy may pause in between.
  EXPECT_NEAR(static_cast<double>(ticks) / hz, static_cast<double>(ns) * 1e-9, 0.01);
}

}  // namespace
}  // namespace coua
