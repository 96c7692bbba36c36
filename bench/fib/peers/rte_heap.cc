// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/peers/rte_heap.h"

#include <rte_errno.h>
#include <rte_malloc.h>

#include <atomic>

#include "bench/harness/options.h"

namespace coua::bench {
namespace {

constexpr std::size_t heap_page = std::size_t{2} << 20;

tl::unexpected<error> trouble(const std::string& owner, const std::string& what) {
  return fail(errc::no_memory, owner, what + ": " + rte_strerror(rte_errno));
}

}  // namespace

result<std::unique_ptr<rte_heap>> rte_heap::create(const std::string& owner, std::uint64_t bytes,
                                                   page_kind pages) {
  static std::atomic<unsigned> next = 0;
  std::unique_ptr<rte_heap> made(new rte_heap);
  made->id_ = "coua_bench_" + std::to_string(next++);
  const char* const id = made->id_.c_str();
  bytes = (bytes + heap_page - 1) / heap_page * heap_page;
  result<arena> memory = allocate(bytes, pages);
  if (!memory) return tl::unexpected(memory.error());
  made->memory_ = std::move(*memory);
  if (rte_malloc_heap_create(id) != 0) return trouble(owner, "creating its heap");
  made->exists_ = true;
  if (rte_malloc_heap_memory_add(id, made->memory_.data(), bytes, nullptr,
                                 static_cast<unsigned>(bytes / heap_page), heap_page) != 0) {
    return trouble(owner, "giving memory to its heap");
  }
  made->has_memory_ = true;
  made->socket_ = rte_malloc_heap_get_socket(id);
  return made;
}

rte_heap::~rte_heap() {
  if (has_memory_) {
    rte_malloc_heap_memory_remove(id_.c_str(), memory_.data(), memory_.bytes());
  }
  if (exists_) rte_malloc_heap_destroy(id_.c_str());
}

std::uint64_t rte_heap::bytes_allocated() const {
  rte_malloc_socket_stats stats{};
  rte_malloc_get_socket_stats(socket_, &stats);
  return stats.heap_allocsz_bytes;
}

}  // namespace coua::bench
