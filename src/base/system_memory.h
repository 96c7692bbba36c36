// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says about memory: free huge pages, memory that can be had without swapping or
// killing, NUMA nodes. Linux only; where a file is missing the answer is "not limited" or "none".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coua {

/// The pool of huge pages of one size, of the whole machine or of one NUMA node (`node` >= 0).
struct huge_page_pool {
  bool exists = false;  // the kernel has this page size
  std::uint64_t total = 0, free = 0;
  std::string file;  // that sets the number of pages
};
huge_page_pool read_huge_page_pool(std::size_t page_bytes, int node);

/// The command that makes `missing` more pages available in that pool.
std::string huge_page_command(std::size_t page_bytes, int node, std::uint64_t missing);

/// False when transparent huge pages are switched off ("never") or unknown to the kernel.
bool transparent_huge_pages_allowed();

/// Bytes that this process can still take, of the whole machine or of one node: the least of
/// MemAvailable and what memory control groups (version 2) leave. UINT64_MAX: not known.
std::uint64_t available_memory(int node = -1);

bool numa_node_exists(int node);
unsigned numa_nodes_online();  // at least 1

/// The first number after `field` in a file, or after its start when `field` is empty. False when
/// there is none.
bool read_number(const std::string& path, std::string_view field, std::uint64_t& number);

}  // namespace coua
