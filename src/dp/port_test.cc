// SPDX-License-Identifier: Apache-2.0
//
// What a port asks of its device.
#include "dp/port.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rte_ethdev.h>

#include <map>

#include "dp/eal.h"
#include "dp/test_ring_port.h"

namespace coua::dp {
namespace {

/// By the queue's number.
std::map<unsigned, unsigned> rx_descriptors, tx_descriptors;
rte_eth_conf asked;

template <typename Function>
Function real(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace coua::dp

// In front of DPDK's own: no driver that needs no privileges answers what it was asked for.
extern "C" int rte_eth_dev_configure(std::uint16_t device, std::uint16_t rx, std::uint16_t tx,
                                     const rte_eth_conf* conf) {
  static const auto next = coua::dp::real(&rte_eth_dev_configure, "rte_eth_dev_configure");
  coua::dp::asked = *conf;
  coua::dp::rx_descriptors.clear();
  coua::dp::tx_descriptors.clear();
  return next(device, rx, tx, conf);
}
extern "C" int rte_eth_rx_queue_setup(std::uint16_t device, std::uint16_t queue, std::uint16_t n,
                                      unsigned node, const rte_eth_rxconf* conf,
                                      rte_mempool* pool) {
  static const auto next = coua::dp::real(&rte_eth_rx_queue_setup, "rte_eth_rx_queue_setup");
  coua::dp::rx_descriptors[queue] = n;
  return next(device, queue, n, node, conf, pool);
}
extern "C" int rte_eth_tx_queue_setup(std::uint16_t device, std::uint16_t queue, std::uint16_t n,
                                      unsigned node, const rte_eth_txconf* conf) {
  static const auto next = coua::dp::real(&rte_eth_tx_queue_setup, "rte_eth_tx_queue_setup");
  coua::dp::tx_descriptors[queue] = n;
  return next(device, queue, n, node, conf);
}

namespace coua::dp {
namespace {

class port_test : public ::testing::Test {
 protected:
  using queues = std::map<unsigned, unsigned>;
  void SetUp() override {
    eal_params eal;
    eal.huge_pages = false;
    eal.memory_mib = 256;
    ASSERT_TRUE(start_eal(eal));
    config_.name = "tested";
    config_.devargs = "net_null_tested";
  }
  std::unique_ptr<port> open(unsigned workers) {
    const std::vector<worker_place> places(workers);
    port_limits limits;
    limits.places = places;
    limits.workers_all = workers;
    auto opened = port::open(config_, limits);
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? std::move(*opened) : nullptr;
  }
  port_config config_;
};

TEST_F(port_test, has_a_queue_of_each_kind_for_each_worker_unless_told_otherwise) {
  auto opened = open(3);
  ASSERT_NE(opened, nullptr);
  rte_eth_dev_info device{};
  ASSERT_EQ(rte_eth_dev_info_get(opened->device(), &device), 0);
  EXPECT_EQ(device.nb_rx_queues, 3);
  EXPECT_EQ(device.nb_tx_queues, 3);
  EXPECT_FALSE(opened->tx_shared());
  EXPECT_EQ(rx_descriptors, (queues{{0, 1024}, {1, 1024}, {2, 1024}}));
  EXPECT_EQ(tx_descriptors, rx_descriptors);
  opened.reset();

  config_.rx_queues = 4;
  config_.tx_queues = 2;
  config_.rx_descriptors = 128;
  config_.tx_descriptors = 512;
  opened = open(3);
  ASSERT_NE(opened, nullptr);
  ASSERT_EQ(rte_eth_dev_info_get(opened->device(), &device), 0);
  EXPECT_EQ(device.nb_rx_queues, 4);
  EXPECT_EQ(device.nb_tx_queues, 2);
  EXPECT_TRUE(opened->tx_shared());
  EXPECT_EQ(rx_descriptors, (queues{{0, 128}, {1, 128}, {2, 128}, {3, 128}}));
  EXPECT_EQ(tx_descriptors, (queues{{0, 512}, {1, 512}}));
}

TEST_F(port_test, spreads_what_it_receives_over_its_queues) {
  auto opened = open(2);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(asked.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
  EXPECT_EQ(asked.rx_adv_conf.rss_conf.rss_hf & RTE_ETH_RSS_IP, RTE_ETH_RSS_IP);
  opened.reset();
  opened = open(1);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(asked.rxmode.mq_mode, RTE_ETH_MQ_RX_NONE);
}

TEST_F(port_test, is_promiscuous_or_not) {
  test_ring_port ring("tested");
  config_.devargs = ring.devargs();
  for (const bool on : {true, false}) {
    config_.promiscuous = on;
    auto opened = open(1);
    ASSERT_NE(opened, nullptr);
    EXPECT_EQ(rte_eth_promiscuous_get(opened->device()), on);
    port_config other = config_;
    other.promiscuous = !on;
    ASSERT_TRUE(opened->update(other));
    EXPECT_EQ(rte_eth_promiscuous_get(opened->device()), !on);
    opened.reset();
    ring.make();
  }
  config_.promiscuous = true;
  ASSERT_NE(open(1), nullptr);  // its device was made a last time, and goes with the port
}

}  // namespace
}  // namespace coua::dp
