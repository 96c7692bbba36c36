// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coua/fib.h>

#include <algorithm>
#include <vector>

#include "bench/harness/population.h"

namespace coua::bench {

/// A population as the source of a bulk load: each loading thread delivers a part of it. An object
/// is the `context` of coua_fib_bulk_load, bulk_source::next its `next`.
class bulk_source {
 public:
  bulk_source(const population& people, unsigned threads) : people_(people) {
    for (unsigned i = 0; i < threads; ++i) {
      shares_.push_back({people.entries * i / threads, people.entries * (i + 1) / threads});
    }
  }

  static std::size_t next(void* context, unsigned thread, coua_fib_record* records,
                          std::size_t max) {
    auto& self = *static_cast<bulk_source*>(context);
    share& mine = self.shares_[thread];
    const std::size_t count = std::min<std::uint64_t>(max, mine.end - mine.next);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t key = self.people_.key(mine.next++);
      records[i] = {key, self.people_.value(key), 0, 0, 0};
    }
    return count;
  }

 private:
  struct alignas(64) share {
    std::uint64_t next, end;
  };
  const population& people_;
  std::vector<share> shares_;
};

}  // namespace coua::bench
