// SPDX-License-Identifier: Apache-2.0
//
// The pause of the benchmarks: they take devices away while it lasts.
#include "dp/bench_hooks.h"
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

using pause_test = switch_test;

TEST_F(pause_test, it_has_begun_when_the_call_returns) {
  access("a").poll_slowly(20);
  for (unsigned i = 0; i < 5; ++i) {
    ASSERT_TRUE(eventually(test_ring_port::in_poll));
    set_paused(*switch_, true);
    EXPECT_FALSE(test_ring_port::in_poll());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(test_ring_port::in_poll()) << "and no further poll begins";
    set_paused(*switch_, false);
  }
}

TEST_F(pause_test, packets_wait_for_its_end) {
  test_ring_port& a = access("a");
  test_ring_port& b = access("b");
  set_paused(*switch_, true);
  ASSERT_TRUE(a.send(make_frame(host(2), host(1))));
  EXPECT_TRUE(b.silent());
  EXPECT_EQ(a.waiting(), 1U);
  set_paused(*switch_, false);
  EXPECT_TRUE(b.receive());
}

}  // namespace
}  // namespace coua::dp
