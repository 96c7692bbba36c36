// SPDX-License-Identifier: Apache-2.0
//
// The packets (mbufs) that one port receives into, on the port's NUMA node.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

struct rte_mempool;

namespace coua::dp {

/// Owns a DPDK pool. Freeing it while a packet is out would pull the memory from under a driver, so
/// the owner keeps it until none is; the destructor of a pool that is not idle leaves it to the
/// process, and says so in the log.
class packet_pool {
 public:
  packet_pool() = default;
  packet_pool(packet_pool&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        lost_(std::exchange(other.lost_, 0)),
        where_(std::move(other.where_)) {}
  packet_pool& operator=(packet_pool&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(lost_, other.lost_);
    std::swap(where_, other.where_);
    return *this;
  }
  ~packet_pool();

  /// `where`: whose it is, for messages. `room`: bytes for a frame, headroom included. Errors:
  /// no_memory, with what is missing.
  static result<packet_pool> create(const std::string& where, unsigned packets, unsigned room,
                                    int numa_node);
  /// For the AF_XDP driver of DPDK 22.11, which gives the kernel `packets` times the size of one,
  /// from the first on: in a pool whose packets do not fill pages there are gaps, and the kernel
  /// refuses frames for the last ones. Here each packet is one page of 4,096 bytes, as long as the
  /// kernel takes them, and no gap between them. Errors: no_memory.
  static result<packet_pool> create_of_pages(const std::string& where, unsigned packets,
                                             int numa_node);
  /// Bytes for a frame in a packet of one page, headroom included.
  static unsigned room_of_page();

  rte_mempool* get() const { return pool_; }
  explicit operator bool() const { return pool_ != nullptr; }
  /// Packets that are not in the pool now, but for lost ones. Exact only while nobody uses it.
  unsigned in_use() const;
  /// So many packets are not in the pool, and nobody has them.
  void lose(unsigned packets) { lost_ += packets; }

 private:
  rte_mempool* pool_ = nullptr;
  unsigned lost_ = 0;
  std::string where_;
};

}  // namespace coua::dp
