// SPDX-License-Identifier: Apache-2.0
//
// Open vSwitch has one pool of packets that all ports share, of 262,144, whatever memory there is,
// and net_pcap keeps every packet that it repeats in one of them. With this library before DPDK's
// that pool gets as many as COUA_BENCH_PACKETS says.
#include <rte_mbuf.h>

#include <cstdint>
#include <cstdlib>

#include "bench/forward/preload/next_function.h"

namespace {

constexpr unsigned shared_pool = 262'144;  // Open vSwitch goes on with less when it cannot have it

}  // namespace

extern "C" COUA_BENCH_SEEN rte_mempool* rte_pktmbuf_pool_create(const char* name, unsigned n,
                                                                unsigned cache_size,
                                                                std::uint16_t priv_size,
                                                                std::uint16_t data_room_size,
                                                                int socket_id) {
  const auto next = coua::bench::next_function(&rte_pktmbuf_pool_create, "rte_pktmbuf_pool_create");
  const char* const wanted = std::getenv("COUA_BENCH_PACKETS");
  if (n == shared_pool && wanted != nullptr)
    n = static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
  return next(name, n, cache_size, priv_size, data_room_size, socket_id);
}
