// SPDX-License-Identifier: Apache-2.0
#include "base/populate.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <vector>

namespace coua {
namespace {

constexpr std::size_t page = 4096;

/// A mapping of `pages` pages; of a file that has only `backed` of them, unless that is all.
class mapping {
 public:
  mapping(std::size_t pages, std::size_t backed) : bytes_(pages * page), file_(std::tmpfile()) {
    EXPECT_EQ(ftruncate(fileno(file_), static_cast<off_t>(backed * page)), 0);
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file_), 0);
    EXPECT_NE(memory_, MAP_FAILED);
  }
  ~mapping() {
    munmap(memory_, bytes_);
    std::fclose(file_);
  }
  void* get() const { return memory_; }
  std::size_t bytes() const { return bytes_; }
  bool resident() const {
    std::vector<unsigned char> pages(bytes_ / page);
    EXPECT_EQ(mincore(memory_, bytes_, pages.data()), 0);
    return std::all_of(pages.begin(), pages.end(), [](unsigned char state) { return state & 1; });
  }

 private:
  std::size_t bytes_;
  std::FILE* file_;
  void* memory_;
};

TEST(populate, makes_every_page_real) {
  for (const unsigned threads : {0U, 1U, 7U}) {
    const mapping memory(100, 100);
    EXPECT_FALSE(memory.resident());
    EXPECT_EQ(populate(memory.get(), memory.bytes(), page, threads), 0);
    EXPECT_TRUE(memory.resident()) << threads;
  }
}

TEST(populate, the_way_of_old_kernels_does_the_same) {
  const mapping memory(100, 100);
  EXPECT_EQ(touch_pages(memory.get(), memory.bytes(), page), 0);
  EXPECT_TRUE(memory.resident());
}

TEST(populate, a_page_that_cannot_be_had_is_an_error_not_a_signal) {
  const mapping memory(100, 60);
  EXPECT_EQ(populate(memory.get(), memory.bytes(), page, 3), EFAULT);
  EXPECT_EQ(touch_pages(memory.get(), memory.bytes(), page), EFAULT);
}

}  // namespace
}  // namespace coua
