// SPDX-License-Identifier: Apache-2.0
//
// Times of 16 bits that come round in a table so large that one set_time sweeps a small part of it.
// Here the sweep falls behind little by little, its rounds take longer and shorter, and entries
// come all the while: what must keep a bucket's looks less than 64,512 units apart is the scan of
// the whole table in time.
#include <algorithm>
#include <random>

#include "flow_handles.h"

namespace coua::test {
namespace {

struct cycles_case {
  const char* name;
  enum coua_flow_variant variant;
  enum coua_flow_sync sync;
  std::uint64_t ring;
};
void PrintTo(const cycles_case& c, std::ostream* out) { *out << c.name; }

const cycles_case cycles_cases[] = {
    {"bloom", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, 0},
    {"horton_writer", COUA_FLOW_HORTON, COUA_FLOW_ONE_WRITER, 0},
    {"ring", COUA_FLOW_BLOOM, COUA_FLOW_SINGLE, 1 << 16},
};

class flow_cycles : public testing::TestWithParam<cycles_case> {};
INSTANTIATE_TEST_SUITE_P(kinds, flow_cycles, testing::ValuesIn(cycles_cases),
                         [](const auto& c) { return c.param.name; });

/// How many of the keys, which count up from `from`, are found.
std::uint64_t found(coua_flow_reader* reader, std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> keys(to - from);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = from + i;
  return coua_flow_lookup_batch(reader, keys.data(), keys.size(), nullptr, nullptr);
}

// A round takes 11,000 units in steps of 300, and 73,000 in steps of 2,000, if nothing steps in.
TEST_P(flow_cycles, a_sweep_that_falls_behind_revives_and_loses_nothing) {
  coua_flow_params params = flow_params(0);
  params.buckets = 600'000;
  params.key_bytes = 8;
  params.value_bytes = 0;
  params.variant = GetParam().variant;
  params.sync = GetParam().sync;
  params.timers = 1;
  params.unit_ms = 1;
  params.expired_ring = GetParam().ring;
  const flow_ptr table = make_flow(params);
  coua_flow_reader* reader = reader_of(table);
  // Entries of one step live equally long: they are next to each other, and end together.
  constexpr std::uint64_t n_of_step = 50;
  std::vector<std::uint64_t> ends;  // by step
  std::mt19937_64 random(1);
  std::uint64_t now = 0;
  std::vector<std::uint64_t> told(2 * n_of_step);
  while (now < 5 * 65'536) {
    // Short steps for the second half of one round and the first of the next, then long ones for
    // the other two halves: these meet in the middle of the table.
    const std::uint64_t step = (now + 5'500) % 84'000 < 11'000 ? 300 : 1'990 + random() % 11;
    now += step;
    ASSERT_EQ(coua_flow_set_time(table.get(), now), 0);
    while (GetParam().ring != 0 &&
           coua_flow_drain(table.get(), told.data(), nullptr, told.size()) > 0) {
      continue;
    }
    for (std::uint64_t s = 0; s < ends.size(); ++s) {
      const bool is_over = ends[s] <= now;
      // The times at which an entry that is over would be ahead again, and soon after its end.
      const std::uint64_t cycle = is_over ? (now - ends[s]) % 65'536 : 0;
      if (cycle > 3'000 && cycle < 64'000) continue;
      ASSERT_EQ(found(reader, s * n_of_step, (s + 1) * n_of_step), is_over ? 0 : n_of_step)
          << "at " << now << " of those that end at " << ends[s];
    }
    const auto life =
        static_cast<std::uint32_t>(random() % 2 == 0 ? 1 + random() % 8 : 1 + random() % 1024);
    for (std::uint64_t i = 0; i < n_of_step; ++i) {
      const std::uint64_t key = ends.size() * n_of_step + i;
      ASSERT_EQ(coua_flow_insert(table.get(), &key, nullptr, life), COUA_FLOW_ADDED);
    }
    ends.push_back(now + life);
  }
  const coua_flow_stats stats = stats_of(table);
  EXPECT_GT(stats.full_scans, 0u);
  EXPECT_EQ(stats.expired + stats.entries, ends.size() * n_of_step);
}

// Who tells the time often never has to look at the whole table.
TEST(flow_cycles_in_time, a_table_that_is_told_the_time_each_unit_is_never_scanned) {
  coua_flow_params params = flow_params(0);
  params.buckets = 20'000;
  params.key_bytes = 8;
  params.value_bytes = 0;
  params.timers = 1;
  params.unit_ms = 1;
  const flow_ptr table = make_flow(params);
  for (std::uint64_t now = 1; now < 70'000; ++now) {
    if (now % 16 == 0) {
      ASSERT_EQ(coua_flow_insert(table.get(), &now, nullptr, 1), COUA_FLOW_ADDED);
    }
    ASSERT_EQ(coua_flow_set_time(table.get(), now), 0);
  }
  EXPECT_EQ(stats_of(table).full_scans, 0u);
  EXPECT_GT(stats_of(table).expired, 60'000u / 16);
}

}  // namespace
}  // namespace coua::test
