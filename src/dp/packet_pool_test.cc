// SPDX-License-Identifier: Apache-2.0
#include "dp/packet_pool.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <string>

#include "dp/eal.h"

namespace coua::dp {
namespace {

class packet_pool_test : public ::testing::Test {
 protected:
  void SetUp() override {
    eal_params eal;
    eal.huge_pages = false;
    eal.memory_mib = 256;
    ASSERT_TRUE(start_eal(eal));
  }
  /// What the end of a pool writes into the log while `out` of its packets are out.
  static std::string log_of_the_end(unsigned out) {
    rte_mbuf* packets[8] = {};
    testing::internal::CaptureStderr();
    {
      auto made = packet_pool::create("port p7", 1023, 2048, -1);
      EXPECT_TRUE(made);
      if (made && out > 0) {
        EXPECT_EQ(rte_pktmbuf_alloc_bulk(made->get(), packets, out), 0);
      }
      packet_pool moved;
      if (made) moved = std::move(*made);
      EXPECT_EQ(moved.in_use(), out);
    }
    rte_pktmbuf_free_bulk(packets, out);  // the pool must still be there
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(packet_pool_test, an_idle_pool_goes_without_a_word) { EXPECT_EQ(log_of_the_end(0), ""); }

TEST_F(packet_pool_test, a_pool_with_packets_out_stays_and_says_so) {
  const std::string log = log_of_the_end(3);
  EXPECT_NE(log.find("port p7: 3 packets did not come back"), std::string::npos) << log;
  EXPECT_NE(log.find("3 MiB"), std::string::npos) << log;
}

}  // namespace
}  // namespace coua::dp
