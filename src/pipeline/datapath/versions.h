// SPDX-License-Identifier: Apache-2.0
//
// How changes of several places become one (docs/pipeline.md, "Versions").
//
// Every operation on the model, or bundle of them, makes a version. A batch reads the number of the
// latest one at its start and sees that version throughout, while the next one is being made in the
// same tables:
//
//   writer   new things, each with from = v + 1 and a pointer to what it takes the place of;
//            published = v + 1 (release)
//   batch    v = published (acquire); at every place: while the thing is newer than v, its
//            previous one
//
// However many versions a batch is behind, it finds its own by going back further, so the writer
// does not wait for batches. What is previous is freed after a grace period (base/qsbr.h), when no
// batch can be at an older version.
#pragma once

#include <atomic>
#include <cstdint>

namespace coua::pipeline {

using version_no = std::uint64_t;

/// A thing that is replaced as a whole; `Version` has `from` and `previous`. Null: not there.
template <class Version>
struct versioned {
  std::atomic<const Version*> latest{nullptr};

  const Version* at(version_no v) const noexcept {
    const Version* one = latest.load(std::memory_order_acquire);  // with the store of set()
    while (one != nullptr && one->from > v) one = one->previous;
    return one;
  }
  /// Writer. `next->previous` is what is there now.
  void set(const Version* next) noexcept { latest.store(next, std::memory_order_release); }
};

}  // namespace coua::pipeline
