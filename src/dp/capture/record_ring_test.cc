// SPDX-License-Identifier: Apache-2.0
#include "dp/capture/record_ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <string>

namespace coua::dp {
namespace {

bool put(record_ring& ring, const std::string& text) {
  std::uint8_t* room = ring.reserve(text.size() + 1);
  if (room == nullptr) return false;
  std::memcpy(room, text.c_str(), text.size() + 1);
  return true;
}
std::string text_of(const std::uint8_t* record) { return reinterpret_cast<const char*>(record); }

TEST(record_ring, shows_nothing_before_it_is_published) {
  record_ring ring(256);
  ASSERT_TRUE(put(ring, "one"));
  ASSERT_TRUE(put(ring, "two"));
  EXPECT_EQ(ring.front(), nullptr);
  ring.publish();
  ASSERT_NE(ring.front(), nullptr);
  EXPECT_EQ(text_of(ring.front()), "one");
  ring.pop();
  EXPECT_EQ(text_of(ring.front()), "two");
  ring.pop();
  EXPECT_EQ(ring.front(), nullptr);
}

TEST(record_ring, a_record_that_never_fits_is_refused_and_nothing_breaks) {
  record_ring ring(64);
  EXPECT_EQ(ring.reserve(64), nullptr);
  EXPECT_EQ(ring.reserve(1000), nullptr);
  ASSERT_TRUE(put(ring, "fits"));
  ring.publish();
  EXPECT_EQ(text_of(ring.front()), "fits");
}

// Against a deque: every record comes out once, whole and in order, over many turns of the ring.
TEST(record_ring, records_of_any_length_over_many_turns) {
  std::mt19937 random(1);
  for (const std::size_t bytes : {64u, 128u, 1024u}) {
    record_ring ring(bytes);
    std::deque<std::string> staged, there;
    std::uint64_t refused = 0, taken = 0;
    for (unsigned step = 0; step < 200'000; ++step) {
      switch (random() % 4) {
        case 0:
        case 1: {
          const std::string text(random() % (bytes / 3), static_cast<char>('a' + step % 26));
          if (put(ring, text))
            staged.push_back(text);
          else
            ++refused;
          break;
        }
        case 2:
          ring.publish();
          there.insert(there.end(), staged.begin(), staged.end());
          staged.clear();
          break;
        default: {
          const std::uint8_t* record = ring.front();
          ASSERT_EQ(record == nullptr, there.empty());
          if (record == nullptr) break;
          ASSERT_EQ(text_of(record), there.front());
          ring.pop();
          there.pop_front();
          ++taken;
        }
      }
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_GT(taken, 10'000u);
  }
}

// Red when the room that a skip takes is not counted, or never given back.
TEST(record_ring, an_empty_ring_takes_a_record_of_half_its_size_wherever_it_stands) {
  record_ring ring(1024);
  for (unsigned n = 0; n < 2000; ++n) {
    const std::string text(1 + n * 37 % 500, 'x');
    ASSERT_TRUE(put(ring, text)) << n;
    ring.publish();
    ASSERT_EQ(text_of(ring.front()), text);
    ring.pop();
    ASSERT_EQ(ring.front(), nullptr);
  }
}

}  // namespace
}  // namespace coua::dp
