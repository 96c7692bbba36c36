// SPDX-License-Identifier: Apache-2.0
//
// For Open vSwitch, which is started with this library before DPDK's: its pool of packets that all
// ports share has 262,144, whatever memory there is, and net_pcap keeps every packet that it
// repeats in one of them. Here that pool gets as many as COUA_BENCH_PACKETS says; nothing else
// changes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct rte_mempool;
typedef struct rte_mempool* creation(const char*, unsigned, unsigned, uint16_t, uint16_t, int);

struct rte_mempool* rte_pktmbuf_pool_create(const char* name, unsigned n, unsigned cache_size,
                                            uint16_t priv_size, uint16_t data_room_size,
                                            int socket_id);

struct rte_mempool* rte_pktmbuf_pool_create(const char* name, unsigned n, unsigned cache_size,
                                            uint16_t priv_size, uint16_t data_room_size,
                                            int socket_id) {
  const unsigned shared_pool = 262144;  // Open vSwitch goes on with less when it cannot have it
  const char* const wanted = getenv("COUA_BENCH_PACKETS");
  creation* next;
  *(void**)&next = dlsym(RTLD_NEXT, "rte_pktmbuf_pool_create");
  if (next == NULL) abort();
  if (n == shared_pool && wanted != NULL) n = (unsigned)strtoul(wanted, NULL, 10);
  return next(name, n, cache_size, priv_size, data_room_size, socket_id);
}
