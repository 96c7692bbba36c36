// SPDX-License-Identifier: Apache-2.0
//
// Memory for tables. A random look-up misses the TLB as often as the cache: from 1 GiB on, 4 KiB
// pages halve the rate of random line reads, so a table asks for the largest pages that it fills.
//
//   order tried     taken when                                      how
//   1 GiB pages     rounding_pays(), and enough are free            mmap(MAP_HUGETLB | 1 GiB)
//   2 MiB pages     likewise                                        mmap(MAP_HUGETLB | 2 MiB)
//   transparent     the request is 2 MiB or more and the kernel     mmap + madvise(MADV_HUGEPAGE)
//                   allows it; starts on a 2 MiB boundary
//   4 KiB pages     always                                          mmap + MADV_NOHUGEPAGE
//
// So a small table never takes a large page for itself, and one of 16 MiB or more stays below 8.6
// bytes per entry at load 0.95 (slots of 8 bytes), whatever pages it gets. A kind that is asked for
// by name is tried alone, whatever it wastes.
//
// Everything is populated at creation, in parallel, and bound to a NUMA node if one is given: a
// shortage is an error then, not a SIGBUS when the first packet touches the page. Ordinary memory
// is also compared with what the system has available before it is touched, because the kernel
// would sooner kill a process than refuse. Without a node, and unless the process has a memory
// policy of its own (numactl), the memory comes from the creating thread's node while it lasts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace coua {

enum class page_kind { automatic, gib1, mib2, transparent, kib4, caller };
const char* to_string(page_kind kind);

/// Whether the automatic choice rounds a request up to whole pages of `page` bytes: below 16 MiB
/// when that wastes at most half a page, from there on when it wastes less than 1/48 of the
/// request.
bool rounding_pays(std::size_t bytes, std::size_t page);

struct arena_params {
  page_kind pages = page_kind::automatic;  // a kind other than automatic is tried alone
  int numa_node = -1;                      // -1: wherever the creating thread runs
  unsigned populate_threads = 0;           // 0: as many as the process may use, at most 16
  bool populate = true;                    // false: sparse, for what is hardly ever touched, and
                                           // for tests of 64-bit arithmetic; automatic then means
                                           // 4 KiB pages
  // The caller's own allocator, used instead of mmap when both are set. `allocate` returns zeroed
  // memory aligned to `alignment` bytes, or null.
  void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment) = nullptr;
  void (*release)(void* context, void* memory, std::size_t bytes) = nullptr;
  void* context = nullptr;
};

/// One zeroed block of memory, released by the destructor. Movable, not copyable.
class arena {
 public:
  /// `bytes` 1 to 2^46, `alignment` a power of two <= 4096. Errors: no_memory (says which page kind
  /// was asked for, how many bytes, and how to get them), invalid, not_found (the NUMA node),
  /// denied (the node cannot be bound), unsupported (the kernel lacks the kind), io. Any thread.
  static result<arena> create(std::size_t bytes, const arena_params& params = {},
                              std::size_t alignment = 64);
  /// Owns a mapping that the caller made: `mapped` bytes at `data`, whole pages, `bytes` of them in
  /// use. Ordinary pages, bound to no node.
  static arena of_mapping(void* data, std::size_t bytes, std::size_t mapped);
  arena() = default;
  arena(arena&& other) noexcept { *this = std::move(other); }
  arena& operator=(arena&& other) noexcept;
  ~arena();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }          // as asked for
  std::size_t bytes_mapped() const { return mapped_; }  // as taken from the system
  page_kind pages() const { return pages_; }            // what it got
  int numa_node() const { return numa_node_; }          // -1 when not bound
  /// "8.0 GiB on 2 MiB pages, node 0"
  std::string describe() const;

 private:
  static result<arena> create_from_caller(std::size_t bytes, const arena_params& params,
                                          std::size_t alignment);
  static arena adopt(void* data, std::size_t bytes, std::size_t mapped, page_kind kind,
                     const arena_params& params);

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
  page_kind pages_ = page_kind::kib4;
  int numa_node_ = -1;
  void (*release_)(void*, void*, std::size_t) = nullptr;
  void* context_ = nullptr;
};

}  // namespace coua
