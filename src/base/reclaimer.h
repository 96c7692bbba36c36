// SPDX-License-Identifier: Apache-2.0
//
// What a writer has unlinked and may free only after a grace period. Nothing waits: the owner
// calls reclaim() between other work, and what is due then is freed.
//
// At most one grace period is under way. What is deferred meanwhile collects in the next batch, so
// one grace period answers any number of deferred actions, and none is started when nothing is
// deferred.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/qsbr.h"

namespace coua {

/// Used by one thread at a time. The actions run in that thread, in the order of defer().
class reclaimer {
 public:
  explicit reclaimer(qsbr& domain) : domain_(domain) {}
  reclaimer(const reclaimer&) = delete;
  reclaimer& operator=(const reclaimer&) = delete;
  /// Runs what is left. By then all readers are offline or gone, or it is a bug.
  ~reclaimer();

  /// Takes memory for `n` actions, so that as many retire(), and defer() of no more than two
  /// pointers, throw nothing until the next reclaim(). An object that is unlinked and finds no
  /// memory here would be freed under its readers: so this comes before. Throws bad_alloc.
  void reserve(std::size_t n);

  /// Runs `action` after the next grace period. Call it after the object is unlinked. An action may
  /// defer more; it must not throw.
  void defer(std::function<void()> action);

  /// Deletes an unlinked object after the next grace period.
  template <typename T>
  void retire(std::unique_ptr<T> object) {
    // A bare pointer: a std::function holds it without memory. The queue runs to its end.
    defer([bare = object.get()] { delete bare; });
    (void)object.release();
  }

  /// Runs what is due; never blocks. Returns how many actions ran.
  std::size_t reclaim();

  /// Actions that have not run.
  std::size_t pending() const { return waiting_.size() + collecting_.size(); }

 private:
  qsbr& domain_;
  std::vector<std::function<void()>> waiting_;  // for the end of the grace period `token_`
  std::vector<std::function<void()>> collecting_;
  qsbr::token token_ = 0;
};

}  // namespace coua
