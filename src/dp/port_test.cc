// SPDX-License-Identifier: Apache-2.0
//
// What a port asks of its device.
#include "dp/port.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "dp/eal.h"
#include "dp/test_ring_port.h"

namespace coua::dp {
namespace {

/// By the queue's number.
std::map<unsigned, unsigned> rx_descriptors, tx_descriptors;
std::map<unsigned, int> rx_nodes, tx_nodes, pool_nodes;
rte_eth_conf asked;
std::optional<int> node_of_devices;  // that they are said to be on
std::map<const rte_mempool*, int> node_asked_for;
unsigned n_still_running = 0;  // as often a callback is said to run when it is taken back

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
  for (auto* nodes : {&coua::dp::rx_nodes, &coua::dp::tx_nodes, &coua::dp::pool_nodes})
    nodes->clear();
  return next(device, rx, tx, conf);
}
extern "C" int rte_eth_rx_queue_setup(std::uint16_t device, std::uint16_t queue, std::uint16_t n,
                                      unsigned node, const rte_eth_rxconf* conf,
                                      rte_mempool* pool) {
  static const auto next = coua::dp::real(&rte_eth_rx_queue_setup, "rte_eth_rx_queue_setup");
  coua::dp::rx_descriptors[queue] = n;
  coua::dp::rx_nodes[queue] = static_cast<int>(node);
  coua::dp::pool_nodes[queue] = coua::dp::node_asked_for.at(pool);
  return next(device, queue, n, node, conf, pool);
}
extern "C" int rte_eth_tx_queue_setup(std::uint16_t device, std::uint16_t queue, std::uint16_t n,
                                      unsigned node, const rte_eth_txconf* conf) {
  static const auto next = coua::dp::real(&rte_eth_tx_queue_setup, "rte_eth_tx_queue_setup");
  coua::dp::tx_descriptors[queue] = n;
  coua::dp::tx_nodes[queue] = static_cast<int>(node);
  return next(device, queue, n, node, conf);
}
extern "C" int rte_eth_dev_socket_id(std::uint16_t device) {
  static const auto next = coua::dp::real(&rte_eth_dev_socket_id, "rte_eth_dev_socket_id");
  return coua::dp::node_of_devices.value_or(next(device));
}
// As DPDK does while another thread is in the callback: it stays.
extern "C" int rte_eth_dev_callback_unregister(std::uint16_t device, rte_eth_event_type event,
                                               rte_eth_dev_cb_fn callback, void* argument) {
  static const auto next =
      coua::dp::real(&rte_eth_dev_callback_unregister, "rte_eth_dev_callback_unregister");
  if (coua::dp::n_still_running == 0) return next(device, event, callback, argument);
  --coua::dp::n_still_running;
  return -EAGAIN;
}
// The node may not be there: what is asked for counts.
extern "C" rte_mempool* rte_pktmbuf_pool_create(const char* name, unsigned n, unsigned cache,
                                                std::uint16_t own, std::uint16_t room, int node) {
  static const auto next = coua::dp::real(&rte_pktmbuf_pool_create, "rte_pktmbuf_pool_create");
  rte_mempool* const made =
      next(name, n, cache, own, room, coua::dp::node_of_devices ? SOCKET_ID_ANY : node);
  coua::dp::node_asked_for[made] = node;
  return made;
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
  void TearDown() override {
    node_of_devices.reset();
    test_ring_port::say_dropped(std::nullopt);
  }
  std::unique_ptr<port> open(unsigned workers) { return open(std::vector<worker_place>(workers)); }
  std::unique_ptr<port> open(const std::vector<worker_place>& places) {
    port_limits limits;
    limits.places = places;
    limits.workers_all = static_cast<unsigned>(places.size());
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

TEST_F(port_test, has_its_packets_and_queues_on_the_node_of_its_device) {
  using nodes = std::map<unsigned, int>;
  const std::vector<worker_place> places{{0, 0}, {1, 1}, {2, 1}, {3, 0}, {4, 1}};
  node_of_devices = 1;
  auto opened = open(places);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(opened->numa_node(), 1);
  // Only workers of that node poll it; all of them send.
  EXPECT_EQ(rx_nodes, (nodes{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(tx_nodes, (nodes{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
  EXPECT_EQ(pool_nodes, rx_nodes);
  opened.reset();

  node_of_devices = SOCKET_ID_ANY;  // a virtual device
  opened = open(places);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(rx_nodes.size(), places.size());
  for (const auto& each : {rx_nodes, tx_nodes, pool_nodes}) {
    for (const auto& [queue, node] : each) EXPECT_EQ(node, SOCKET_ID_ANY) << queue;
  }
}

// Red when two of them are mixed up, or a bond shows those of one member.
TEST_F(port_test, counts_what_its_device_dropped_by_the_reason) {
  using counts = std::map<std::string, std::uint64_t>;
  const auto counts_of = [](const port& one) {
    counts found;
    for (const counter& each : one.device_counters()) found[each.name] = each.value;
    return found;
  };
  test_ring_port::say_dropped({{1, 20, 300, 4000}});
  auto opened = open(1);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(
      counts_of(*opened),
      (counts{{"rx_missed", 1}, {"rx_errors", 20}, {"rx_no_mbuf", 300}, {"tx_errors", 4000}}));
  opened.reset();

  config_.devargs.clear();
  config_.bond.members = {"net_null_tested1", "net_null_tested2"};
  opened = open(1);
  ASSERT_NE(opened, nullptr);
  EXPECT_EQ(
      counts_of(*opened),
      (counts{{"rx_missed", 2}, {"rx_errors", 40}, {"rx_no_mbuf", 600}, {"tx_errors", 8000}}));
}

// Red when the counters of a bond go back.
TEST_F(port_test, a_bond_keeps_what_members_that_left_have_counted) {
  config_.devargs.clear();
  config_.bond.members = {"net_null_tested1", "net_null_tested2"};
  auto opened = open(1);
  ASSERT_NE(opened, nullptr);
  const auto missed = [&] { return opened->device_counters()[0]; };
  test_ring_port::say_dropped({{100, 0, 0, 0}});
  EXPECT_EQ(missed().value, 200u);
  port::member_list coming;
  coming.emplace_back();
  EXPECT_EQ(opened->change_members({"net_null_tested2"}, std::move(coming)).size(), 1u);
  EXPECT_EQ(missed().name, "rx_missed");
  EXPECT_EQ(missed().value, 200u);
  test_ring_port::say_dropped({{103, 0, 0, 0}});
  EXPECT_EQ(missed().value, 203u);
}

// Red when the port goes while DPDK's interrupt thread still writes into it.
TEST_F(port_test, goes_only_when_its_callback_runs_no_more) {
  auto opened = open(1);
  ASSERT_NE(opened, nullptr);
  n_still_running = 3;
  opened.reset();
  EXPECT_EQ(std::exchange(n_still_running, 0u), 0u);
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
