// SPDX-License-Identifier: Apache-2.0
//
// What a kernel says where something is not in the pieces that it looks into. What it finds there:
// pipeline/datapath/lpm_table_model_test.cc.
#include <gtest/gtest.h>

#include <vector>

#include "simd/lpm_lookup/kernels.h"

namespace coua::simd {
namespace {

struct slot {
  std::uint32_t prefix, parent;
  std::uint64_t end;
};

constexpr slot slot_of(std::uint32_t prefix, unsigned length, std::uint64_t handle,
                       std::uint32_t parent = 0) {
  return {prefix, parent, std::uint64_t{length} << 56 | handle};
}

/// 10.0.0.0/8 with 10.1.0.0/16 below it, and 10.1.1.0/24 and 10.1.2.0/24, which part in group 1.
class lpm_lookup : public testing::Test {
 protected:
  void SetUp() override {
    if (kernel_ == nullptr) GTEST_SKIP() << "no kernel for this machine";
    root_[10] = 1U << 31 | 1U << 27 | 1;
    groups_.assign(3 * 256, 1);
    groups_[256 + 1] = 1U << 31 | 2U << 27 | 2;
    for (unsigned i = 0; i < 256; ++i) groups_[512 + i] = 2;
    groups_[512 + 1] = 3;
    groups_[512 + 2] = 4;
    slots_ = {slot_of(0, 0, 0),
              slot_of(0x0a00'0000, 8, 100),
              slot_of(0x0a01'0000, 16, 200, 1),
              slot_of(0x0a01'0100, 24, 300, 2),
              slot_of(0x0a01'0200, 24, 400, 2),
              slot_of(0, 0, 500)};
  }

  lpm_view view() const {
    return {root_.data(), 8, groups_.data(), 3, slots_.data(), 6, &for_all_};
  }
  /// The handle, wherever in a batch the address stands; "not in the pieces" is 999.
  std::uint64_t look_up(const lpm_view& table, std::uint32_t address) const {
    std::vector<std::uint64_t> found;
    for (const std::size_t at : {0U, 15U, 42U, 63U}) {
      std::uint32_t addresses[lpm_batch_max] = {}, slots[lpm_batch_max];
      std::uint64_t handles[lpm_batch_max];
      addresses[at] = address;
      if (!kernel_(table, addresses, lpm_batch_max, slots, handles)) {
        found.push_back(999);
        continue;
      }
      EXPECT_EQ(handles[at], slots_[slots[at]].end & ~(std::uint64_t{0xff} << 56));
      found.push_back(handles[at]);
    }
    EXPECT_EQ(found, std::vector<std::uint64_t>(found.size(), found[0]));
    return found[0];
  }

  const lpm_kernel kernel_ = select_lpm(best_isa()).ipv4;
  std::vector<std::uint32_t> root_ = std::vector<std::uint32_t>(256), groups_;
  std::vector<slot> slots_;
  std::uint32_t for_all_ = 0;
};

TEST_F(lpm_lookup, finds_the_longest_prefix) {
  EXPECT_EQ(look_up(view(), 0x0a01'0105), 300u);
  EXPECT_EQ(look_up(view(), 0x0a01'0205), 400u);
  EXPECT_EQ(look_up(view(), 0x0a01'0305), 200u);
  EXPECT_EQ(look_up(view(), 0x0a02'0105), 100u);
  EXPECT_EQ(look_up(view(), 0x0b02'0105), 0u);
  for_all_ = 5;
  EXPECT_EQ(look_up(view(), 0x0a02'0105), 100u);
  EXPECT_EQ(look_up(view(), 0x0b02'0105), 500u);
}

/// An entry below which another prefix lies: up the chain, more than once.
TEST_F(lpm_lookup, climbs_to_a_shorter_prefix) {
  groups_[512 + 9] = 3;
  groups_[256 + 7] = 3;
  EXPECT_EQ(look_up(view(), 0x0a01'0905), 200u);
  EXPECT_EQ(look_up(view(), 0x0a07'0105), 100u);
  root_[77] = 3;
  EXPECT_EQ(look_up(view(), 0x4d01'0105), 0u);
}

/// Lanes that are no addresses lead nowhere: not to what stands where an address of 0 goes.
TEST_F(lpm_lookup, looks_at_no_more_addresses_than_there_are) {
  root_[0] = 1U << 31 | 1U << 27 | 77;
  for (const std::size_t n : {0U, 1U, 15U, 17U, 63U}) {
    const std::vector<std::uint32_t> addresses(n, 0x0a01'0105);
    std::uint32_t slots[lpm_batch_max];
    std::uint64_t handles[lpm_batch_max];
    ASSERT_TRUE(kernel_(view(), addresses.data(), n, slots, handles)) << n;
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(handles[i], 300u);
  }
}

TEST_F(lpm_lookup, says_what_is_not_in_the_pieces) {
  lpm_view table = view();
  table.n_groups = 2;
  EXPECT_EQ(look_up(table, 0x0a01'0105), 999u);
  EXPECT_EQ(look_up(table, 0x0a02'0105), 100u);
  table = view();
  table.n_slots = 4;
  EXPECT_EQ(look_up(table, 0x0a01'0205), 999u);
  EXPECT_EQ(look_up(table, 0x0a01'0105), 300u);
  // A parent, and the prefix of length 0.
  slots_[1].parent = 5;
  EXPECT_EQ(look_up(table, 0x0a02'0105), 100u);
  root_[11] = 1;
  EXPECT_EQ(look_up(table, 0x0b02'0105), 999u);
  root_[11] = 0;
  EXPECT_EQ(look_up(table, 0x0b02'0105), 0u);
  for_all_ = 5;
  EXPECT_EQ(look_up(table, 0x0b02'0105), 999u);
}

}  // namespace
}  // namespace coua::simd
