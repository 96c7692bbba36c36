// SPDX-License-Identifier: Apache-2.0
#include "dp/drivers/xdp_packets.h"

#include <linux/if_xdp.h>
#include <rte_mbuf.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace coua::dp {
namespace {

// The driver's own: twice, and once, XSK_RING_CONS__DEFAULT_NUM_DESCS. With others no entry would
// be plausible.
constexpr unsigned fill_entries = 4096, completion_entries = 2048;
// What is being sent goes to a device or to another program's socket; a device that takes longer
// has stopped.
constexpr auto longest_sending = std::chrono::milliseconds(100);
// The kernel may be amid a frame that it began before the port was closed.
constexpr auto last_frame = std::chrono::milliseconds(1);
// An entry is an offset into the pool's memory, and above that one into the packet.
constexpr std::uint64_t offset_mask = (std::uint64_t{1} << XSK_UNALIGNED_BUF_OFFSET_SHIFT) - 1;

std::uint32_t load(std::uint32_t* index) {
  return std::atomic_ref(*index).load(std::memory_order_acquire);  // with the kernel's release
}

/// How the driver finds it: the start of the page in which the pool's memory begins.
char* base_of(const rte_mempool* pool) {
  const auto begins = reinterpret_cast<std::uintptr_t>(STAILQ_FIRST(&pool->mem_list)->addr);
  return reinterpret_cast<char*>(begins & ~(static_cast<std::uintptr_t>(getpagesize()) - 1));
}

void note_packet(rte_mempool*, void* list, void* packet, unsigned) {
  static_cast<std::vector<rte_mbuf*>*>(list)->push_back(static_cast<rte_mbuf*>(packet));
}

}  // namespace

bool xdp_packets::map(int socket, unsigned descriptors, socket_rings& to) {
  xdp_mmap_offsets offsets{};
  xdp_options options{};
  socklen_t bytes = sizeof offsets, option_bytes = sizeof options;
  // Older kernels give shorter offsets.
  if (getsockopt(socket, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &bytes) != 0 ||
      bytes != sizeof offsets ||
      getsockopt(socket, SOL_XDP, XDP_OPTIONS, &options, &option_bytes) != 0 ||
      (options.flags & XDP_OPTIONS_ZEROCOPY) != 0)
    return false;
  const auto one = [&](ring& each, const xdp_ring_offset& at, std::uint64_t page, unsigned entries,
                       std::size_t entry_bytes) {
    each.bytes = at.desc + entries * entry_bytes;
    void* memory = mmap(nullptr, each.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket,
                        static_cast<off_t>(page));
    if (memory == MAP_FAILED) return false;
    each.memory = memory;
    char* begin = static_cast<char*>(memory);
    each.producer = reinterpret_cast<std::uint32_t*>(begin + at.producer);
    each.consumer = reinterpret_cast<std::uint32_t*>(begin + at.consumer);
    each.entries = begin + at.desc;
    each.mask = entries - 1;
    return true;
  };
  return std::has_single_bit(descriptors) &&
         one(to.receive, offsets.rx, XDP_PGOFF_RX_RING, descriptors, sizeof(xdp_desc)) &&
         one(to.transmit, offsets.tx, XDP_PGOFF_TX_RING, descriptors, sizeof(xdp_desc)) &&
         one(to.fill, offsets.fr, XDP_UMEM_PGOFF_FILL_RING, fill_entries, sizeof(std::uint64_t)) &&
         one(to.completion, offsets.cr, XDP_UMEM_PGOFF_COMPLETION_RING, completion_entries,
             sizeof(std::uint64_t));
}

xdp_packets::xdp_packets(std::span<const int> sockets, unsigned descriptors) {
  if (!std::ranges::all_of(
          sockets, [&](int socket) { return map(socket, descriptors, sockets_.emplace_back()); }))
    unmap();
}

bool xdp_packets::add(const ring& from, std::size_t entry_bytes, rte_mempool* pool, packets& to) {
  const std::uint32_t first = load(from.consumer), n = load(from.producer) - first;
  if (n > from.mask + 1) return false;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint64_t entry = 0;  // with which an xdp_desc begins
    std::memcpy(&entry, from.entries + ((first + i) & from.mask) * entry_bytes, sizeof entry);
    to.push_back(
        reinterpret_cast<rte_mbuf*>(base_of(pool) + (entry & offset_mask) + pool->header_size));
  }
  return true;
}

bool xdp_packets::add_those_of(const socket_rings& rings, rte_mempool* pool) {
  const auto end = std::chrono::steady_clock::now() + longest_sending;
  while (load(rings.completion.producer) != load(rings.transmit.consumer)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::uint32_t held = load(rings.fill.consumer) - load(rings.receive.producer);
  if (held > fill_entries) return false;
  held_ += held;
  return add(rings.fill, sizeof(std::uint64_t), pool, waiting_) &&
         add(rings.receive, sizeof(xdp_desc), pool, waiting_) &&
         add(rings.transmit, sizeof(xdp_desc), pool, sent_) &&
         add(rings.completion, sizeof(std::uint64_t), pool, sent_);
}

bool xdp_packets::plausible(rte_mempool* pool) const {
  packets found = waiting_, all;
  found.insert(found.end(), sent_.begin(), sent_.end());
  std::ranges::sort(found);
  rte_mempool_obj_iter(pool, note_packet, &all);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(found) == found.end() && std::ranges::includes(all, found) &&
         found.size() + held_ <= rte_mempool_in_use_count(pool) &&
         std::ranges::all_of(waiting_, [](const rte_mbuf* packet) {
           return packet->pkt_len == 0 && rte_mbuf_refcnt_read(packet) == 1;
         });
}

void xdp_packets::find(rte_mempool* pool) {
  if (sockets_.empty()) return;
  std::this_thread::sleep_for(last_frame);
  const bool all = std::ranges::all_of(
      sockets_, [&](const socket_rings& rings) { return add_those_of(rings, pool); });
  unmap();
  if (all && plausible(pool)) return;
  waiting_.clear();
  sent_.clear();
  held_ = 0;
}

unsigned xdp_packets::give_back() {
  for (packets* list : {&waiting_, &sent_}) {
    for (rte_mbuf* packet : *list) rte_pktmbuf_free(packet);
    list->clear();
  }
  return std::exchange(held_, 0);
}

void xdp_packets::unmap() {
  for (socket_rings& each : sockets_)
    for (ring* one : {&each.receive, &each.transmit, &each.fill, &each.completion})
      if (one->memory != nullptr) munmap(one->memory, one->bytes);
  sockets_.clear();
}

}  // namespace coua::dp
