// SPDX-License-Identifier: Apache-2.0
#include "dp/packet_pool.h"

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <atomic>

#include "base/log.h"

namespace coua::dp {
namespace {

// Two bursts of 128: deep enough that a worker seldom goes to the shared ring. A cache may hold 1.5
// times its size.
constexpr unsigned cache_packets = 256;

std::uint64_t free_bytes(int numa_node) {
  rte_malloc_socket_stats stats{};
  const int node = numa_node < 0 ? 0 : numa_node;
  return rte_malloc_get_socket_stats(node, &stats) == 0 ? stats.heap_freesz_bytes : 0;
}

std::string mib(std::uint64_t bytes) { return std::to_string((bytes + 1048575) >> 20) + " MiB"; }

}  // namespace

result<packet_pool> packet_pool::create(const std::string& where, unsigned packets, unsigned room,
                                        int numa_node) {
  static std::atomic<unsigned> serial{0};
  const std::string name = "coua-pool" + std::to_string(serial.fetch_add(1));
  const unsigned cache = std::min(cache_packets, packets * 2 / 3 / 2);
  packet_pool made;
  made.where_ = where;
  made.pool_ =
      rte_pktmbuf_pool_create(name.c_str(), packets, cache, 0, static_cast<std::uint16_t>(room),
                              numa_node < 0 ? SOCKET_ID_ANY : numa_node);
  if (made.pool_ != nullptr) return made;
  const std::uint64_t needed = std::uint64_t{packets} * (room + sizeof(rte_mbuf) + 64);
  const std::uint64_t there = free_bytes(numa_node);
  return fail(errc::no_memory, where,
              std::to_string(packets) + " packets of " + std::to_string(room) + " bytes need " +
                  mib(needed) + ", " + mib(there) +
                  " of packet memory are free: raise memory.packet_mib by at least " +
                  mib(needed > there ? needed - there : needed / 8) +
                  ", or lower mbufs or the descriptors");
}

packet_pool::~packet_pool() {
  if (pool_ == nullptr) return;
  const unsigned out = in_use();
  if (out == 0) {
    rte_mempool_free(pool_);
    return;
  }
  const std::uint64_t each = pool_->header_size + pool_->elt_size + pool_->trailer_size;
  log_warning("%s: %u packets did not come back: their pool of %s stays with the process",
              where_.c_str(), out, mib(pool_->size * each).c_str());
}

unsigned packet_pool::in_use() const {
  return pool_ == nullptr ? 0 : rte_mempool_in_use_count(pool_) - lost_;
}

}  // namespace coua::dp
