// SPDX-License-Identifier: Apache-2.0
//
// Who owns what an owner thread owns: it with its commands and its housekeeping, and threads that
// take its turn. What is owned is plain memory, so ThreadSanitizer sees two that own it at a time;
// without it, they see each other.
#include "dp/owner_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace coua::dp {
namespace {

/// Plain memory, which one at a time may touch.
class owned {
 public:
  void touch() {
    if (std::exchange(busy_, true)) shared_.store(true);
    ++n_;
    if (n_ % 64 == 0) std::this_thread::yield();  // so that others come in between, if they can
    busy_ = false;
  }
  std::uint64_t n() const { return n_; }
  bool was_shared() const { return shared_.load(); }

 private:
  bool busy_ = false;
  std::uint64_t n_ = 0;
  std::atomic<bool> shared_{false};
};

/// Calls `step(i)` in so many threads until each has returned true `enough` times.
template <class Step>
void race(unsigned n_threads, unsigned enough, Step step) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < n_threads; ++i) {
    threads.emplace_back([&, i] {
      for (unsigned n = 0; n < enough; n += step(i) ? 1 : 0) std::this_thread::yield();
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(owner_thread, one_at_a_time_owns) {
  owned what;
  std::uint64_t n_kept = 0;  // by housekeeping; owned, too
  std::atomic<std::uint64_t> n_touched{0};
  const auto made = owner_thread::create("owner", [&] {
    what.touch();
    ++n_kept;
    return n_kept % 8 == 0;
  });
  owner_thread& owner = **made;
  constexpr unsigned n_threads = 4;
  unsigned steps[n_threads] = {};
  race(n_threads, 500, [&](unsigned i) {
    if (++steps[i] % 2 == 0) {
      owner.call([&] { what.touch(); });
    } else {
      if (!owner.try_turn()) return false;
      what.touch();
      // Its own calls need no other thread.
      const auto here = owner.call([&] {
        what.touch();
        n_touched.fetch_add(1, std::memory_order_relaxed);
        return std::this_thread::get_id();
      });
      EXPECT_EQ(here, std::this_thread::get_id());
      owner.end_turn();
    }
    n_touched.fetch_add(1, std::memory_order_relaxed);
    return true;
  });
  const auto [all, kept] = owner.call([&] { return std::pair(what.n(), n_kept); });
  EXPECT_EQ(all, n_touched.load() + kept);
  EXPECT_FALSE(what.was_shared());
}

TEST(owner_thread, a_turn_comes_after_what_was_posted_before) {
  constexpr unsigned n_threads = 3;
  std::uint64_t done[n_threads] = {};  // owned
  std::uint64_t posted[n_threads] = {};
  const auto made = owner_thread::create("owner", [] { return false; });
  owner_thread& owner = **made;
  race(n_threads, 500, [&](unsigned i) {
    // More than one, so that some are under way while others wait.
    for (unsigned n = 0; n < 1 + posted[i] % 3; ++n) {
      ++posted[i];
      owner.post([&done, i] {
        std::this_thread::yield();
        ++done[i];
      });
    }
    while (!owner.try_turn()) std::this_thread::yield();
    EXPECT_EQ(done[i], posted[i]);
    owner.end_turn();
    return true;
  });
}

TEST(owner_thread, nobody_has_a_turn_while_another_has_it) {
  const auto made = owner_thread::create("owner", [] { return false; });
  owner_thread& owner = **made;
  while (!owner.try_turn()) std::this_thread::yield();
  std::atomic<bool> done{false};
  std::thread other([&] {
    EXPECT_FALSE(owner.try_turn());
    owner.call([&] { done = true; });
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // time to be wrong
  EXPECT_FALSE(done.load());
  owner.end_turn();
  other.join();
  EXPECT_TRUE(done.load());
}

}  // namespace
}  // namespace coua::dp
