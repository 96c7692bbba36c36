// SPDX-License-Identifier: Apache-2.0
#include "dp/packet_pool.h"

#include <gtest/gtest.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include <string>
#include <utility>
#include <vector>

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

// The driver tells the kernel of so many bytes from the page on in which the first packet lies.
TEST_F(packet_pool_test, every_packet_of_a_page_lies_in_what_the_driver_of_af_xdp_registers) {
  const auto made = packet_pool::create_of_pages("port p7", 1023, -1);
  ASSERT_TRUE(made) << made.error().message();
  rte_mempool* const pool = made->get();
  EXPECT_EQ(pool->nb_mem_chunks, 1u);
  const std::uint64_t each = rte_mempool_calc_obj_size(pool->elt_size, pool->flags, nullptr);
  EXPECT_EQ(each, 4096u);
  EXPECT_EQ(rte_pktmbuf_data_room_size(pool), packet_pool::room_of_page());
  struct bounds {
    std::uintptr_t first, end;
    unsigned n, outside;
  } seen{reinterpret_cast<std::uintptr_t>(STAILQ_FIRST(&pool->mem_list)->addr) & ~4095ull, 0, 0, 0};
  seen.end = seen.first + pool->populated_size * each;
  rte_mempool_obj_iter(
      pool,
      [](rte_mempool* of, void* arg, void* packet, unsigned) {
        auto& in = *static_cast<bounds*>(arg);
        const auto at = reinterpret_cast<std::uintptr_t>(packet) - of->header_size;
        in.n++;
        in.outside += at < in.first || at + 4096 > in.end || at % 4096 != 0;
      },
      &seen);
  EXPECT_EQ(seen.n, 1023u);
  EXPECT_EQ(seen.outside, 0u);
  // One that is used: each has its room.
  rte_mbuf* packet = rte_pktmbuf_alloc(pool);
  ASSERT_NE(packet, nullptr);
  EXPECT_NE(rte_pktmbuf_append(packet, packet_pool::room_of_page() - RTE_PKTMBUF_HEADROOM),
            nullptr);
  rte_pktmbuf_free(packet);
}

TEST_F(packet_pool_test, of_memory_in_pieces_it_says_how_large_they_are) {
  std::vector<void*> pieces;
  while (void* piece = rte_malloc(nullptr, 1 << 20, 0)) pieces.push_back(piece);
  ASSERT_GT(pieces.size(), 100u);
  for (std::size_t i = 0; i < pieces.size(); i += 2) rte_free(std::exchange(pieces[i], nullptr));
  const auto made = packet_pool::create_of_pages("port p7", 4095, -1);
  for (void* piece : pieces) rte_free(piece);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what.find(" need 16 MiB, "), std::string::npos) << "a page each";
  EXPECT_NE(made.error().what.find(" free in pieces of up to 1 MiB: raise memory.packet_mib by"),
            std::string::npos)
      << made.error().message();
  EXPECT_TRUE(packet_pool::create_of_pages("port p7", 4095, -1)) << "it is in one piece again";
}

TEST_F(packet_pool_test, without_the_memory_it_says_what_is_missing) {
  const auto made = packet_pool::create_of_pages("port p7", 1'000'000, -1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::no_memory);
  EXPECT_NE(made.error().what.find("raise memory.packet_mib"), std::string::npos)
      << made.error().what;
}

}  // namespace
}  // namespace coua::dp
