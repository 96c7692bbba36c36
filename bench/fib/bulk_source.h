// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/fib.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/harness/population.h"

namespace coua::bench {

/// A population as the source of a bulk load. An object is the `context` of coua_fib_bulk_load,
/// bulk_source::next its `next`. Each loading thread takes a block of keys when it has delivered
/// the last one: cores of a virtual machine are not equally fast, and with halves the slower one
/// would load alone at the end.
class bulk_source {
 public:
  bulk_source(const population& people, unsigned threads) : people_(people), shares_(threads) {}

  static std::size_t next(void* context, unsigned thread, coua_fib_record* records,
                          std::size_t max) {
    auto& self = *static_cast<bulk_source*>(context);
    share& mine = self.shares_[thread];
    if (mine.next == mine.end) self.take_block(mine);
    const std::size_t count = std::min<std::uint64_t>(max, mine.end - mine.next);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t key = self.people_.key(mine.next++);
      records[i] = {key, self.people_.value(key), 0, 0, 0};
    }
    return count;
  }

 private:
  static constexpr std::uint64_t block = 64 << 10;
  struct alignas(64) share {
    std::uint64_t next = 0, end = 0;
  };
  void take_block(share& mine) {
    mine.next = std::min(next_block_.fetch_add(block), people_.entries);
    mine.end = std::min(mine.next + block, people_.entries);
  }

  const population& people_;
  std::atomic<std::uint64_t> next_block_{0};
  std::vector<share> shares_;
};

}  // namespace coua::bench
