// SPDX-License-Identifier: Apache-2.0
//
// CuckooSwitch's own table, step by step, for its factor analysis (section 4.3, figure 5): two
// buckets of four slots, a version counter per stripe that is odd while an entry moves, and
// look-ups that compare the counters of both buckets before and after.
//
//   baseline      algorithm 1: atomic counters and full barriers, one key at a time
//   memory_order  algorithm 2: plain counters, in the order that the machine keeps anyway
//   batch         algorithm 3 without its prefetches
//   prefetch      algorithm 3: the primary bucket is fetched after hashing, the secondary when
//   needed
//
// The library's own table needs none of it (fib_table.h); nothing but the benchmark uses this one.
// Huge pages, the remaining step, are the memory's (coua_fib_params::pages).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "table/fib.h"

namespace coua {

enum class optimistic_step { baseline, memory_order, batch, prefetch };

class optimistic_fib {
 public:
  /// The layout of `params` is overruled: packed4. Errors as fib::create.
  static result<std::unique_ptr<optimistic_fib>> create(coua_fib_params params,
                                                        optimistic_step step);

  /// The table, for its writer calls.
  fib& table() { return *table_; }

  /// Looks up `n` keys (any number; batches of up to 64); writes entries as coua_fib_lookup_batch
  /// does. Any number of threads. Returns the number of hits.
  std::size_t lookup(const std::uint64_t* keys, std::size_t n, std::uint32_t* entries) const;

 private:
  optimistic_fib(std::unique_ptr<fib> table, optimistic_step step)
      : table_(std::move(table)), step_(step) {}

  std::unique_ptr<fib> table_;
  optimistic_step step_;
};

}  // namespace coua
