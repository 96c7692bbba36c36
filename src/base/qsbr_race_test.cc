// SPDX-License-Identifier: Apache-2.0
//
// Readers follow one pointer while a writer replaces its target, and poisons the old one when its
// grace period ends. A reader that meets poison held an object past the end of a grace period.
// Objects come from a small pool and are used again at once, so that a grace period which ends too
// early is seen soon. Payloads are plain memory: ThreadSanitizer also reports any access that the
// domain does not order.
//
// Turns red when poll() ignores a reader, and, under ThreadSanitizer, when quiescent() or offline()
// does not release. The barrier of online() guards a window of some ten nanoseconds that no test
// here hits: for it there is the argument in the header (rule 3).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/qsbr.h"
#include "base/reclaimer.h"

namespace coua {
namespace {

constexpr std::uint64_t poison = 0xdeaddeaddeaddeadULL;

struct object {
  std::uint64_t number = poison, inverse = poison;
};

struct shared_state {
  qsbr domain;
  std::atomic<object*> root{nullptr};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> violations{0}, started{0};
};

/// A reader that goes offline (`offline_every` > 0) or unregisters (`leave_every` > 0) at times.
void read(shared_state& state, unsigned offline_every, unsigned leave_every) {
  qsbr::reader reader = state.domain.register_reader().value();
  reader.online();
  std::uint64_t bursts = 0, violations = 0;
  while (!state.stop.load(std::memory_order_relaxed)) {
    // Acquire: pairs with the release of the writer's exchange.
    const object* seen = state.root.load(std::memory_order_acquire);
    for (int packet = 0; packet < 8; ++packet) {
      const std::uint64_t number = *const_cast<const volatile std::uint64_t*>(&seen->number);
      const std::uint64_t inverse = *const_cast<const volatile std::uint64_t*>(&seen->inverse);
      violations += number == poison || number != ~inverse;
    }
    ++bursts;
    if (leave_every > 0 && bursts % leave_every == 0) {
      reader = qsbr::reader();
      reader = state.domain.register_reader().value();
      reader.online();
    } else if (offline_every > 0 && bursts % offline_every == 0) {
      reader.offline();
      if (bursts % 64 == 0) std::this_thread::yield();
      reader.online();
    } else {
      reader.quiescent();
      // More threads than cores: a reader that keeps its core holds up every grace period.
      if (bursts % 16 == 0) std::this_thread::yield();
    }
    // Only once: a locked instruction per burst would be a barrier that hides a missing one.
    if (bursts == 1) state.started.fetch_add(1, std::memory_order_relaxed);
  }
  state.violations.fetch_add(violations, std::memory_order_relaxed);
}

/// Replaces the root for half a second, and longer until it has done so `least` times; a minute is
/// enough for that on any machine. An object returns to `unused` after its grace period. Returns
/// how often.
std::uint64_t write(shared_state& state, reclaimer& queue, std::vector<object*>& unused,
                    std::uint64_t least) {
  const std::uint64_t start_ns = now_ns();
  std::uint64_t change = 0;
  const auto goes_on = [&] {
    const std::uint64_t passed_ns = now_ns() - start_ns;
    return passed_ns < 500'000'000 || (change < least && passed_ns < 60'000'000'000);
  };
  while (goes_on()) {
    queue.reclaim();
    if (unused.empty()) {
      std::this_thread::yield();
      continue;
    }
    object* const fresh = unused.back();
    unused.pop_back();
    fresh->number = change;
    fresh->inverse = ~change;
    object* const old = state.root.exchange(fresh, std::memory_order_acq_rel);
    queue.defer([old, &unused] {
      *old = object{};
      unused.push_back(old);
    });
    ++change;
  }
  return change;
}

void race(unsigned n_readers, unsigned offline_every, unsigned leave_every) {
  shared_state state;
  std::array<object, 64> pool;
  std::vector<object*> unused;
  for (object& each : pool) unused.push_back(&each);
  unused.pop_back();
  pool.back() = {0, ~std::uint64_t{0}};
  state.root.store(&pool.back(), std::memory_order_release);

  reclaimer queue(state.domain);
  std::vector<std::thread> readers;
  for (unsigned i = 0; i < n_readers; ++i) {
    readers.emplace_back([&] { read(state, offline_every, leave_every); });
  }
  // On one core the writer would be done before any reader has begun.
  while (state.started.load(std::memory_order_relaxed) < n_readers) std::this_thread::yield();
  constexpr std::uint64_t least = 4 * pool.size();
  EXPECT_GE(write(state, queue, unused, least), least) << "no object was used again";
  state.stop.store(true, std::memory_order_relaxed);
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(state.violations.load(), 0U);
}

TEST(qsbr_race, readers_that_report_every_burst) { race(3, 0, 0); }
TEST(qsbr_race, readers_that_go_offline_and_online) { race(3, 1, 0); }
TEST(qsbr_race, readers_that_come_and_go) { race(3, 3, 7); }

}  // namespace
}  // namespace coua
