// SPDX-License-Identifier: Apache-2.0
#include "dp/test_ring_port.h"

#include <dlfcn.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace coua::dp {
namespace {

rte_mempool* test_packets() {
  static rte_mempool* pool =
      rte_pktmbuf_pool_create("test-packets", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (pool == nullptr) throw std::runtime_error("no memory for the test's packets");
  return pool;
}

// DPDK keeps a callback when its device goes, for the next device of the same number: so the limit
// outlives the port, and ends with it.
std::atomic<unsigned> longest{UINT_MAX};

// Likewise; 0: no longer than it takes.
std::atomic<unsigned> poll_ms{0};
std::atomic<unsigned> polling{0}, most_polling{0};
std::atomic<int> slow_device{-1};

std::atomic<int> link_error{0};

constexpr int no_device = -1;
std::atomic<int> vanished{no_device};

// By device, one more than its Mbit/s; 0: as the driver says.
std::array<std::atomic<unsigned>, RTE_MAX_ETHPORTS> speeds{};

std::mutex dropped_mutex;
std::optional<dropped_frames> dropped;

using set_link_function = int (*)(std::uint16_t);
int answer_link(const char* name, std::uint16_t device) {
  if (link_error != 0) return link_error;
  if (vanished == device) return -EIO;
  return reinterpret_cast<set_link_function>(dlsym(RTLD_NEXT, name))(device);
}

std::vector<rte_mbuf*>& taken() {
  static std::vector<rte_mbuf*> packets;
  return packets;
}

rte_ring* make_ring(const std::string& name, unsigned size) {
  rte_ring* ring = rte_ring_create(name.c_str(), size, SOCKET_ID_ANY, 0);
  if (ring == nullptr) throw std::runtime_error("no ring " + name);
  return ring;
}

}  // namespace
}  // namespace coua::dp

// What drivers call, which no header of the package declares.
struct rte_eth_dev;
extern "C" rte_eth_dev* rte_eth_dev_allocated(const char* name);
extern "C" int rte_eth_dev_callback_process(rte_eth_dev* device, rte_eth_event_type event,
                                            void* answer);

// In front of DPDK's own: no driver that needs no privileges ever fails or goes away here.
extern "C" int rte_eth_dev_set_link_up(std::uint16_t device) {
  return coua::dp::answer_link("rte_eth_dev_set_link_up", device);
}
extern "C" int rte_eth_dev_set_link_down(std::uint16_t device) {
  return coua::dp::answer_link("rte_eth_dev_set_link_down", device);
}
extern "C" int rte_eth_dev_is_removed(std::uint16_t device) {
  return coua::dp::vanished == device ? 1 : 0;
}
extern "C" int rte_eth_link_get_nowait(std::uint16_t device, rte_eth_link* link) {
  using function = int (*)(std::uint16_t, rte_eth_link*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "rte_eth_link_get_nowait"));
  const int answer = real(device, link);
  const unsigned said = device < RTE_MAX_ETHPORTS ? coua::dp::speeds[device].load() : 0;
  if (said != 0) link->link_speed = said == 1 ? RTE_ETH_SPEED_NUM_UNKNOWN : said - 1;
  return answer;
}
extern "C" int rte_eth_stats_get(std::uint16_t device, rte_eth_stats* stats) {
  using function = int (*)(std::uint16_t, rte_eth_stats*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "rte_eth_stats_get"));
  const int answer = real(device, stats);
  const std::lock_guard hold(coua::dp::dropped_mutex);
  if (const auto& said = coua::dp::dropped) {
    stats->imissed = said->rx_missed;
    stats->ierrors = said->rx_errors;
    stats->rx_nombuf = said->rx_no_mbuf;
    stats->oerrors = said->tx_errors;
  }
  return answer;
}

namespace coua::dp {

test_ring_port::test_ring_port(const std::string& name, unsigned ring_size)
    : name_(name),
      devargs_("net_ring_" + name),
      in_(make_ring(name + "-in", ring_size)),
      out_(make_ring(name + "-out", ring_size)) {
  make();
}

void test_ring_port::make() {
  if (rte_eth_from_rings(name_.c_str(), &in_, 1, &out_, 1, 0) < 0)
    throw std::runtime_error("no ring device " + name_);
}

test_ring_port::~test_ring_port() {
  longest = UINT_MAX;
  poll_ms = 0;
  most_polling = 0;
  link_error = 0;
  vanished = no_device;
  for (auto& each : speeds) each = 0;
  say_dropped(std::nullopt);
  for (rte_ring* ring : {in_, out_}) {
    void* frame;
    while (rte_ring_dequeue(ring, &frame) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
    rte_ring_free(ring);
  }
}

rte_mbuf* test_ring_port::packet_of(const frame_bytes& frame, unsigned segments) const {
  rte_mbuf* packet = rte_pktmbuf_alloc(test_packets());
  if (packet == nullptr) return nullptr;
  if (!headroom_) packet->data_off = 0;
  const std::size_t each = (frame.size() + segments - 1) / segments;
  for (std::size_t at = 0; at < frame.size(); at += each) {
    const std::size_t n = std::min(each, frame.size() - at);
    rte_mbuf* part = at == 0 ? packet : rte_pktmbuf_alloc(test_packets());
    if (part == nullptr) throw std::runtime_error("no packet for a segment");
    std::copy_n(
        frame.data() + at, n,
        reinterpret_cast<std::uint8_t*>(rte_pktmbuf_append(part, static_cast<std::uint16_t>(n))));
    if (at != 0) rte_pktmbuf_chain(packet, part);
  }
  return packet;
}

bool test_ring_port::put(rte_mbuf* packet) {
  if (packet == nullptr) return false;
  if (rte_ring_enqueue(in_, packet) == 0) return true;
  rte_pktmbuf_free(packet);
  return false;
}

bool test_ring_port::send(const frame_bytes& frame, unsigned segments) {
  return put(packet_of(frame, segments));
}

bool test_ring_port::send_stripped(const frame_bytes& frame, std::uint16_t control) {
  rte_mbuf* packet = packet_of(frame, 1);
  if (packet == nullptr) return false;
  packet->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
  packet->vlan_tci = control;
  return put(packet);
}

bool test_ring_port::send_from(test_ring_port& other) {
  rte_mbuf* packet = other.take(30'000);
  return packet != nullptr && rte_ring_enqueue(in_, packet) == 0;
}

rte_mbuf* test_ring_port::take(unsigned ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  void* got;
  while (rte_ring_dequeue(out_, &got) != 0) {
    if (std::chrono::steady_clock::now() > end) return nullptr;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return static_cast<rte_mbuf*>(got);
}

std::optional<frame_bytes> test_ring_port::receive(unsigned ms) {
  rte_mbuf* packet = take(ms);
  if (packet == nullptr) return std::nullopt;
  for (const rte_mbuf* part = packet; part != nullptr; part = part->next)
    if (part->data_off + part->data_len > part->buf_len)
      throw std::runtime_error("a frame of " + std::to_string(packet->pkt_len) +
                               " bytes goes beyond its packet of " + std::to_string(part->buf_len));
  frame_bytes frame(packet->pkt_len);
  const void* bytes = rte_pktmbuf_read(packet, 0, packet->pkt_len, frame.data());
  std::copy_n(static_cast<const std::uint8_t*>(bytes), frame.size(), frame.data());
  rte_pktmbuf_free(packet);
  return frame;
}

bool test_ring_port::silent(unsigned ms) { return !receive(ms); }

unsigned test_ring_port::waiting() const { return rte_ring_count(in_); }
unsigned test_ring_port::came_out() const { return rte_ring_count(out_); }

std::uint16_t test_ring_port::device() const {
  std::uint16_t device;
  if (rte_eth_dev_get_port_by_name(devargs_.c_str(), &device) != 0)
    throw std::runtime_error("no device " + devargs_);
  return device;
}

void test_ring_port::set_link(bool up) {
  up ? rte_eth_dev_set_link_up(device()) : rte_eth_dev_set_link_down(device());
}

void test_ring_port::vanish() { vanished = device(); }

void test_ring_port::say_removed() {
  rte_eth_dev* gone = rte_eth_dev_allocated(devargs_.c_str());
  if (gone == nullptr) throw std::runtime_error("no device " + devargs_);
  rte_eth_dev_callback_process(gone, RTE_ETH_EVENT_INTR_RMV, nullptr);
}

void test_ring_port::set_speed(unsigned mbps) { speeds[device()] = mbps + 1; }

void test_ring_port::poll_slowly(unsigned ms) {
  poll_ms = ms;
  most_polling = 0;
  slow_device = device();
  const auto wait = [](std::uint16_t port, std::uint16_t, rte_mbuf**, std::uint16_t n,
                       std::uint16_t, void*) -> std::uint16_t {
    if (poll_ms == 0 || port != slow_device) return n;
    const unsigned now = ++polling;
    for (unsigned most = most_polling; most < now;) most_polling.compare_exchange_weak(most, now);
    std::this_thread::sleep_for(std::chrono::milliseconds(poll_ms.load()));
    --polling;
    return n;
  };
  if (rte_eth_add_rx_callback(device(), 0, wait, nullptr) == nullptr)
    throw std::runtime_error("no callback on " + devargs_);
}

bool test_ring_port::in_poll() { return polling != 0; }
unsigned test_ring_port::most_in_poll() { return most_polling; }

void test_ring_port::say_dropped(std::optional<dropped_frames> n) {
  const std::lock_guard hold(dropped_mutex);
  dropped = n;
}

void test_ring_port::fail_links(int error) { link_error = error; }

void test_ring_port::refuse_longer_than(unsigned bytes) {
  longest = bytes;
  const auto up_to_the_first = [](std::uint16_t, std::uint16_t, rte_mbuf* frames[], std::uint16_t n,
                                  void*) -> std::uint16_t {
    std::uint16_t i = 0;
    while (i < n && frames[i]->pkt_len <= longest) ++i;
    return i;
  };
  if (rte_eth_add_tx_callback(device(), 0, up_to_the_first, nullptr) == nullptr)
    throw std::runtime_error("no callback on " + devargs_);
}

unsigned test_ring_port::in_use() { return rte_mempool_in_use_count(test_packets()); }

void test_ring_port::exhaust(unsigned left) {
  while (rte_mempool_avail_count(test_packets()) > left)
    taken().push_back(rte_pktmbuf_alloc(test_packets()));
}

void test_ring_port::relax() {
  for (rte_mbuf* packet : taken()) rte_pktmbuf_free(packet);
  taken().clear();
}

}  // namespace coua::dp
