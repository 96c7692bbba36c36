// SPDX-License-Identifier: Apache-2.0
//
// dpdk_firewall [EAL options] -- [--run-ms N] [--packets N] [--unit-ms N] [--idle-units N]
//               [--flows N]
//
// A stateful firewall between the first two DPDK ports, on one core. What comes in at the first
// port (inside) passes, and opens or renews its flow; what comes in at the second (outside) passes
// if its flow is open, and renews it. Only TCP and UDP over IPv4 pass at all.
//
// What it shows: whole bursts as batches; look-up and insert in one pass for the inside, look-up
// with renewal for the outside; values that are the numbers of slab cells; a callback that gives
// the cells of expired flows back; a share of the sweep when no packet comes. One thread shares
// nothing: with several cores, give each its own table, and let RSS send both directions of a flow
// to one core. Stop it by SIGINT, by --run-ms, or by --packets.
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <coua/flow_table.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "five_tuple.h"

namespace {

constexpr unsigned burst = 32;
constexpr std::uint16_t n_descriptors = 512;

struct options {
  std::uint64_t run_ms = 0;   // 0: until SIGINT
  std::uint64_t packets = 0;  // until so many came in and no flow is left; 0: until SIGINT
  std::uint32_t unit_ms = 1000;
  std::uint32_t idle_units = 60;
  std::uint64_t flows = 1'000'000;
};

struct flow_state {
  std::uint64_t from_inside, from_outside;
};

struct counts {
  std::uint64_t inside, outside, passed, dropped, other, opened, expired, refused;
};

volatile std::sig_atomic_t stopped = 0;

/// What is taken of a burst into the table: packets with their keys, side by side.
struct batch {
  unsigned n = 0;
  std::array<rte_mbuf*, burst> packets;
  std::array<five_tuple, burst> keys;
};

class firewall {
 public:
  /// 0, or a negative errno after saying why.
  int create(const options& wanted, std::uint64_t now_ms) {
    coua_flow_params params = COUA_FLOW_PARAMS_INIT;
    params.entries = wanted.flows;
    params.timers = 1;
    params.unit_ms = wanted.unit_ms;
    params.now_ms = now_ms;
    idle_units_ = wanted.idle_units;
    std::string why;
    int rc = flows_.create(params, flows_, expired_, &why);
    if (rc == 0) rc = flows_.open(reader_);
    // Beside the table's own, one for each packet of a burst.
    if (rc == 0) rc = states_.create(flows_.stats().slots + burst, states_);
    if (rc != 0) std::fprintf(stderr, "dpdk_firewall: no flow table: %s (%d)\n", why.c_str(), rc);
    return rc;
  }

  void set_time(std::uint64_t now_ms) { flows_.set_time(now_ms); }
  /// For times without packets.
  void sweep() { flows_.sweep(64); }
  bool has_ended(std::uint64_t n_packets) const {
    return counts_.inside + counts_.outside >= n_packets && flows_.stats().entries == 0;
  }

  /// Each takes a burst, frees what does not pass, leaves the rest; returns how many these are.
  std::uint16_t from_inside(rte_mbuf** packets, std::uint16_t n) {
    counts_.inside += n;
    batch batch = sort_out(packets, n);
    // Every key is offered a cell; keys that have one already say which.
    std::array<std::uint32_t, burst> fresh, cells;
    for (unsigned i = 0; i < batch.n; ++i) {
      if (states_.take(fresh[i]) != 0) rte_exit(EXIT_FAILURE, "a cell was lost\n");
    }
    std::copy_n(fresh.begin(), batch.n, cells.begin());
    std::array<std::int8_t, burst> results;
    flows_.find_or_add_batch(std::span(batch.keys).first(batch.n), cells, idle_units_, results);
    std::uint16_t n_pass = 0;
    for (unsigned i = 0; i < batch.n; ++i) {
      if (results[i] == COUA_FLOW_ADDED) {
        states_[cells[i]] = {};
        ++counts_.opened;
      } else {
        states_.give(fresh[i]);
      }
      if (results[i] == COUA_FLOW_FULL || results[i] < 0) {
        ++counts_.refused;
        drop(batch.packets[i]);
        continue;
      }
      ++states_[cells[i]].from_inside;
      packets[n_pass++] = batch.packets[i];
    }
    counts_.passed += n_pass;
    return n_pass;
  }

  std::uint16_t from_outside(rte_mbuf** packets, std::uint16_t n) {
    counts_.outside += n;
    const batch batch = sort_out(packets, n);
    std::array<std::uint32_t, burst> cells;
    std::array<std::uint64_t, coua::api::flow_words(burst)> hits;
    reader_.lookup_refresh(std::span(batch.keys).first(batch.n), cells, hits, idle_units_);
    std::uint16_t n_pass = 0;
    for (unsigned i = 0; i < batch.n; ++i) {
      if (!coua::api::flow_hit(hits, i)) {
        drop(batch.packets[i]);
        continue;
      }
      ++states_[cells[i]].from_outside;
      packets[n_pass++] = batch.packets[i];
    }
    counts_.passed += n_pass;
    return n_pass;
  }

  void print() const {
    const coua_flow_stats stats = flows_.stats();
    std::printf(
        "inside %lu outside %lu passed %lu dropped %lu other %lu opened %lu expired %lu live %lu "
        "refused %lu answered %lu\n",
        counts_.inside, counts_.outside, counts_.passed, counts_.dropped, counts_.other,
        counts_.opened, counts_.expired, stats.entries, counts_.refused, answered_);
  }

 private:
  /// Told by the table, in the middle of its calls: calls nothing of it.
  struct on_expired {
    firewall& owner;
    void operator()(const five_tuple&, std::uint32_t cell) const {
      owner.answered_ += owner.states_[cell].from_outside != 0;
      owner.states_.give(cell);
      ++owner.counts_.expired;
    }
  };

  batch sort_out(rte_mbuf** packets, std::uint16_t n) {
    batch batch;
    for (unsigned i = 0; i < n; ++i) {
      packet_facts facts;
      if (read_five_tuple(rte_pktmbuf_mtod(packets[i], const std::uint8_t*),
                          rte_pktmbuf_data_len(packets[i]), &batch.keys[batch.n], &facts) == 0) {
        ++counts_.other;
        drop(packets[i]);
        continue;
      }
      batch.packets[batch.n++] = packets[i];
    }
    return batch;
  }
  void drop(rte_mbuf* packet) {
    ++counts_.dropped;
    rte_pktmbuf_free(packet);
  }

  coua::api::flow_slab<flow_state> states_;
  on_expired expired_{*this};
  coua::api::flow_table<five_tuple, std::uint32_t> flows_;
  coua::api::flow_reader<five_tuple, std::uint32_t> reader_;
  std::uint32_t idle_units_ = 0;
  std::uint64_t answered_ = 0;  // expired flows that had an answer from outside
  counts counts_{};
};

int start_port(std::uint16_t port, rte_mempool* pool) {
  const rte_eth_conf conf{};
  int rc = rte_eth_dev_configure(port, 1, 1, &conf);
  if (rc == 0) {
    rc = rte_eth_rx_queue_setup(port, 0, n_descriptors, SOCKET_ID_ANY, nullptr, pool);
  }
  if (rc == 0) rc = rte_eth_tx_queue_setup(port, 0, n_descriptors, SOCKET_ID_ANY, nullptr);
  if (rc == 0) rc = rte_eth_dev_start(port);
  if (rc == 0) rc = rte_eth_promiscuous_enable(port);
  return rc == -ENOTSUP ? 0 : rc;  // a port that sees everything anyway
}

void send(std::uint16_t port, rte_mbuf** packets, std::uint16_t n) {
  const std::uint16_t n_sent = rte_eth_tx_burst(port, 0, packets, n);
  if (n_sent < n) rte_pktmbuf_free_bulk(packets + n_sent, n - n_sent);
}

std::uint64_t clock_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

void run(firewall& firewall, std::uint16_t inside, std::uint16_t outside, const options& wanted) {
  const std::uint64_t started_ms = clock_ms();
  std::array<rte_mbuf*, burst> packets;
  while (stopped == 0) {
    const std::uint64_t now_ms = clock_ms();
    if (wanted.run_ms != 0 && now_ms - started_ms >= wanted.run_ms) break;
    if (wanted.packets != 0 && firewall.has_ended(wanted.packets)) break;
    firewall.set_time(now_ms);
    const std::uint16_t n_out = rte_eth_rx_burst(inside, 0, packets.data(), burst);
    if (n_out > 0) send(outside, packets.data(), firewall.from_inside(packets.data(), n_out));
    const std::uint16_t n_in = rte_eth_rx_burst(outside, 0, packets.data(), burst);
    if (n_in > 0) send(inside, packets.data(), firewall.from_outside(packets.data(), n_in));
    if (n_out + n_in == 0) firewall.sweep();
  }
}

bool read_options(int argc, char** argv, options& wanted) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--run-ms") {
      wanted.run_ms = value;
    } else if (name == "--packets") {
      wanted.packets = value;
    } else if (name == "--unit-ms") {
      wanted.unit_ms = static_cast<std::uint32_t>(value);
    } else if (name == "--idle-units" && value >= 1 && value <= COUA_FLOW_UNITS_MAX) {
      wanted.idle_units = static_cast<std::uint32_t>(value);
    } else if (name == "--flows") {
      wanted.flows = value;
    } else {
      return false;
    }
  }
  return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int n_eal = rte_eal_init(argc, argv);
  if (n_eal < 0) rte_exit(EXIT_FAILURE, "DPDK does not start\n");
  options wanted;
  if (!read_options(argc - n_eal, argv + n_eal, wanted)) {
    rte_exit(EXIT_FAILURE,
             "usage: dpdk_firewall [EAL options] -- [--run-ms N] [--packets N] [--unit-ms N] "
             "[--idle-units 1..1024] [--flows N]\n");
  }
  if (rte_eth_dev_count_avail() < 2) rte_exit(EXIT_FAILURE, "two ports are needed\n");
  rte_mempool* pool = rte_pktmbuf_pool_create("packets", 4095, 128, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
                                              static_cast<int>(rte_socket_id()));
  if (pool == nullptr) rte_exit(EXIT_FAILURE, "no memory for packets\n");
  std::array<std::uint16_t, 2> ports{};
  std::uint16_t port;
  std::size_t n_ports = 0;
  RTE_ETH_FOREACH_DEV(port) {
    if (n_ports == 2) break;
    ports[n_ports++] = port;
    if (const int rc = start_port(port, pool); rc != 0) {
      rte_exit(EXIT_FAILURE, "port %u does not start: %s\n", port, rte_strerror(-rc));
    }
  }
  std::signal(SIGINT, [](int) { stopped = 1; });
  firewall firewall;
  if (firewall.create(wanted, clock_ms()) != 0) rte_exit(EXIT_FAILURE, "stopped\n");
  run(firewall, ports[0], ports[1], wanted);
  firewall.print();
  for (const std::uint16_t each : ports) {
    rte_eth_dev_stop(each);
    rte_eth_dev_close(each);
  }
  rte_eal_cleanup();
  return 0;
}
