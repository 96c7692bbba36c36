// SPDX-License-Identifier: Apache-2.0
//
// How full a table gets, with keys that real networks and people of ill will bring. Printed: the
// load at the first refusal, and the share of entries in their secondary bucket at 0.90 and 0.95.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <tuple>

#include "fib_handles.h"

namespace coua::test {
namespace {

struct key_pattern {
  const char* name;
  std::uint64_t (*key)(std::uint64_t i);
};

constexpr std::uint64_t vlan(std::uint64_t id) { return id << 48; }
constexpr std::uint64_t vendor = 0x001b21000000;  // a vendor's first three bytes

/// `i` spread over the bytes of a MAC from the most significant down: byte 0 changes fastest.
constexpr std::uint64_t reversed_bytes(std::uint64_t i) { return __builtin_bswap64(i) >> 16; }

const key_pattern patterns[] = {
    {"random", [](std::uint64_t i) { return random_key(i); }},
    {"sequential_macs", [](std::uint64_t i) { return vlan(1) | (vendor + i); }},
    // One byte of the MAC counts 0 to 255, the VLAN makes up the number: for each of the six bytes.
    {"one_byte_0",
     [](std::uint64_t i) {
       return vlan(i >> 8) | (vendor & ~(std::uint64_t{0xff} << 40)) | (i & 255) << 40;
     }},
    {"one_byte_1",
     [](std::uint64_t i) {
       return vlan(i >> 8) | (vendor & ~(std::uint64_t{0xff} << 32)) | (i & 255) << 32;
     }},
    {"one_byte_2",
     [](std::uint64_t i) {
       return vlan(i >> 8) | (vendor & ~(std::uint64_t{0xff} << 24)) | (i & 255) << 24;
     }},
    {"one_byte_3", [](std::uint64_t i) { return vlan(i >> 8) | vendor | (i & 255) << 16; }},
    {"one_byte_4", [](std::uint64_t i) { return vlan(i >> 8) | vendor | (i & 255) << 8; }},
    {"one_byte_5", [](std::uint64_t i) { return vlan(i >> 8) | vendor | (i & 255); }},
    {"each_mac_in_every_vlan",
     [](std::uint64_t i) { return vlan(i & 4095) | (vendor + (i >> 12)); }},
    {"high_bytes_first", [](std::uint64_t i) { return vlan(7) | reversed_bytes(i); }},
    {"stride_2_8", [](std::uint64_t i) { return i << 8; }},
    {"stride_2_16", [](std::uint64_t i) { return i << 16; }},
    {"stride_2_24", [](std::uint64_t i) { return i << 24; }},
    {"stride_2_32", [](std::uint64_t i) { return i << 32; }},
    {"stride_2_40", [](std::uint64_t i) { return i << 40; }},
    {"stride_2_44", [](std::uint64_t i) { return i << 44; }},
    {"stride_odd", [](std::uint64_t i) { return i * 0x0001000100010001 & key_mask; }},
};

// About 33,000 slots of each layout: the largest count for which every stride above stays in range.
void PrintTo(const key_pattern& pattern, std::ostream* out) { *out << pattern.name; }

const table_shape shapes[] = {{"packed8", COUA_FIB_LAYOUT_PACKED8, 4099, 10},
                              {"packed8_power_of_two", COUA_FIB_LAYOUT_PACKED8, 4096, 10},
                              {"packed4", COUA_FIB_LAYOUT_PACKED4, 8198, 10},
                              {"wide8", COUA_FIB_LAYOUT_WIDE8, 4099, 16}};

class fib_load : public testing::TestWithParam<std::tuple<table_shape, key_pattern>> {};

TEST_P(fib_load, is_reached_with_any_pattern_of_keys) {
  const auto& [shape, pattern] = GetParam();
  bool eight = shape.layout != COUA_FIB_LAYOUT_PACKED4;
  fib_ptr fib = make_fib(shape);
  std::uint64_t slots = stats_of(fib.get()).slots;
  double at_90 = 0, at_95 = 0;
  std::uint64_t n = 0;
  for (; n < slots; n++) {
    coua_fib_record r = record_of(pattern.key(n), n % 1024);
    int rc = coua_fib_insert(fib.get(), &r);
    if (rc == COUA_FIB_FULL) break;
    ASSERT_EQ(rc, COUA_FIB_ADDED) << "the pattern repeats a key";
    coua_fib_stats s = stats_of(fib.get());
    double share = double(s.in_secondary) / double(s.entries);
    if (n + 1 == slots * 90 / 100) at_90 = share;
    if (n + 1 == slots * 95 / 100) at_95 = share;
  }
  double reached = double(n) / double(slots);
  std::printf(
      "%-22s %-24s first refusal at load %.4f; in secondary: %.1f %% at 0.90, %.1f %% at 0.95\n",
      shape.name, pattern.name, reached, at_90 * 100, at_95 * 100);
  EXPECT_GE(reached, eight ? 0.985 : 0.95);
  if (!eight) return;
  EXPECT_GT(at_90, 0.11);
  EXPECT_LT(at_90, 0.15);
  EXPECT_GT(at_95, 0.14);
  EXPECT_LT(at_95, 0.19);
}

INSTANTIATE_TEST_SUITE_P(patterns, fib_load,
                         testing::Combine(testing::ValuesIn(shapes), testing::ValuesIn(patterns)),
                         [](const auto& c) {
                           return std::string(std::get<0>(c.param).name) + "_" +
                                  std::get<1>(c.param).name;
                         });

class fib_churn : public testing::TestWithParam<table_shape> {};
INSTANTIATE_TEST_SUITE_P(layouts, fib_churn, testing::ValuesIn(shapes),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(fib_churn, at_load_0_95_refuses_nothing_and_does_not_drift) {
  fib_ptr fib = make_fib(GetParam());
  std::uint64_t live = stats_of(fib.get()).slots * 95 / 100;
  for (std::uint64_t i = 0; i < 10 * live; i++) {
    coua_fib_record r = record_of(random_key(i), 1);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED) << "after " << i << " inserts";
    if (i < live) continue;
    ASSERT_EQ(coua_fib_erase(fib.get(), random_key(i - live)), 0);
  }
  coua_fib_stats s = stats_of(fib.get());
  double share = double(s.in_secondary) / double(s.entries);
  std::printf(
      "%-22s after ten tables of churn at 0.95: %.1f %% in secondary, %.3f moves per insert\n",
      GetParam().name, share * 100, double(s.moves) / double(s.added));
  ASSERT_EQ(coua_fib_sweep(fib.get(), UINT64_MAX, nullptr, nullptr), 1);
  coua_fib_stats swept = stats_of(fib.get());
  double after = double(swept.in_secondary) / double(swept.entries);
  std::printf("%-22s a sweep sends %lu home: %.1f %% in secondary\n", GetParam().name,
              static_cast<unsigned long>(swept.sent_home), after * 100);
  EXPECT_EQ(swept.in_secondary + swept.sent_home, s.in_secondary);
  EXPECT_EQ(swept.entries, live);
  if (GetParam().layout == COUA_FIB_LAYOUT_PACKED4) return;
  EXPECT_LT(share, 0.30);
  EXPECT_LT(after, share - 0.02);
}

TEST_P(fib_churn, with_a_sweep_per_tenth_of_the_table_keeps_entries_at_home) {
  fib_ptr fib = make_fib(GetParam());
  std::uint64_t live = stats_of(fib.get()).slots * 95 / 100;
  for (std::uint64_t i = 0; i < 6 * live; i++) {
    coua_fib_record r = record_of(random_key(i), 1, true);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED) << "after " << i << " inserts";
    if (i < live) continue;
    ASSERT_EQ(coua_fib_erase(fib.get(), random_key(i - live)), 0);
    if (i % (live / 10) != 0) continue;
    ASSERT_EQ(coua_fib_sweep(fib.get(), UINT64_MAX, nullptr, nullptr), 1);
    ASSERT_EQ(coua_fib_next_epoch(fib.get()), 0);
  }
  coua_fib_stats s = stats_of(fib.get());
  double share = double(s.in_secondary) / double(s.entries);
  std::printf("%-22s after churn at 0.95 with sweeps: %.1f %% in secondary\n", GetParam().name,
              share * 100);
  EXPECT_EQ(s.entries, live);
  if (GetParam().layout == COUA_FIB_LAYOUT_PACKED4) return;
  EXPECT_LT(share, 0.25);
}

TEST_P(fib_churn, a_refusal_costs_bounded_work_and_changes_nothing) {
  fib_ptr fib = make_fib(GetParam());
  reader_ptr reader = make_reader(fib.get());
  std::uint64_t slots = stats_of(fib.get()).slots, refused = 0;
  std::vector<std::uint64_t> in;
  for (std::uint64_t i = 0; refused < 50 && i < 2 * slots; i++) {
    coua_fib_record r = record_of(random_key(i), i % 1024);
    coua_fib_stats before = stats_of(fib.get());
    int rc = coua_fib_insert(fib.get(), &r);
    if (rc == COUA_FIB_ADDED) {
      in.push_back(i);
      continue;
    }
    ASSERT_EQ(rc, COUA_FIB_FULL);
    refused++;
    coua_fib_stats after = stats_of(fib.get());
    ASSERT_EQ(after.moves, before.moves);
    ASSERT_EQ(after.entries, before.entries);
    ASSERT_EQ(after.in_secondary, before.in_secondary);
    ASSERT_EQ(after.refused, refused);
    ASSERT_EQ(coua_fib_lookup(reader.get(), r.key), COUA_FIB_MISS);
  }
  EXPECT_EQ(refused, 50u);
  for (std::uint64_t i : in)
    ASSERT_EQ(value_of(coua_fib_lookup(reader.get(), random_key(i))), i % 1024);
}

}  // namespace
}  // namespace coua::test
