// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/system_memory.h"

namespace coua {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib, gib = mib * kib;

arena_params only(page_kind kind) {
  arena_params params;
  params.pages = kind;
  return params;
}

/// Pages of a mapping that are in memory.
std::size_t resident_pages(const arena& memory) {
  std::vector<unsigned char> pages((memory.bytes_mapped() + 4095) / 4096);
  EXPECT_EQ(mincore(memory.data(), memory.bytes_mapped(), pages.data()), 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

void expect_zeroed_and_writable(const arena& memory) {
  auto* const bytes = static_cast<unsigned char*>(memory.data());
  for (std::size_t at = 0; at < memory.bytes(); at += 509) {
    ASSERT_EQ(bytes[at], 0) << at;
    bytes[at] = 1;
  }
  ASSERT_EQ(bytes[memory.bytes() - 1] & ~1, 0);
  bytes[memory.bytes() - 1] = 1;
}

TEST(arena, small_pages_are_populated_and_say_so) {
  const result<arena> memory = arena::create(3 * mib + 1, only(page_kind::kib4));
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(memory->bytes(), 3 * mib + 1);
  EXPECT_EQ(memory->bytes_mapped(), 3 * mib + 4 * kib);
  EXPECT_EQ(memory->pages(), page_kind::kib4);
  EXPECT_EQ(memory->numa_node(), -1);
  EXPECT_EQ(memory->describe(), "3.0 MiB on 4 KiB pages");
  EXPECT_EQ(resident_pages(*memory), memory->bytes_mapped() / 4096);
  expect_zeroed_and_writable(*memory);
}

TEST(arena, several_threads_populate_everything) {
  arena_params params = only(page_kind::kib4);
  params.populate_threads = 5;
  const result<arena> memory = arena::create(200 * mib + 4 * kib, params);
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(resident_pages(*memory), memory->bytes_mapped() / 4096);
}

TEST(arena, transparent_pages_start_on_their_boundary) {
  const result<arena> memory = arena::create(5 * mib, only(page_kind::transparent));
  if (!transparent_huge_pages_allowed()) {
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, errc::unsupported);
    EXPECT_NE(memory.error().what.find("transparent_hugepage/enabled"), std::string::npos);
    return;
  }
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % (2 * mib), 0U);
  EXPECT_EQ(memory->bytes_mapped(), 5 * mib);
  EXPECT_EQ(memory->describe(), "5.0 MiB on transparent huge pages");
  EXPECT_EQ(resident_pages(*memory), memory->bytes_mapped() / 4096);
  expect_zeroed_and_writable(*memory);
}

/// With pages free it must get them, without it must say how to get them.
void expect_huge_pages_or_shortage(page_kind kind, std::size_t page, const char* name) {
  const huge_page_pool pool = read_huge_page_pool(page, -1);
  const result<arena> memory = arena::create(page + 1, only(kind));
  if (memory) {
    EXPECT_EQ(memory->pages(), kind);
    EXPECT_EQ(memory->bytes_mapped(), 2 * page);
    EXPECT_NE(memory->describe().find(name), std::string::npos);
    expect_zeroed_and_writable(*memory);
    return;
  }
  const std::string message = memory.error().message();
  EXPECT_NE(message.find(name), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(page + 1) + " bytes"), std::string::npos) << message;
  if (!pool.exists) {
    EXPECT_EQ(memory.error().code, errc::unsupported) << message;
    return;
  }
  EXPECT_EQ(memory.error().code, errc::no_memory) << message;
  EXPECT_LT(pool.free, 2U) << "there were enough: " << message;
  EXPECT_NE(message.find("needs 2 pages"), std::string::npos) << message;
  EXPECT_NE(message.find(huge_page_command(page, -1, 2 - pool.free)), std::string::npos) << message;
}

TEST(arena, two_mib_pages_or_how_to_get_them) {
  expect_huge_pages_or_shortage(page_kind::mib2, 2 * mib, "2 MiB pages");
}
TEST(arena, one_gib_pages_or_how_to_get_them) {
  expect_huge_pages_or_shortage(page_kind::gib1, gib, "1 GiB pages");
}

TEST(arena, automatic_never_wastes_more_than_it_may) {
  for (const std::size_t bytes : {std::size_t{1}, 64 * kib, mib - 1, mib, 2 * mib, 3 * mib - 1,
                                  3 * mib, 37 * mib + 5, 300 * mib + 1}) {
    const result<arena> memory = arena::create(bytes);
    ASSERT_TRUE(memory) << memory.error().message();
    const std::size_t waste = memory->bytes_mapped() - bytes;
    if (memory->pages() == page_kind::gib1 || memory->pages() == page_kind::mib2) {
      EXPECT_LE(waste, bytes < 16 * mib ? mib : bytes / 48) << bytes;
    } else {
      EXPECT_LT(waste, 4 * kib);
    }
    if (bytes < mib) {
      EXPECT_EQ(memory->pages(), page_kind::kib4) << bytes;
    }
    if (bytes >= 2 * mib && transparent_huge_pages_allowed()) {
      EXPECT_NE(memory->pages(), page_kind::kib4) << bytes;
    }
  }
}

// Machines for tests seldom have pages reserved: so the choice is looked at apart from them.
TEST(arena, no_page_size_lifts_a_full_table_above_8_6_bytes_per_entry) {
  constexpr std::size_t stamps = 16 * kib;
  for (std::size_t entries = 2'000'000; entries < 40'000'000'000; entries += entries / 1000) {
    const auto slots = static_cast<std::size_t>(static_cast<double>(entries) / 0.95) + 8;
    for (const std::size_t page : {2 * mib, gib}) {
      if (!rounding_pays(slots * 8, page)) continue;
      const std::size_t mapped = (slots * 8 + page - 1) / page * page + stamps;
      ASSERT_LT(static_cast<double>(mapped) / static_cast<double>(entries), 8.6) << entries;
    }
  }
}

TEST(arena, pages_are_taken_where_a_request_fills_them) {
  EXPECT_FALSE(rounding_pays(64 * kib, 2 * mib));
  EXPECT_FALSE(rounding_pays(3 * mib - 1, 2 * mib));
  EXPECT_TRUE(rounding_pays(3 * mib, 2 * mib));
  EXPECT_FALSE(rounding_pays(17 * mib, 2 * mib));
  for (std::size_t bytes = 100 * mib; bytes < gib; bytes += 12345 * kib)
    EXPECT_TRUE(rounding_pays(bytes, 2 * mib)) << bytes;
  EXPECT_TRUE(rounding_pays(gib, gib));
  EXPECT_FALSE(rounding_pays(gib / 2, gib));
  EXPECT_FALSE(rounding_pays(gib + 1, gib));
  // A billion entries at load 0.95.
  EXPECT_TRUE(rounding_pays(8'421'052'672, gib));
  EXPECT_FALSE(rounding_pays(gib / 3, gib));
}

TEST(arena, more_than_the_machine_has_is_an_error_not_a_kill) {
  for (const page_kind kind : {page_kind::automatic, page_kind::kib4}) {
    const result<arena> memory = arena::create(std::size_t{1} << 43, only(kind));
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, errc::no_memory);
    EXPECT_NE(memory.error().message().find("8.0 TiB (8796093022208 bytes)"), std::string::npos)
        << memory.error().message();
  }
}

TEST(arena, sparse_mapping_reaches_past_2_to_the_35) {
  arena_params params;
  params.populate = false;
  constexpr std::size_t bytes = std::size_t{1} << 39;
  const result<arena> memory = arena::create(bytes, params);
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(memory->pages(), page_kind::kib4);
  auto* const words = static_cast<std::uint64_t*>(memory->data());
  for (std::size_t at = 1; at < bytes / 8; at *= 2) words[at] = at;
  words[bytes / 8 - 1] = 7;
  for (std::size_t at = 1; at < bytes / 8; at *= 2) EXPECT_EQ(words[at], at);
  EXPECT_EQ(words[bytes / 8 - 1], 7U);
  EXPECT_EQ(words[bytes / 8 - 2], 0U);
}

TEST(arena, binds_to_a_node_that_exists) {
  arena_params params = only(page_kind::kib4);
  params.numa_node = 0;
  const result<arena> memory = arena::create(mib, params);
  ASSERT_TRUE(memory) << memory.error().message();
  EXPECT_EQ(memory->numa_node(), 0);
  EXPECT_EQ(memory->describe(), "1.0 MiB on 4 KiB pages, node 0");
  int mode = -1;
  unsigned long nodes[16] = {};
  if (syscall(SYS_get_mempolicy, &mode, nodes, 8 * sizeof nodes, memory->data(), MPOL_F_ADDR) ==
      0) {
    if (mode == MPOL_DEFAULT && numa_nodes_online() == 1) GTEST_SKIP() << "mbind is forbidden";
    EXPECT_EQ(mode, MPOL_BIND);
    EXPECT_EQ(nodes[0], 1U);
  }
}

TEST(arena, absent_node_is_an_error_that_names_it) {
  for (const int node : {1000, -2}) {
    arena_params params;
    params.numa_node = node;
    const result<arena> memory = arena::create(mib, params);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().code, errc::not_found);
    EXPECT_NE(memory.error().what.find("NUMA node " + std::to_string(node)), std::string::npos);
  }
}

TEST(arena, rejects_what_can_never_work) {
  EXPECT_EQ(arena::create(0).error().code, errc::invalid);
  EXPECT_EQ(arena::create((std::size_t{1} << 46) + 1).error().code, errc::invalid);
  EXPECT_EQ(arena::create(64, {}, 0).error().code, errc::invalid);
  EXPECT_EQ(arena::create(64, {}, 48).error().code, errc::invalid);
  EXPECT_EQ(arena::create(64, {}, 8192).error().code, errc::invalid);
  EXPECT_EQ(arena::create(64, only(page_kind::caller)).error().code, errc::invalid);
}

TEST(arena, every_alignment_is_kept) {
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    const result<arena> memory = arena::create(100, {}, alignment);
    ASSERT_TRUE(memory);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % alignment, 0U);
  }
}

/// The caller's allocator, which records what it was asked.
struct own_allocator {
  std::size_t bytes = 0, alignment = 0, released = 0, offset = 0;
  bool fails = false;
  void* block = nullptr;

  static void* allocate(void* context, std::size_t bytes, std::size_t alignment) {
    auto* const self = static_cast<own_allocator*>(context);
    if (self->fails) return nullptr;
    self->bytes = bytes;
    self->alignment = alignment;
    self->block = std::aligned_alloc(4096, 8192);
    std::memset(self->block, 0, 8192);
    return static_cast<char*>(self->block) + self->offset;
  }
  static void release(void* context, void* memory, std::size_t bytes) {
    auto* const self = static_cast<own_allocator*>(context);
    EXPECT_EQ(memory, static_cast<char*>(self->block) + self->offset);
    std::free(self->block);
    self->released += bytes;
  }
  arena_params params() {
    arena_params made;
    made.allocate = allocate;
    made.release = release;
    made.context = this;
    return made;
  }
};

TEST(arena, uses_the_callers_allocator_and_gives_back_what_it_took) {
  own_allocator own;
  {
    const result<arena> memory = arena::create(5000, own.params(), 128);
    ASSERT_TRUE(memory) << memory.error().message();
    EXPECT_EQ(own.bytes, 5000U);
    EXPECT_EQ(own.alignment, 128U);
    EXPECT_EQ(memory->data(), own.block);
    EXPECT_EQ(memory->pages(), page_kind::caller);
    EXPECT_EQ(memory->describe(), "4.9 KiB of the caller's memory");
    EXPECT_EQ(own.released, 0U);
  }
  EXPECT_EQ(own.released, 5000U);
}

TEST(arena, callers_allocator_may_fail_or_misbehave) {
  own_allocator own;
  own.fails = true;
  EXPECT_EQ(arena::create(64, own.params()).error().code, errc::no_memory);
  own.fails = false;
  own.offset = 8;
  EXPECT_EQ(arena::create(64, own.params()).error().code, errc::invalid);
  EXPECT_EQ(own.released, 64U) << "what was refused must go back";
  arena_params half = own.params();
  half.release = nullptr;
  EXPECT_EQ(arena::create(64, half).error().code, errc::invalid);
}

TEST(arena, moves_hand_over_the_memory_once) {
  own_allocator own, other;
  {
    arena one = arena::create(100, own.params()).value();
    arena two = std::move(one);
    EXPECT_EQ(one.data(), nullptr);
    EXPECT_EQ(one.describe(), "no memory");
    EXPECT_EQ(two.bytes(), 100U);
    two = arena::create(200, other.params()).value();
    EXPECT_EQ(own.released, 100U) << "what it held is released at once";
    EXPECT_EQ(other.released, 0U);
  }
  EXPECT_EQ(own.released, 100U);
  EXPECT_EQ(other.released, 200U);
}

}  // namespace
}  // namespace coua
