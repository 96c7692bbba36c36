// SPDX-License-Identifier: Apache-2.0
#include "dp/packet_pool.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memzone.h>

#include <algorithm>
#include <atomic>

#include "base/log.h"

namespace coua::dp {
namespace {

// Two bursts of 128: deep enough that a worker seldom goes to the shared ring. A cache may hold 1.5
// times its size.
constexpr unsigned cache_packets = 256;
constexpr unsigned page_bytes = 4096;

struct free_memory {
  std::uint64_t bytes = 0, largest_piece = 0;
};

free_memory free_memory_of(int numa_node) {
  rte_malloc_socket_stats stats{};
  const int node = numa_node < 0 ? 0 : numa_node;
  if (rte_malloc_get_socket_stats(node, &stats) != 0) return {};
  return {stats.heap_freesz_bytes, stats.greatest_free_size};
}

// What is needed is rounded up, and what is there down, so that the one shows as more.
std::string mib(std::uint64_t bytes) { return std::to_string((bytes + 1048575) >> 20) + " MiB"; }
std::string whole_mib(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

std::string next_name() {
  static std::atomic<unsigned> serial{0};
  return "coua-pool" + std::to_string(serial.fetch_add(1));
}

unsigned cache_of(unsigned packets) { return std::min(cache_packets, packets * 2 / 3 / 2); }

int node_or_any(int numa_node) { return numa_node < 0 ? SOCKET_ID_ANY : numa_node; }

/// With whole pages, in one piece.
bool populate(rte_mempool* pool, const std::string& name) {
  const rte_memzone* zone = rte_memzone_reserve_aligned(
      name.c_str(), std::size_t{pool->size} * page_bytes, pool->socket_id, 0, page_bytes);
  if (zone == nullptr) return false;
  const auto free_zone = [](rte_mempool_memhdr*, void* its) {
    rte_memzone_free(static_cast<const rte_memzone*>(its));
  };
  const int n = rte_mempool_populate_iova(pool, static_cast<char*>(zone->addr), zone->iova,
                                          zone->len, free_zone, const_cast<rte_memzone*>(zone));
  if (n < 0) rte_memzone_free(zone);
  return n == static_cast<int>(pool->size);
}

/// As DPDK lays packets out where it has the choice: none crosses a page of ordinary memory, if it
/// fits into one.
std::uint64_t bytes_of(unsigned packets, unsigned room) {
  rte_mempool_objsz size{};
  const std::uint64_t each =
      rte_mempool_calc_obj_size(static_cast<std::uint32_t>(sizeof(rte_mbuf)) + room, 0, &size);
  if (rte_eal_has_hugepages() != 0 || each > page_bytes) return packets * each;
  const std::uint64_t in_a_page = page_bytes / each;
  return (packets + in_a_page - 1) / in_a_page * page_bytes;
}

tl::unexpected<error> no_memory(const std::string& where, unsigned packets, unsigned room,
                                std::uint64_t needed, int numa_node) {
  const auto [there, largest] = free_memory_of(numa_node);
  const std::string pieces = there > needed ? " in pieces of up to " + whole_mib(largest) : "";
  return fail(errc::no_memory, where,
              std::to_string(packets) + " packets of " + std::to_string(room) + " bytes need " +
                  mib(needed) + ", " + whole_mib(there) + " of packet memory are free" + pieces +
                  ": raise memory.packet_mib by at least " +
                  mib(needed > there ? needed - there : needed / 8) +
                  ", or lower mbufs or the descriptors");
}

}  // namespace

result<packet_pool> packet_pool::create(const std::string& where, unsigned packets, unsigned room,
                                        int numa_node) {
  packet_pool made;
  made.where_ = where;
  made.pool_ = rte_pktmbuf_pool_create(next_name().c_str(), packets, cache_of(packets), 0,
                                       static_cast<std::uint16_t>(room), node_or_any(numa_node));
  if (made.pool_ != nullptr) return made;
  return no_memory(where, packets, room, bytes_of(packets, room), numa_node);
}

result<packet_pool> packet_pool::create_of_pages(const std::string& where, unsigned packets,
                                                 int numa_node) {
  packet_pool made;
  made.where_ = where;
  const std::string name = next_name();
  made.pool_ = rte_mempool_create_empty(name.c_str(), packets, sizeof(rte_mbuf) + room_of_page(),
                                        cache_of(packets), sizeof(rte_pktmbuf_pool_private),
                                        node_or_any(numa_node), RTE_MEMPOOL_F_NO_SPREAD);
  rte_pktmbuf_pool_private rooms{};
  rooms.mbuf_data_room_size = static_cast<std::uint16_t>(room_of_page());
  if (made.pool_ != nullptr &&
      rte_mempool_set_ops_byname(made.pool_, rte_mbuf_best_mempool_ops(), nullptr) == 0) {
    rte_pktmbuf_pool_init(made.pool_, &rooms);
    if (populate(made.pool_, name)) {
      rte_mempool_obj_iter(made.pool_, rte_pktmbuf_init, nullptr);
      return made;
    }
  }
  rte_mempool_free(std::exchange(made.pool_, nullptr));
  return no_memory(where, packets, room_of_page(), std::uint64_t{packets} * page_bytes, numa_node);
}

unsigned packet_pool::room_of_page() {
  rte_mempool_objsz size{};
  rte_mempool_calc_obj_size(sizeof(rte_mbuf), RTE_MEMPOOL_F_NO_SPREAD, &size);
  return page_bytes - size.total_size;
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
