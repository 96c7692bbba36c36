// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/frame_loop.h"

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "net/pcap_file.h"

namespace coua::bench {
namespace {

/// Small pages where the kernel has no others: none that is reserved, as other programs count on
/// these for their packets.
result<arena> memory_for(std::size_t bytes) {
  arena_params params;
  params.pages = page_kind::transparent;
  params.populate_threads = 1;
  if (auto large = arena::create(bytes, params)) return large;
  params.pages = page_kind::kib4;
  return arena::create(bytes, params);
}

}  // namespace

result<std::unique_ptr<frame_loop>> frame_loop::start(const std::string& device,
                                                      const std::string& pcap_file) {
  std::unique_ptr<frame_loop> made(new frame_loop);
  if (auto done = made->load(pcap_file); !done) return tl::unexpected(done.error());
  if (auto done = made->add_callbacks(device); !done) return tl::unexpected(done.error());
  return made;
}

frame_loop::~frame_loop() {
  for (std::size_t queue = 0; queue < callbacks_.size(); ++queue)
    rte_eth_remove_rx_callback(port_, static_cast<std::uint16_t>(queue), callbacks_[queue]);
}

result<void> frame_loop::load(const std::string& pcap_file) {
  auto file = net::pcap_reader::open(pcap_file);
  if (!file) return tl::unexpected(file.error());
  std::size_t at = 0;
  for (;;) {
    const auto record = file->next();
    if (!record) return tl::unexpected(record.error());
    if (!*record) break;
    const auto& frame = (*record)->frame;
    const bool is_first = at == 0;
    if (frame.empty() || frame.size() > UINT16_MAX || (!is_first && frame.size() != frame_bytes_))
      return fail(errc::invalid, pcap_file, "its frames must have one size, of 1 to 65535 bytes");
    if (is_first) {
      if (auto ready = make_room(pcap_file, frame.size()); !ready) return ready;
    }
    if (at == frames_.bytes()) return fail(errc::io, pcap_file, "grows while it is read");
    std::memcpy(static_cast<std::byte*>(frames_.data()) + at, frame.data(), frame.size());
    at += room_;
  }
  if (at == 0) return fail(errc::invalid, pcap_file, "has no frames");
  first_ = static_cast<const std::byte*>(frames_.data());
  end_ = first_ + at;
  return {};
}

/// For as many frames as a file of this length has, if all are as the first one.
result<void> frame_loop::make_room(const std::string& pcap_file, std::size_t frame_bytes) {
  std::error_code trouble;
  const std::uintmax_t file_bytes = std::filesystem::file_size(pcap_file, trouble);
  if (trouble) return fail(errc::io, pcap_file, trouble.message());
  frame_bytes_ = static_cast<std::uint16_t>(frame_bytes);
  room_ = room_for(frame_bytes);
  const std::size_t most = file_bytes / (frame_bytes + net::pcap_record_bytes);
  auto memory = memory_for(most * room_);
  if (!memory) return tl::unexpected(memory.error());
  frames_ = std::move(*memory);
  return {};
}

result<void> frame_loop::add_callbacks(const std::string& device) {
  rte_eth_dev_info about;
  if (rte_eth_dev_get_port_by_name(device.c_str(), &port_) != 0 ||
      rte_eth_dev_info_get(port_, &about) != 0) {
    return fail(errc::not_found, device, "DPDK knows no such device");
  }
  places_.assign(about.nb_rx_queues, {this, first_});
  for (std::uint16_t queue = 0; queue < about.nb_rx_queues; ++queue) {
    const auto* const added = rte_eth_add_rx_callback(port_, queue, fill, &places_[queue]);
    if (added == nullptr)
      return fail(errc::io, device, std::string("no callback: ") + rte_strerror(rte_errno));
    callbacks_.push_back(added);
  }
  return {};
}

/// Packets without room for a frame stay as they are, and no rule knows them.
std::uint16_t frame_loop::fill(std::uint16_t /*port*/, std::uint16_t /*queue*/, rte_mbuf** packets,
                               std::uint16_t n, std::uint16_t /*most*/, void* of_queue) noexcept {
  place& mine = *static_cast<place*>(of_queue);
  const frame_loop& of = *mine.of;
  const std::size_t room = of.room_;
  if (n == 0 || packets[0]->buf_len < packets[0]->data_off + room) return n;  // all of one pool
  const std::byte* next = mine.next;
  for (std::uint16_t i = 0; i < n; ++i) {
    rte_mbuf& packet = *packets[i];
    auto* const to = rte_pktmbuf_mtod(&packet, std::byte*);
    for (std::size_t at = 0; at < room; at += cache_line_bytes)
      std::memcpy(to + at, next + at, cache_line_bytes);
    packet.data_len = of.frame_bytes_;
    packet.pkt_len = of.frame_bytes_;
    next += room;
    if (next == of.end_) next = of.first_;
  }
  mine.next = next;
  return n;
}

}  // namespace coua::bench
