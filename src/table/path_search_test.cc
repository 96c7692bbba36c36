// SPDX-License-Identifier: Apache-2.0
#include "table/path_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace coua {
namespace {

/// Buckets without end, all full but `free_bucket`, that count who looks at them. The entries of a
/// bucket lead to buckets that no other entry leads to, in levels below the roots 0 and 1.
template <unsigned Slots, unsigned Others = Slots>
struct counting_table {
  static constexpr unsigned n_slots = Slots, n_others = Others;

  std::uint64_t free_bucket = UINT64_MAX;
  std::size_t n_looked_at = 0, n_fetched = 0;
  std::set<std::uint64_t> fetched;
  std::unordered_map<std::uint64_t, unsigned> depths{{0, 0}, {1, 0}};
  unsigned deepest = 0;

  int free_slot(std::uint64_t bucket) {
    ++n_looked_at;
    EXPECT_TRUE(fetched.contains(bucket)) << "waits for a bucket that was not fetched";
    deepest = std::max(deepest, depths.at(bucket));
    return bucket == free_bucket ? 3 : -1;
  }
  void other_buckets(std::uint64_t bucket, std::uint64_t* others) {
    for (unsigned i = 0; i < Others; ++i) {
      others[i] = child(bucket, i);
      depths[others[i]] = depths.at(bucket) + 1;
    }
  }
  void fetch_bucket(std::uint64_t bucket) {
    ++n_fetched;
    fetched.insert(bucket);
  }
  static std::uint64_t child(std::uint64_t bucket, unsigned i) { return 2 + bucket * Others + i; }
};

constexpr std::uint64_t roots[] = {0, 1};
using full_path = slot_position[path_search::max_moves + 1];

TEST(path_search, looks_at_its_budget_of_buckets_in_a_full_table_and_at_no_more) {
  for (const std::size_t budget : {16u, 17u, 100u, 2048u, 5000u}) {
    path_search search(budget);
    EXPECT_EQ(search.budget(), budget);
    counting_table<8> table;
    full_path path;
    EXPECT_EQ(search.find(table, roots, path), 0u);
    // The roots are buckets of it, too: the caller has looked at them.
    EXPECT_EQ(table.n_looked_at, budget - std::size(roots));
    EXPECT_EQ(table.n_fetched, budget - std::size(roots));
    // The last search was as long, and leaves nothing behind that the next one looks at.
    table.n_looked_at = 0;
    EXPECT_EQ(search.find(table, roots, path), 0u);
    EXPECT_EQ(table.n_looked_at, budget - std::size(roots));
  }
}

TEST(path_search, counts_fewer_than_16_buckets_as_16) {
  for (const std::size_t budget : {0u, 1u, 15u}) {
    path_search search(budget);
    counting_table<8> table;
    full_path path;
    EXPECT_EQ(search.find(table, roots, path), 0u);
    EXPECT_EQ(table.n_looked_at, 16 - std::size(roots));
  }
}

TEST(path_search, counts_every_root_and_every_way_out_of_an_entry) {
  constexpr std::uint64_t eight[] = {0, 1, 2, 3, 4, 5, 6, 7};
  path_search search(64);
  counting_table<8, 56> table;
  for (const std::uint64_t root : eight) table.depths[root] = 0;
  full_path path;
  EXPECT_EQ(search.find(table, eight, path), 0u);
  EXPECT_EQ(table.n_looked_at, 64 - std::size(eight));
}

// With two slots, 2 + 4 + ... + 2 * 2^8 buckets are reached by eight moves: what is left of a large
// budget must not be spent on a ninth.
TEST(path_search, makes_eight_moves_at_most) {
  path_search search(1 << 20);
  counting_table<2> table;
  full_path path;
  EXPECT_EQ(search.find(table, roots, path), 0u);
  EXPECT_EQ(table.deepest, path_search::max_moves);
  EXPECT_EQ(table.n_looked_at, 2u * 2 * ((1u << path_search::max_moves) - 1));
}

/// The bucket at the end of `n` moves by the last slot of each bucket.
template <class Table>
std::uint64_t last_at(unsigned n) {
  std::uint64_t bucket = 1;
  for (unsigned i = 0; i < n; ++i) bucket = Table::child(bucket, Table::n_others - 1);
  return bucket;
}

TEST(path_search, finds_the_last_bucket_of_every_depth) {
  for (unsigned n = 1; n <= path_search::max_moves; ++n) {
    path_search search(1 << 20);
    counting_table<2> table;
    table.free_bucket = last_at<counting_table<2>>(n);
    full_path path;
    ASSERT_EQ(search.find(table, roots, path), n);
    EXPECT_EQ(path[n].bucket, table.free_bucket);
    EXPECT_EQ(path[n].slot, 3u);
    for (unsigned i = 0; i < n; ++i) {
      EXPECT_EQ(path[i].bucket, last_at<counting_table<2>>(i));
      EXPECT_EQ(path[i].slot, 1u);
    }
  }
  path_search search(1 << 20);
  counting_table<2> table;
  table.free_bucket = last_at<counting_table<2>>(path_search::max_moves + 1);
  full_path path;
  EXPECT_EQ(search.find(table, roots, path), 0u);
}

// The free bucket is the last one that the budget pays for, and then the first that it does not.
TEST(path_search, finds_what_its_budget_reaches) {
  constexpr std::size_t n_reached = 2 + 2 * 8;
  counting_table<8> table;
  table.free_bucket = last_at<counting_table<8>>(1);
  full_path path;
  EXPECT_EQ(path_search(n_reached).find(table, roots, path), 1u);
  EXPECT_EQ(path_search(n_reached - 1).find(table, roots, path), 0u);
}

TEST(path_search, passes_over_entries_that_have_no_other_bucket) {
  struct lonely_table : counting_table<8> {
    void other_buckets(std::uint64_t bucket, std::uint64_t* others) {
      std::fill_n(others, n_others, bucket);
    }
  } table;
  full_path path;
  EXPECT_EQ(path_search(2048).find(table, roots, path), 0u);
  EXPECT_EQ(table.n_looked_at, 0u);
}

}  // namespace
}  // namespace coua
