// SPDX-License-Identifier: Apache-2.0
//
// The sweep goes on by shares of other calls: each kind of them alone brings it round, and none
// takes more than its share.
#include <algorithm>
#include <cerrno>

#include "flow_handles.h"

namespace coua::test {
namespace {

constexpr std::uint64_t n_buckets = 1'000;
constexpr std::uint64_t n_slots = 8 * n_buckets;
constexpr std::uint64_t longest = COUA_FLOW_UNITS_MAX;

/// It counts in `n_told` what has expired.
flow_ptr make_timed(std::uint64_t& n_told) {
  coua_flow_params params = flow_params(0);
  params.buckets = n_buckets;
  params.timers = COUA_FLOW_TIMERS_ON;
  params.unit_ms = 1;
  params.expired = [](void* context, const void*, const void*) {
    ++*static_cast<std::uint64_t*>(context);
  };
  params.expired_context = &n_told;
  return make_flow(params);
}

struct share_case {
  const char* name;
  int (*call)(const flow_ptr& table, std::uint64_t k);  // the k-th
  int answer;
};
void PrintTo(const share_case& c, std::ostream* out) { *out << c.name; }

int erase_absent(const flow_ptr& table, std::uint64_t k) { return erase(table, n_slots + k); }
int add_present(const flow_ptr& table, std::uint64_t) {
  const key16 key = key_number(0), value = value_number(0);
  return coua_flow_add(table.get(), &key, &value, longest);
}
int set_time(const flow_ptr& table, std::uint64_t k) {
  return coua_flow_set_time(table.get(), 1 + k);
}

const share_case share_cases[] = {
    {"erase", erase_absent, -ENOENT},
    {"add", add_present, COUA_FLOW_PRESENT},
    {"set_time", set_time, 0},
};

class flow_sweep_share : public testing::TestWithParam<share_case> {};
INSTANTIATE_TEST_SUITE_P(calls, flow_sweep_share, testing::ValuesIn(share_cases),
                         [](const auto& c) { return c.param.name; });

// One key lives, all others expire at once. A call tells of a bucket's entries, and one of them of
// those in the bucket that the living key is sent home to.
TEST_P(flow_sweep_share, one_bucket_a_call_until_all_that_expired_is_told) {
  std::uint64_t n_told = 0;
  const flow_ptr table = make_timed(n_told);
  ASSERT_EQ(insert(table, 0, longest), COUA_FLOW_ADDED);
  const std::uint64_t n_mortal = n_slots * 95 / 100;
  for (std::uint64_t i = 1; i <= n_mortal; ++i) ASSERT_EQ(insert(table, i, 1), COUA_FLOW_ADDED);
  ASSERT_EQ(coua_flow_set_time(table.get(), 1), 0);
  ASSERT_LE(n_told, 16u);
  const std::uint64_t n_before = n_told;
  for (std::uint64_t k = 1; k <= n_buckets; ++k) {
    ASSERT_EQ(GetParam().call(table, k), GetParam().answer);
    ASSERT_LE(n_told - n_before, 8 * (k + 1)) << "after " << k << " calls";
  }
  EXPECT_EQ(n_told, n_mortal);
  EXPECT_EQ(stats_of(table).entries, 1u);
}

// Half of the table expires, and guests are sent home to buckets full of it.
TEST(flow_sweep, a_call_tells_of_no_more_than_64_entries) {
  std::uint64_t n_told = 0;
  const flow_ptr table = make_timed(n_told);
  // Nearly all guests are among those that come late, and these live on.
  const std::uint64_t n_entries = n_slots * 95 / 100;
  for (std::uint64_t i = 0; i < n_entries; ++i) {
    ASSERT_EQ(insert(table, i, i < n_slots / 2 ? 1 : longest), COUA_FLOW_ADDED);
  }
  ASSERT_GT(stats_of(table).in_secondary, n_entries / 10);
  ASSERT_EQ(coua_flow_set_time(table.get(), 1), 0);
  std::uint64_t most = 0;
  for (std::uint64_t k = 1; k <= n_buckets; ++k) {
    const std::uint64_t n_before = n_told;
    ASSERT_EQ(erase_absent(table, k), -ENOENT);
    most = std::max(most, n_told - n_before);
  }
  EXPECT_LE(most, 64u);
  EXPECT_GT(most, 8u);
  EXPECT_EQ(n_told, n_slots / 2);
}

}  // namespace
}  // namespace coua::test
