// SPDX-License-Identifier: Apache-2.0
//
// A reader renews an entry while its time comes: what it finds out to have expired stays so.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "flow/flow_table.h"

namespace coua::test {
namespace {

TEST(flow_renewal, brings_nothing_back_that_has_expired) {
  constexpr std::uint32_t life = 16, last_unit = 1000;
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.buckets = 2;
  params.sync = COUA_FLOW_ONE_WRITER;
  params.unit_ms = 1;
  params.now_ms = last_unit;
  const auto table = *flow_table::create(params);
  std::uint8_t key[16] = {1}, value[8] = {};
  ASSERT_EQ(table->put(put_mode::replace, key, value, 1), COUA_FLOW_ADDED);
  std::uint32_t* pair = nullptr;
  for (std::uint64_t bucket = 0; bucket < 2; ++bucket) {
    for (const std::uint32_t& each : table->view().lines[bucket].pairs) {
      if (each != 0) pair = const_cast<std::uint32_t*>(&each);
    }
  }
  ASSERT_NE(pair, nullptr);
  const std::uint32_t fresh = *pair;

  // Two times take turns, faster than any writer could let them come.
  alignas(64) std::uint64_t now = last_unit;
  simd::flow_view view = table->view();
  view.now = &now;
  simd::flow_reader_state state(view);
  std::atomic<bool> done{false};
  std::thread clock([&] {
    for (unsigned i = 0; !done.load(std::memory_order_relaxed); ++i) {
      store_release(&now, std::uint64_t{last_unit} + i % 2);
    }
  });
  std::uint64_t n_renewed = 0, n_brought_back = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto lasts = [begin](auto time) { return std::chrono::steady_clock::now() < begin + time; };
  // On a busy machine the clock may stand still at the later time for a while.
  while (lasts(std::chrono::milliseconds(200)) ||
         (n_renewed == 0 && lasts(std::chrono::seconds(30)))) {
    for (int i = 0; i < 100; ++i) {
      store_release(pair, fresh);
      table->kernels().refresh(view, state, key, 1, value, nullptr, life);
      const std::uint32_t expires = load_relaxed(pair) >> 16;
      n_renewed += expires == last_unit + life;
      n_brought_back += expires == last_unit + 1 + life;
    }
  }
  done = true;
  clock.join();
  EXPECT_GT(n_renewed, 0U);
  EXPECT_EQ(n_brought_back, 0U);
}

}  // namespace
}  // namespace coua::test
