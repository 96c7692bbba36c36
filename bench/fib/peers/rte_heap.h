// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/arena.h"
#include "base/result.h"

namespace coua::bench {

/// A heap of DPDK's allocator on pages of our choice; the EAL's own would be 4 KiB pages without
/// reserved huge ones. The EAL must run (eal.h).
class rte_heap {
 public:
  /// What the allocator takes for itself, at most.
  static constexpr std::uint64_t slack = std::uint64_t{8} << 20;

  /// With room for `bytes`. Errors: no_memory, invalid; they name `owner`.
  static result<std::unique_ptr<rte_heap>> create(const std::string& owner, std::uint64_t bytes,
                                                  page_kind pages);
  ~rte_heap();  // all that was allocated must be free again
  rte_heap(const rte_heap&) = delete;
  rte_heap& operator=(const rte_heap&) = delete;

  /// The socket that means this heap to DPDK's functions.
  int socket() const { return socket_; }
  /// A name that nobody else uses.
  const std::string& id() const { return id_; }
  std::uint64_t bytes_allocated() const;
  page_kind pages() const { return memory_.pages(); }

 private:
  rte_heap() = default;

  std::string id_;
  arena memory_;
  bool exists_ = false, has_memory_ = false;
  int socket_ = -1;
};

}  // namespace coua::bench
