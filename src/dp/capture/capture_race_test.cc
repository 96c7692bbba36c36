// SPDX-License-Identifier: Apache-2.0
//
// Two workers offer frames to the captures that the current set has, while one thread begins and
// ends captures as the thread `tables` does (a new set, a grace period, and the old one goes) and
// reads them. Checked: every record is whole, each worker's come in order, nothing is there that
// was not counted, and no worker touches a capture that is gone (the sanitizers would say so).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/qsbr.h"
#include "dp/capture/tap.h"

namespace coua::dp {
namespace {

constexpr unsigned n_workers = 2;
constexpr unsigned n_turns = 100;

class racing_switch {
 public:
  racing_switch() {
    for (unsigned w = 0; w < n_workers; ++w) {
      auto place = readers_.register_reader();
      EXPECT_TRUE(place);
      threads_[w] = std::thread([this, w, mine = std::move(*place)]() mutable { work(w, mine); });
    }
  }
  ~racing_switch() {
    stop_ = true;
    for (auto& each : threads_) each.join();
  }
  void publish(std::shared_ptr<const tap_set> next) {
    current_.store(next.get(), std::memory_order_release);
    const qsbr::token token = readers_.start();
    while (!readers_.poll(token)) std::this_thread::yield();
    owned_ = std::move(next);
  }

 private:
  void work(unsigned number, qsbr::reader& mine) {
    mine.online();
    std::array<std::uint8_t, 300> frame;
    for (std::uint64_t n = 1; !stop_.load(std::memory_order_relaxed); ++n) {
      mine.quiescent();
      const tap_set* taps = current_.load(std::memory_order_acquire);
      if (taps == nullptr) continue;
      frame.fill(static_cast<std::uint8_t>(n));
      const auto size = static_cast<std::uint32_t>(60 + n % 240);
      const frame_view view{frame.data(), size, size};
      const capture_event event{n, number, 1, capture_direction::in};
      for (const placed_tap& each : taps->all) {
        if (n % 2 == 0) {
          each.what->offer(number, event, view, not_dropped);
          continue;
        }
        const tap::staged one = each.what->stage(number, event, view);
        each.what->settle(number, one, n % 3 == 0 ? port_counter::drop_tx_full : not_dropped);
        each.what->publish(number);
      }
    }
    mine.offline();
  }

  std::atomic<const tap_set*> current_{nullptr};
  std::atomic<bool> stop_{false};
  qsbr readers_;
  std::shared_ptr<const tap_set> owned_;
  std::array<std::thread, n_workers> threads_;
};

TEST(capture_race, captures_come_and_go_while_workers_run) {
  racing_switch fabric;
  std::uint64_t n_read = 0;
  for (unsigned turn = 0; turn < n_turns; ++turn) {
    capture_spec spec;
    spec.buffer_bytes = capture_buffer_min;
    spec.count = turn % 3 == 0 ? 100 : 0;
    spec.filter = turn % 2 == 0 ? "" : "len >= 60";
    auto made = tap::create(spec, n_workers);
    ASSERT_TRUE(made);
    auto with = std::make_shared<tap_set>();
    with->all.push_back({*made, ~port_set{0}, true});
    fabric.publish(std::move(with));
    std::array<std::uint64_t, n_workers> last{};
    std::uint64_t n = 0;
    const auto check = [&](const captured_packet& one) {
      EXPECT_LT(one.interface, n_workers);
      EXPECT_GT(one.time_ns, last[one.interface]);
      last[one.interface] = one.time_ns;
      EXPECT_EQ(one.bytes.size(), 60 + one.time_ns % 240);
      EXPECT_EQ(one.drop, nullptr);
      const auto filled = static_cast<std::uint8_t>(one.time_ns);
      EXPECT_TRUE(
          std::ranges::all_of(one.bytes, [&](std::uint8_t byte) { return byte == filled; }));
      // Workers may be faster than this: a reader that waits for an empty ring never returns.
      return ++n % 256 != 0;
    };
    for (unsigned i = 0; i < 20; ++i) {
      (*made)->read(check);
      std::this_thread::yield();
    }
    fabric.publish(nullptr);
    while ((*made)->read(check) != 0) {
    }
    const capture_counts sum{(*made)->counts(0).seen + (*made)->counts(1).seen,
                             (*made)->counts(0).captured + (*made)->counts(1).captured,
                             (*made)->counts(0).lost + (*made)->counts(1).lost};
    ASSERT_EQ(n, sum.captured);
    if (spec.count != 0) {
      ASSERT_LE(n, spec.count);
    }
    n_read += n;
  }
  EXPECT_GT(n_read, n_turns);
}

}  // namespace
}  // namespace coua::dp
