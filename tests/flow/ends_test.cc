// SPDX-License-Identifier: Apache-2.0
//
// The ends of what the C API of the flow table takes: the least, the most, nothing.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

#include "flow_handles.h"

namespace coua::test {
namespace {

TEST(flow_ends, statistics_of_no_size_are_refused_and_of_a_smaller_one_cut) {
  const flow_ptr table = make_flow(flow_params(100));
  insert(table, 1);
  coua_flow_stats stats;
  std::memset(&stats, 0x5a, sizeof stats);
  const coua_flow_stats untouched = stats;
  stats.size = 0;
  EXPECT_EQ(coua_flow_get_stats(table.get(), &stats), -EINVAL);
  EXPECT_EQ(stats.entries, untouched.entries);
  stats.size = offsetof(coua_flow_stats, slots);
  EXPECT_EQ(coua_flow_get_stats(table.get(), &stats), 0);
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_EQ(stats.size, offsetof(coua_flow_stats, slots));
  EXPECT_EQ(stats.slots, untouched.slots);
  EXPECT_EQ(coua_flow_get_stats(table.get(), nullptr), -EINVAL);
  EXPECT_EQ(coua_flow_get_stats(nullptr, &stats), -EINVAL);
}

TEST(flow_ends, a_numa_node_that_is_not_there_is_named) {
  coua_flow_params params = flow_params(100);
  for (const int node : {12345, -2}) {
    params.numa_node = node;
    coua_flow_table* table = nullptr;
    char message[200] = "";
    EXPECT_EQ(coua_flow_create(&params, &table, message, sizeof message), -ENOENT);
    EXPECT_EQ(table, nullptr);
    EXPECT_NE(std::string(message).find("NUMA node " + std::to_string(node)), std::string::npos)
        << message;
  }
}

struct scarce_memory {
  unsigned left = 0;  // blocks that it gives out before it gives none
  unsigned given = 0, returned = 0;

  static void* allocate(void* context, std::size_t bytes, std::size_t alignment) {
    auto& self = *static_cast<scarce_memory*>(context);
    if (self.left == 0) return nullptr;
    --self.left;
    ++self.given;
    void* const block =
        std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    std::memset(block, 0, bytes);
    return block;
  }
  static void release(void* context, void* memory, std::size_t) {
    ++static_cast<scarce_memory*>(context)->returned;
    std::free(memory);
  }
};

TEST(flow_ends, an_allocator_that_gives_nothing_is_no_memory_and_nothing_leaks) {
  for (unsigned blocks = 0;; ++blocks) {
    ASSERT_LT(blocks, 10u);
    scarce_memory memory = {blocks};
    coua_flow_params params = flow_params(1000);
    params.pages = COUA_FLOW_PAGES_AUTO;
    params.allocate = scarce_memory::allocate;
    params.release = scarce_memory::release;
    params.context = &memory;
    coua_flow_table* table = nullptr;
    char message[200] = "";
    const int code = coua_flow_create(&params, &table, message, sizeof message);
    if (code == 0) {
      EXPECT_EQ(blocks, 3u) << "lines, entries and filters";
      coua_flow_destroy(table);
      EXPECT_EQ(memory.returned, memory.given);
      break;
    }
    EXPECT_EQ(code, -ENOMEM);
    EXPECT_EQ(table, nullptr);
    EXPECT_STRNE(message, "");
    EXPECT_EQ(memory.given, blocks);
    EXPECT_EQ(memory.returned, memory.given);
  }
}

TEST(flow_ends, slabs_of_no_cells_of_too_many_and_of_too_wide_ones_are_refused) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 32) - 3;
  constexpr std::size_t widest = std::size_t{1} << 20;
  coua_flow_slab* slab = nullptr;
  EXPECT_EQ(coua_flow_slab_create(0, 8, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(most + 1, 1, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(UINT64_MAX, 1, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(1, 0, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(1, widest + 1, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(1, SIZE_MAX, &slab), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(1, 8, nullptr), -EINVAL);
  EXPECT_EQ(coua_flow_slab_create(most, widest, &slab), -EINVAL);  // 4 PiB
  EXPECT_EQ(slab, nullptr);
  ASSERT_EQ(coua_flow_slab_create(1, widest, &slab), 0);
  std::uint32_t index = 7;
  EXPECT_EQ(coua_flow_slab_take(slab, &index), 0);
  EXPECT_EQ(index, 0u);
  static_cast<char*>(coua_flow_slab_cell(slab, 0))[widest - 1] = 1;
  EXPECT_EQ(coua_flow_slab_take(slab, &index), -ENOSPC);
  coua_flow_slab_destroy(slab);
}

struct small_bucket {
  enum coua_flow_variant variant;
  enum coua_flow_sync sync;
  std::uint32_t slots;
};

/// Where chance could fill a bucket before its time.
constexpr std::uint8_t fixed_key[32] = {1, 2, 3};

class flow_small_buckets : public testing::TestWithParam<small_bucket> {};

TEST_P(flow_small_buckets, serve_every_variant) {
  coua_flow_params params = flow_params(0);
  params.variant = GetParam().variant;
  params.sync = GetParam().sync;
  params.timers = COUA_FLOW_TIMERS_ON;
  params.unit_ms = 1;
  params.bucket_slots = GetParam().slots;
  params.buckets = 4096 / GetParam().slots;
  params.hash_key = fixed_key;
  const flow_ptr table = make_flow(params);
  ASSERT_EQ(stats_of(table).slots, 4096u);
  coua_flow_reader* const reader = reader_of(table);
  // One slot and two choices hold no more than half; a first refusal may come much sooner.
  const std::uint64_t n = GetParam().slots == 1 ? 800 : 3000;
  std::vector<std::uint64_t> live(n);
  std::iota(live.begin(), live.end(), 0);
  for (const std::uint64_t i : live) ASSERT_EQ(insert(table, i, 1024), COUA_FLOW_ADDED) << i;
  std::uint64_t next = n;
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t& each : live) {
      ASSERT_EQ(erase(table, each), 0);
      each = next++;
      ASSERT_EQ(insert(table, each, 1024), COUA_FLOW_ADDED);
    }
    ASSERT_EQ(lost(reader, live, 64), 0u) << round;
  }
  EXPECT_EQ(coua_flow_set_time(table.get(), 1024), 0);
  EXPECT_EQ(lost(reader, live, 64), n);   // expired
  for (int half = 0; half < 2; ++half) {  // the first ends a round that has begun
    while (coua_flow_sweep(table.get(), 1000) == 0) continue;
  }
  EXPECT_EQ(stats_of(table).entries, 0u);
}

std::vector<small_bucket> small_buckets() {
  std::vector<small_bucket> all;
  for (const coua_flow_variant variant :
       {COUA_FLOW_BLOOM, COUA_FLOW_OPTIMISTIC, COUA_FLOW_PESSIMISTIC, COUA_FLOW_HORTON}) {
    for (const coua_flow_sync sync : {COUA_FLOW_SINGLE, COUA_FLOW_ONE_WRITER}) {
      for (const std::uint32_t slots : {1u, 2u, 4u}) all.push_back({variant, sync, slots});
    }
  }
  return all;
}
std::string name_of(const testing::TestParamInfo<small_bucket>& each) {
  const char* const names[] = {"bloom", "optimistic", "pessimistic", "horton"};
  return std::string(names[each.param.variant]) +
         (each.param.sync == COUA_FLOW_SINGLE ? "_" : "_writer_") +
         std::to_string(each.param.slots);
}
INSTANTIATE_TEST_SUITE_P(kinds, flow_small_buckets, testing::ValuesIn(small_buckets()), name_of);

/// Entries of a table of 4,096 slots and a fixed hash before the first is refused.
std::uint64_t filled_with_budget(std::uint32_t budget) {
  coua_flow_params params = flow_params(0);
  params.buckets = 512;
  params.hash_key = fixed_key;
  params.search_budget = budget;
  const flow_ptr table = make_flow(params);
  std::uint64_t n = 0;
  while (insert(table, n) == COUA_FLOW_ADDED) ++n;
  EXPECT_EQ(stats_of(table).refused, 1u);
  return n;
}

TEST(flow_ends, search_budgets_below_16_count_as_16_as_the_header_says) {
  const std::uint64_t of_16 = filled_with_budget(16);
  EXPECT_GT(of_16, 4096 * 7 / 10u);
  EXPECT_EQ(filled_with_budget(1), of_16);
  EXPECT_EQ(filled_with_budget(15), of_16);
  EXPECT_GT(filled_with_budget(1 << 20), of_16);
}

}  // namespace
}  // namespace coua::test
