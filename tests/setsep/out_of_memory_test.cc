// SPDX-License-Identifier: Apache-2.0
//
// Memory ends at each place of a load, one after the other. A program of its own: operator new is
// replaced.
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "base/test_little_memory.h"
#include "coua/setsep.h"

namespace coua::test {
namespace {

// Red when a load says that there is no memory, and has changed the map all the same.
TEST(setsep_out_of_memory, a_load_that_fails_changes_nothing) {
  coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
  params.key_bytes = 8;
  const std::vector<std::uint64_t> keys = {1, 2, 3};
  const std::vector<std::uint16_t> values = {1, 0, 1};
  coua_setsep_builder* from;
  ASSERT_EQ(coua_setsep_builder_create(&params, keys.data(), values.data(), keys.size(), &from,
                                       nullptr, 0),
            0);
  std::vector<std::uint8_t> snapshot(coua_setsep_snapshot_bytes(from));
  ASSERT_EQ(coua_setsep_snapshot(from, snapshot.data(), snapshot.size()), 0);
  unsigned n_allowed = 0;
  for (int answer = -ENOMEM; answer != 0; ++n_allowed) {
    // A new one each time: what a load that failed has reserved stays.
    const coua_setsep_replica_params how = COUA_SETSEP_REPLICA_PARAMS_INIT;
    coua_setsep_replica* to;
    ASSERT_EQ(coua_setsep_replica_create(&how, &to), 0);
    n_allocations_left = n_allowed;
    answer = coua_setsep_replica_load(to, snapshot.data(), snapshot.size(), nullptr, 0);
    n_allocations_left = unlimited_memory;
    ASSERT_TRUE(answer == 0 || answer == -ENOMEM) << answer;
    coua_setsep_stats stats{};
    stats.size = sizeof stats;
    ASSERT_EQ(coua_setsep_replica_get_stats(to, &stats), 0);
    ASSERT_EQ(stats.blocks != 0, answer == 0) << "with memory for " << n_allowed << " allocations";
    coua_setsep_replica_destroy(to);
  }
  EXPECT_GT(n_allowed, 3U);
  coua_setsep_builder_destroy(from);
}

}  // namespace
}  // namespace coua::test
