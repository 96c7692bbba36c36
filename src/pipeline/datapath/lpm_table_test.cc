// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/lpm_table.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/sanitizer.h"

namespace coua::pipeline {
namespace {

constexpr ipv4_number ip(unsigned a, unsigned b, unsigned c, unsigned d) {
  return {a << 24 | b << 16 | c << 8 | d};
}

class lpm_table_test : public testing::Test {
 protected:
  ~lpm_table_test() override { reclaim_.retire(std::move(table_)); }

  void create(const lpm_params& params) { table_ = *ipv4_lpm::create(params, reclaim_); }
  lpm_slot look_up(ipv4_number address) const {
    const ipv4_lpm* const table = table_.get();
    lpm_slot slot = 0;
    ipv4_lpm::lookup(&table, &address, 1, &slot);
    return slot;
  }
  /// Handles of all prefixes that cover it, the longest first.
  std::vector<lpm_handle> all(ipv4_number address) const {
    std::vector<lpm_handle> handles;
    for (lpm_slot at = look_up(address); at != 0; at = table_->parent(at)) {
      handles.push_back(table_->handle(at));
    }
    return handles;
  }
  using list = std::vector<lpm_handle>;

  qsbr domain_;
  reclaimer reclaim_{domain_};
  std::unique_ptr<ipv4_lpm> table_ = *ipv4_lpm::create({}, reclaim_);
};

TEST_F(lpm_table_test, an_empty_table_has_nothing) {
  EXPECT_EQ(look_up(ip(10, 0, 0, 1)), 0u);
  EXPECT_EQ(table_->find(ip(0, 0, 0, 0), 0), 0u);
  EXPECT_FALSE(table_->erase(ip(0, 0, 0, 0), 0));
  EXPECT_FALSE(table_->erase(ip(10, 0, 0, 0), 8));
}

TEST_F(lpm_table_test, the_longest_prefix_counts_and_then_the_next) {
  EXPECT_TRUE(table_->insert(ip(0, 0, 0, 0), 0, 1));
  EXPECT_TRUE(table_->insert(ip(10, 1, 2, 0), 24, 24));
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), 8, 8));
  EXPECT_TRUE(table_->insert(ip(10, 1, 2, 3), 32, 32));
  EXPECT_TRUE(table_->insert(ip(10, 1, 128, 0), 17, 17));
  EXPECT_EQ(all(ip(10, 1, 2, 3)), (list{32, 24, 8, 1}));
  EXPECT_EQ(all(ip(10, 1, 2, 4)), (list{24, 8, 1}));
  EXPECT_EQ(all(ip(10, 1, 128, 4)), (list{17, 8, 1}));
  EXPECT_EQ(all(ip(10, 2, 2, 4)), (list{8, 1}));
  EXPECT_EQ(all(ip(11, 2, 2, 4)), (list{1}));
  EXPECT_TRUE(table_->erase(ip(10, 0, 0, 0), 8));
  EXPECT_EQ(all(ip(10, 1, 2, 3)), (list{32, 24, 1}));
  EXPECT_TRUE(table_->erase(ip(0, 0, 0, 0), 0));
  EXPECT_EQ(all(ip(10, 1, 2, 3)), (list{32, 24}));
  EXPECT_EQ(all(ip(11, 2, 2, 4)), list{});
}

TEST_F(lpm_table_test, handles_change_in_place) {
  const lpm_slot slot = *table_->insert(ip(10, 0, 0, 0), 8, 1);
  EXPECT_EQ(table_->find(ip(10, 0, 0, 0), 8), slot);
  table_->set_handle(slot, 2);
  EXPECT_EQ(all(ip(10, 0, 0, 1)), list{2});
  EXPECT_EQ(table_->prefix(slot), ip(10, 0, 0, 0));
  EXPECT_EQ(table_->length(slot), 8u);
}

TEST_F(lpm_table_test, handles_have_56_bits) {
  constexpr lpm_handle most = (lpm_handle{1} << lpm_handle_bits) - 1;
  for (const unsigned length : {0U, 8U, 32U}) {
    const ipv4_number prefix = length == 0 ? ip(0, 0, 0, 0) : ip(10, 0, 0, 0);
    const lpm_slot slot = *table_->insert(prefix, length, most);
    EXPECT_EQ(table_->handle(slot), most);
    EXPECT_EQ(table_->length(slot), length);
    for (const lpm_handle next : {lpm_handle{0}, most - 1}) {
      table_->set_handle(slot, next);
      EXPECT_EQ(table_->handle(slot), next);
      EXPECT_EQ(table_->length(slot), length);
      EXPECT_EQ(table_->find(prefix, length), slot);
    }
  }
  EXPECT_EQ(all(ip(10, 0, 0, 0)), list(3, most - 1));
}

TEST_F(lpm_table_test, what_cannot_be_a_prefix_is_refused) {
  EXPECT_EQ(table_->insert(ip(10, 0, 0, 0), 33, 1).error().code, errc::invalid);
  EXPECT_EQ(table_->insert(ip(10, 0, 0, 1), 31, 1).error().code, errc::invalid);
  EXPECT_EQ(table_->find(ip(10, 0, 0, 1), 31), 0u);
  EXPECT_FALSE(table_->erase(ip(10, 0, 0, 0), 33));
  EXPECT_EQ(ipv4_lpm::create({.root_bits = 12}, reclaim_).error().code, errc::invalid);
  EXPECT_EQ(ipv4_lpm::create({.prefixes_max = ~0U}, reclaim_).error().code, errc::invalid);
}

TEST_F(lpm_table_test, the_same_prefix_twice_is_refused) {
  for (const unsigned length : {0u, 7u, 16u, 25u}) {
    const ipv4_number prefix = ip(10, 2, 3, 0).first(length);
    EXPECT_TRUE(table_->insert(prefix, length, length));
    EXPECT_EQ(table_->insert(prefix, length, 99).error().code, errc::exists);
  }
  EXPECT_EQ(all(ip(10, 2, 3, 0)), (list{25, 16, 7, 0}));
}

/// What waits for readers counts: its slots cannot be used yet.
TEST_F(lpm_table_test, a_full_table_refuses_until_readers_have_left) {
  create({.root_bits = 8, .prefixes_max = 2});
  auto reader = *domain_.register_reader();
  reader.online();
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), 8, 1));
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), 16, 2));
  EXPECT_EQ(table_->insert(ip(11, 0, 0, 0), 8, 3).error().code, errc::no_room);
  EXPECT_TRUE(table_->erase(ip(10, 0, 0, 0), 8));
  reclaim_.reclaim();
  reclaim_.reclaim();
  EXPECT_EQ(table_->stats().unlinked, 1u);
  EXPECT_EQ(table_->insert(ip(11, 0, 0, 0), 8, 3).error().code, errc::no_room);
  reader.quiescent();
  reclaim_.reclaim();
  EXPECT_EQ(table_->stats().unlinked, 0u);
  EXPECT_TRUE(table_->insert(ip(11, 0, 0, 0), 8, 3));
  EXPECT_EQ(all(ip(11, 0, 0, 1)), list{3});
  EXPECT_EQ(all(ip(10, 0, 0, 1)), list{2});
  reader.offline();
}

TEST_F(lpm_table_test, groups_are_where_prefixes_part) {
  // One below the other: none.
  for (unsigned length = 9; length <= 32; ++length) {
    EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), length, length));
  }
  EXPECT_EQ(table_->stats().groups, 0u);
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 1), 32, 33));
  EXPECT_EQ(table_->stats().groups, 1u);
  EXPECT_TRUE(table_->insert(ip(10, 0, 128, 0), 24, 34));
  EXPECT_EQ(table_->stats().groups, 2u);
  EXPECT_EQ(all(ip(10, 0, 0, 1)).size(), 24u);  // all but the other /32
  EXPECT_EQ(all(ip(10, 0, 128, 1)).size(), 9u);
  EXPECT_TRUE(table_->erase(ip(10, 0, 0, 1), 32));
  EXPECT_EQ(table_->stats().groups, 1u);
  EXPECT_TRUE(table_->erase(ip(10, 0, 128, 0), 24));
  EXPECT_EQ(table_->stats().groups, 0u);
  EXPECT_EQ(all(ip(10, 0, 0, 0)).size(), 24u);
}

/// The places of slots and groups that are gone are used again.
TEST_F(lpm_table_test, churn_takes_no_more_memory) {
  const auto round = [&] {
    for (unsigned i = 0; i < 2000; ++i) {
      ASSERT_TRUE(table_->insert(ip(10, i / 16 % 256, i % 16, i % 7), 32, i));
    }
    for (unsigned i = 0; i < 2000; ++i) {
      ASSERT_TRUE(table_->erase(ip(10, i / 16 % 256, i % 16, i % 7), 32));
    }
    while (reclaim_.pending() > 0) reclaim_.reclaim();
  };
  round();
  const std::size_t bytes = table_->stats().bytes;
  for (int i = 0; i < 5; ++i) round();
  EXPECT_EQ(table_->stats().bytes, bytes);
  EXPECT_EQ(table_->stats().groups, 0u);
}

/// Batches of any size, of addresses that take no step, one and several, or that only the prefix of
/// length 0 covers.
TEST_F(lpm_table_test, a_batch_goes_through_one_table) {
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), 8, 1));
  EXPECT_TRUE(table_->insert(ip(10, 1, 0, 0), 17, 2));
  EXPECT_TRUE(table_->insert(ip(10, 1, 2, 128), 25, 3));
  EXPECT_TRUE(table_->insert(ip(10, 1, 2, 129), 32, 4));
  const auto expected = [](ipv4_number address, lpm_handle all) -> lpm_handle {
    if (address.first(8) != ip(10, 0, 0, 0)) return all;
    if (address.first(17) != ip(10, 1, 0, 0)) return 1;
    if (address.first(25) != ip(10, 1, 2, 128)) return 2;
    return address == ip(10, 1, 2, 129) ? 4 : 3;
  };
  for (const lpm_handle for_all : {0, 5}) {
    if (for_all != 0) {
      ASSERT_TRUE(table_->insert(ip(0, 0, 0, 0), 0, for_all));
    }
    for (std::size_t n = 0; n <= 140; ++n) {
      std::vector<ipv4_number> addresses;
      for (unsigned i = 0; i < n; ++i) {
        addresses.push_back(ip(10 + (i % 7 == 0), i % 2, i % 3, 127 + i % 5));
      }
      std::vector<lpm_slot> slots(n + 1, 12345);
      std::vector<lpm_handle> handles(n + 1, 12345);
      table_->lookup(addresses.data(), n, slots.data(), handles.data());
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(handles[i], expected(addresses[i], for_all)) << i << " of " << n;
        EXPECT_EQ(handles[i], slots[i] == 0 ? 0 : table_->handle(slots[i])) << i << " of " << n;
      }
      EXPECT_EQ(slots[n], 12345u);
      EXPECT_EQ(handles[n], 12345u);
    }
  }
}

/// Where there are kernels, and address space for what they look into: a sanitizer leaves none.
bool may_have_vectors() {
  return simd::select_lpm(active_isa()).ipv4 != nullptr && !COUA_HAS_SHADOW;
}

TEST_F(lpm_table_test, large_tables_have_vectors) {
  EXPECT_EQ(table_->stats().has_vectors, may_have_vectors());
  create({.root_bits = 8});
  EXPECT_FALSE(table_->stats().has_vectors);
}

/// More prefixes than lie in one piece: from then on addresses are looked up one by one.
TEST_F(lpm_table_test, has_more_than_four_million_prefixes) {
  constexpr unsigned n = (1U << 22) + 5000;
  const auto check = [&](unsigned from, unsigned size, lpm_handle for_all) {
    for (unsigned first = from; first < size + 64; first += 64) {
      ipv4_number addresses[64];
      lpm_slot slots[64];
      lpm_handle handles[64];
      for (unsigned i = 0; i < 64; ++i) addresses[i] = {first + i};
      table_->lookup(addresses, 64, slots, handles);
      for (unsigned i = 0; i < 64; ++i) {
        ASSERT_EQ(handles[i], first + i < size ? first + i + 1 : for_all);
        ASSERT_EQ(slots[i] == 0 ? 0 : table_->handle(slots[i]), handles[i]);
      }
    }
  };
  for (unsigned i = 0; i < n; ++i) {
    if (i == (1U << 22) - 5000) {
      EXPECT_EQ(table_->stats().has_vectors, may_have_vectors());
      check(i - 5000, i, 0);
    }
    ASSERT_TRUE(table_->insert({i}, 32, i + 1));
  }
  EXPECT_FALSE(table_->stats().has_vectors);
  check((1U << 22) - 5000, n, 0);
  ASSERT_TRUE(table_->insert({0}, 0, n + 1));
  check((1U << 22) - 5000, n, n + 1);
}

TEST_F(lpm_table_test, a_batch_of_ipv6_goes_through_one_table) {
  std::unique_ptr<ipv6_lpm> table = *ipv6_lpm::create({}, reclaim_);
  constexpr std::uint64_t site = 0x2001'0db8'0000'0000;
  EXPECT_TRUE(table->insert({site, 0}, 32, 1));
  EXPECT_TRUE(table->insert({site, 0}, 64, 2));
  EXPECT_TRUE(table->insert({site, 5}, 128, 3));
  EXPECT_TRUE(table->insert({site, std::uint64_t{1} << 63}, 65, 4));
  const auto expected = [](ipv6_number address) -> lpm_handle {
    if (address.high >> 32 != site >> 32) return 0;
    if (address.high != site) return 1;
    return address.low == 5 ? 3 : address.low >> 63 != 0 ? 4 : 2;
  };
  for (std::size_t n = 0; n <= 140; ++n) {
    std::vector<ipv6_number> addresses;
    for (std::uint64_t i = 0; i < n; ++i) {
      addresses.push_back(
          {site + (i % 7 == 0) + (std::uint64_t{i % 5 == 0} << 40), i % 3 == 0 ? 5 : i << 60 | 1});
    }
    std::vector<lpm_slot> slots(n + 1, 12345);
    std::vector<lpm_handle> handles(n + 1, 12345);
    table->lookup(addresses.data(), n, slots.data(), handles.data());
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(handles[i], expected(addresses[i])) << i << " of " << n;
      EXPECT_EQ(handles[i], slots[i] == 0 ? 0 : table->handle(slots[i])) << i << " of " << n;
    }
    EXPECT_EQ(slots[n], 12345u);
    EXPECT_EQ(handles[n], 12345u);
  }
  reclaim_.retire(std::move(table));
}

/// Batches of any size, packets of several tables in one.
TEST_F(lpm_table_test, a_batch_goes_through_several_tables) {
  std::unique_ptr<ipv4_lpm> small = *ipv4_lpm::create({.root_bits = 8}, reclaim_);
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), 8, 1));
  EXPECT_TRUE(table_->insert(ip(10, 0, 0, 0), 31, 2));
  EXPECT_TRUE(small->insert(ip(10, 0, 0, 0), 25, 3));
  EXPECT_TRUE(small->insert(ip(10, 0, 0, 128), 25, 4));
  EXPECT_TRUE(small->insert(ip(0, 0, 0, 0), 0, 5));
  for (std::size_t n = 0; n <= 100; ++n) {
    std::vector<const ipv4_lpm*> tables;
    std::vector<ipv4_number> addresses;
    for (std::size_t i = 0; i < n; ++i) {
      tables.push_back(i % 3 == 0 ? small.get() : table_.get());
      addresses.push_back(ip(10, i % 5 == 0, 0, (i * 37) % 256));
    }
    std::vector<lpm_slot> slots(n + 1, 12345);
    ipv4_lpm::lookup(tables.data(), addresses.data(), n, slots.data());
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t last = addresses[i].bits & 0xff;
      const std::uint32_t want = i % 3 == 0 ? (i % 5 == 0   ? 5
                                               : last < 128 ? 3
                                                            : 4)
                                            : (i % 5 != 0 && last < 2 ? 2 : 1);
      EXPECT_EQ(tables[i]->handle(slots[i]), want) << i << " of " << n;
    }
    EXPECT_EQ(slots[n], 12345u);
  }
  reclaim_.retire(std::move(small));
}

}  // namespace
}  // namespace coua::pipeline
