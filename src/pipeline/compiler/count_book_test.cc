// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/count_book.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <map>
#include <random>

namespace coua::pipeline {
namespace {

count_book book_of(std::uint32_t n_max) {
  auto made = count_book::create(1, n_max);
  COUA_CHECK(made.has_value());
  return std::move(*made);
}

TEST(count_book, finds_room_for_other_sizes_where_others_were) {
  count_book book = book_of(120);
  for (const std::uint32_t n : {2U, 3U, 5U, 8U, 12U, 24U, 60U, 120U, 1U, 4U}) {
    std::vector<std::uint32_t> taken;
    for (std::uint32_t i = 0; i < 120 / n; ++i) {
      taken.push_back(book.take(n));
      ASSERT_NE(taken.back(), count_book::none) << "size " << n;
    }
    EXPECT_EQ(book.take(n), count_book::none);
    EXPECT_EQ(book.n_taken(), 120U);
    if (n == 1) break;  // single ones stay so
    for (std::size_t i = 0; i < taken.size(); i += 2) book.give_back(taken[i], n);
    for (std::size_t i = 1; i < taken.size(); i += 2) book.give_back(taken[i], n);
    EXPECT_EQ(book.n_taken(), 0U);
  }
}

bool has_memory(const void* place) {
  unsigned char is_there = 0;
  const auto page = reinterpret_cast<std::uintptr_t>(place) & ~std::uintptr_t{4095};
  EXPECT_EQ(mincore(reinterpret_cast<void*>(page), 1, &is_there), 0);
  return (is_there & 1) != 0;
}

// A worker that took a page fault there could have to wait until the kernel has cleared 2 MiB.
TEST(count_book, what_is_taken_has_its_memory_before_a_worker_counts) {
  constexpr std::uint32_t n_max = 1'000'000, in_huge_page = (2 << 20) / 16;
  auto made = count_book::create(2, n_max);
  ASSERT_TRUE(made);
  for (const std::uint32_t n : {1U, 5U, in_huge_page, n_max - in_huge_page - 6}) {
    const std::uint32_t last = made->take(n) + n - 1;
    for (unsigned worker = 0; worker < 2; ++worker) {
      const worker_counts& counts = made->of(worker);
      EXPECT_TRUE(has_memory(counts.place(last))) << last;
      if (last + in_huge_page < n_max) {
        EXPECT_FALSE(has_memory(counts.place(last + in_huge_page))) << last;
      }
    }
  }
}

TEST(count_book, gives_no_number_twice) {
  constexpr std::uint32_t n_max = 300;
  count_book book = book_of(n_max);
  std::mt19937_64 random(1);
  std::map<std::uint32_t, std::uint32_t> taken;
  std::size_t n_taken = 0, n_refused = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto at = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      book.give_back(at->first, at->second);
      n_taken -= at->second;
      taken.erase(at);
    } else {
      const auto n = static_cast<std::uint32_t>(1 + random() % 9);
      const std::uint32_t first = book.take(n);
      if (first == count_book::none) {
        ++n_refused;
        continue;
      }
      const auto behind = taken.lower_bound(first);
      ASSERT_LE(first + n, behind == taken.end() ? n_max : behind->first);
      if (behind != taken.begin()) {
        const auto before = std::prev(behind);
        ASSERT_LE(before->first + before->second, first);
      }
      taken[first] = n;
      n_taken += n;
    }
    ASSERT_EQ(book.n_taken(), n_taken);
  }
  EXPECT_GT(n_refused, 10U);
}

TEST(count_book, begins_at_nothing_under_a_number_that_was_given_before) {
  count_book book = book_of(8);
  const std::uint32_t first = book.take(3);
  book.of(0).add(first + 1, 100);
  book.give_back(first, 3);
  ASSERT_EQ(book.take(3), first);
  EXPECT_EQ(book.news(first + 1).packets, 0U);
  book.of(0).add(first + 1, 50);
  EXPECT_EQ(book.news(first + 1), (traffic{1, 50}));
  EXPECT_EQ(book.news(first + 1).packets, 0U);
}

}  // namespace
}  // namespace coua::pipeline
