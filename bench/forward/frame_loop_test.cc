// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/frame_loop.h"

#include <gtest/gtest.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>

#include "bench/harness/scratch_folder.h"
#include "dp/eal.h"
#include "net/pcap_file.h"

namespace coua::bench {
namespace {

constexpr const char* device = "net_null77";
constexpr std::uint16_t queues = 2;

/// A net_null, polled by the test itself.
class frame_loop_test : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    dp::eal_params eal;
    eal.huge_pages = false;
    eal.memory_mib = 64;
    ASSERT_TRUE(dp::start_eal(eal));
  }
  void SetUp() override { folder_ = scratch_folder::create().value(); }
  void TearDown() override {
    if (pool_ == nullptr) return;
    rte_eth_dev_stop(port_);
    rte_eal_hotplug_remove("vdev", device);
    rte_mempool_free(pool_);
  }

  void add_device(std::uint16_t room) {
    pool_ = rte_pktmbuf_pool_create("frames", 511, 0, 0,
                                    static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + room),
                                    SOCKET_ID_ANY);
    ASSERT_NE(pool_, nullptr);
    ASSERT_EQ(rte_eal_hotplug_add("vdev", device, "size=60"), 0);
    ASSERT_EQ(rte_eth_dev_get_port_by_name(device, &port_), 0);
    const rte_eth_conf plain{};
    ASSERT_EQ(rte_eth_dev_configure(port_, queues, 1, &plain), 0);
    for (std::uint16_t queue = 0; queue < queues; ++queue)
      ASSERT_EQ(rte_eth_rx_queue_setup(port_, queue, 64, SOCKET_ID_ANY, nullptr, pool_), 0);
    ASSERT_EQ(rte_eth_tx_queue_setup(port_, 0, 64, SOCKET_ID_ANY, nullptr), 0);
    ASSERT_EQ(rte_eth_dev_start(port_), 0);
  }

  /// One for each of these sizes, filled with 1, 2, 3...
  std::string frames(std::initializer_list<std::size_t> sizes) const {
    const std::string path = folder_->path() + "/frames.pcap";
    auto file = net::pcap_writer::create(path).value();
    std::uint8_t content = 0;
    for (const std::size_t size : sizes) {
      const std::vector<std::uint8_t> frame(size, ++content);
      EXPECT_TRUE(file.write(0, frame));
    }
    EXPECT_TRUE(file.close());
    return path;
  }

  /// The first byte of each, which is in all `bytes` of it.
  std::vector<unsigned> poll(std::uint16_t queue, std::uint16_t most, std::size_t bytes) const {
    std::array<rte_mbuf*, 64> packets{};
    const std::uint16_t n = rte_eth_rx_burst(port_, queue, packets.data(), most);
    std::vector<unsigned> out;
    for (std::uint16_t i = 0; i < n; ++i) {
      EXPECT_EQ(packets[i]->data_len, bytes);
      EXPECT_EQ(packets[i]->pkt_len, bytes);
      const auto* const data = rte_pktmbuf_mtod(packets[i], const std::uint8_t*);
      for (std::size_t at = 1; at < bytes; ++at) EXPECT_EQ(data[at], data[0]) << at;
      out.push_back(data[0]);
    }
    rte_pktmbuf_free_bulk(packets.data(), n);
    return out;
  }

  std::unique_ptr<scratch_folder> folder_;
  rte_mempool* pool_ = nullptr;
  std::uint16_t port_ = 0;
};

using list = std::vector<unsigned>;

TEST_F(frame_loop_test, each_queue_gets_all_frames_in_order_and_begins_again) {
  add_device(256);
  const auto running = frame_loop::start(device, frames({60, 60, 60}));
  ASSERT_TRUE(running) << running.error().message();
  EXPECT_EQ(poll(0, 2, 60), (list{1, 2}));
  EXPECT_EQ(poll(1, 4, 60), (list{1, 2, 3, 1}));
  EXPECT_EQ(poll(0, 4, 60), (list{3, 1, 2, 3}));
  EXPECT_EQ(poll(0, 1, 60), (list{1}));
}

TEST_F(frame_loop_test, frames_of_several_lines_arrive_whole) {
  add_device(256);
  const auto running = frame_loop::start(device, frames({129, 129}));
  ASSERT_TRUE(running) << running.error().message();
  EXPECT_EQ(poll(0, 3, 129), (list{1, 2, 1}));
}

TEST_F(frame_loop_test, when_it_goes_the_device_is_as_before) {
  add_device(256);
  for (int round = 0; round < 2; ++round) {
    auto running = frame_loop::start(device, frames({64, 64}));
    ASSERT_TRUE(running) << running.error().message();
    EXPECT_EQ(poll(0, 1, 64), (list{1}));
    running->reset();
    std::array<rte_mbuf*, 1> packet{};
    ASSERT_EQ(rte_eth_rx_burst(port_, 0, packet.data(), 1), 1);
    EXPECT_EQ(packet[0]->data_len, 60);
    rte_pktmbuf_free(packet[0]);
  }
}

TEST_F(frame_loop_test, a_packet_without_room_is_left_alone) {
  add_device(127);  // frames of 65 bytes take two lines
  const auto running = frame_loop::start(device, frames({65}));
  ASSERT_TRUE(running) << running.error().message();
  std::array<rte_mbuf*, 1> packet{};
  ASSERT_EQ(rte_eth_rx_burst(port_, 0, packet.data(), 1), 1);
  EXPECT_EQ(packet[0]->data_len, 60);
  rte_pktmbuf_free(packet[0]);
}

TEST_F(frame_loop_test, names_what_is_wrong) {
  const auto none = frame_loop::start(device, frames({}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), folder_->path() + "/frames.pcap: has no frames");
  for (const auto& sizes :
       {std::initializer_list<std::size_t>{60, 61}, {61, 60, 60, 60, 60, 60}, {0, 0}}) {
    const auto mixed = frame_loop::start(device, frames(sizes));
    ASSERT_FALSE(mixed);
    EXPECT_EQ(mixed.error().message(),
              folder_->path() + "/frames.pcap: its frames must have one size, of 1 to 65535 bytes");
  }
  const auto nowhere = frame_loop::start(device, folder_->path() + "/none.pcap");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, errc::not_found);
  const auto nobody = frame_loop::start("net_null78", frames({60}));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().message(), "net_null78: DPDK knows no such device");
}

}  // namespace
}  // namespace coua::bench
