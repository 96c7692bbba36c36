// SPDX-License-Identifier: Apache-2.0
//
// One thread pushes a sequence, the other must see exactly it. Turns red when an index is published
// before its element (an element arrives torn or old), when a slot is reused too early, and, under
// ThreadSanitizer, when either index is not stored with release and loaded with acquire.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "base/spsc_ring.h"

namespace coua {
namespace {

struct element {
  std::uint64_t number, twice, inverse;  // wider than any one store
};
element make(std::uint64_t n) { return {n, 2 * n, ~n}; }
bool matches(const element& e, std::uint64_t n) {
  return e.number == n && e.twice == 2 * n && e.inverse == ~n;
}

TEST(spsc_ring_race, every_element_arrives_once_whole_and_in_order) {
  // A full or empty ring costs a turn of the scheduler, so on a busy machine fewer must do.
  constexpr std::uint64_t most = 300'000, least = 20'000, enough_ns = 10'000'000'000;
  spsc_ring<element> ring(16);
  std::atomic<std::uint64_t> n{most};
  std::thread producer([&] {
    const std::uint64_t start_ns = now_ns();
    std::array<element, 7> bulk;
    std::uint64_t sent = 0;
    while (sent < most) {
      const std::size_t want = std::min<std::size_t>(sent % 8, most - sent);
      std::size_t pushed = 0;
      if (want <= 1) {
        pushed = ring.push(make(sent)) ? 1 : 0;
      } else {
        for (std::size_t i = 0; i < want; ++i) bulk[i] = make(sent + i);
        pushed = ring.push(std::span(bulk).first(want));
      }
      sent += pushed;
      if (pushed != 0) continue;
      if (sent >= least && now_ns() - start_ns > enough_ns) break;
      std::this_thread::yield();
    }
    n.store(sent, std::memory_order_relaxed);
  });
  std::array<element, 5> bulk;
  std::uint64_t wrong = 0;
  for (std::uint64_t seen = 0; seen < n.load(std::memory_order_relaxed);) {
    EXPECT_LE(ring.size(), ring.capacity());
    const std::size_t popped =
        seen % 3 == 0 ? static_cast<std::size_t>(ring.pop(bulk[0])) : ring.pop(bulk);
    for (std::size_t i = 0; i < popped; ++i) wrong += !matches(bulk[i], seen + i);
    seen += popped;
    if (popped == 0) std::this_thread::yield();
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace coua
