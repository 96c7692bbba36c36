// SPDX-License-Identifier: Apache-2.0
#include "bench/stalls/poll_watch.h"

#include <fcntl.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace coua::bench {
namespace {

// A look takes about 2 us: that many polls, about a millisecond, hardly feel it.
constexpr unsigned polls_between_looks = 256;
constexpr double long_gap_s = 200e-6;

}  // namespace

result<std::unique_ptr<poll_watch>> poll_watch::create(const std::string& device, pid_t worker) {
  std::uint16_t port = 0;
  if (rte_eth_dev_get_port_by_name(device.c_str(), &port) != 0)
    return fail(errc::io, device, "DPDK knows no such device");
  std::unique_ptr<poll_watch> made(new poll_watch);
  const std::string account = "/proc/self/task/" + std::to_string(worker) + "/schedstat";
  made->waits_ = open(account.c_str(), O_RDONLY | O_CLOEXEC);
  if (made->waits_ < 0) return fail(errc::io, account, std::strerror(errno));
  const rte_rx_callback_fn on_poll = [](std::uint16_t, std::uint16_t, rte_mbuf**,
                                        std::uint16_t packets, std::uint16_t, void* watch) {
    note(watch, cycles());
    return packets;
  };
  if (rte_eth_add_rx_callback(port, 0, on_poll, made.get()) == nullptr)
    return fail(errc::io, device, std::string("no hook: ") + rte_strerror(rte_errno));
  return made;
}

poll_watch::~poll_watch() {
  if (waits_ >= 0) close(waits_);
}

/// Cycles that the worker was ready to run and did not, since it started.
std::uint64_t poll_watch::waited() const noexcept {
  char text[100];
  const ssize_t n = pread(waits_, text, sizeof text - 1, 0);
  if (n <= 0) return 0;
  text[n] = 0;
  char* at = text;
  std::strtoull(at, &at, 10);  // ns on its CPU
  return static_cast<std::uint64_t>(static_cast<double>(std::strtoull(at, nullptr, 10)) * 1e-9 *
                                    cycles_hz());
}

/// The account is read often enough that what it says of a gap is of that gap.
void poll_watch::note(void* watch, std::uint64_t now) noexcept {
  auto& of = *static_cast<poll_watch*>(watch);
  watched& seen = of.watched_;
  const std::uint64_t last = seen.last.load(std::memory_order_relaxed);
  const std::uint64_t gap = last != 0 ? now - last : 0;
  std::uint64_t own = gap;
  if (++seen.polls % polls_between_looks == 0 || gap > long_gap_s * cycles_hz()) {
    const std::uint64_t before = std::exchange(seen.waited, of.waited());
    own -= std::min(own, seen.waited - before);
  }
  if (gap > seen.longest.load(std::memory_order_relaxed))
    seen.longest.store(gap, std::memory_order_relaxed);
  if (own > seen.longest_own.load(std::memory_order_relaxed))
    seen.longest_own.store(own, std::memory_order_relaxed);
  seen.last.store(now, std::memory_order_release);
}

void poll_watch::wait_for_poll() {
  const std::uint64_t before = watched_.last.load(std::memory_order_acquire);
  while (watched_.last.load(std::memory_order_acquire) == before)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void poll_watch::begin() {
  wait_for_poll();
  watched_.longest.store(0, std::memory_order_relaxed);
  watched_.longest_own.store(0, std::memory_order_relaxed);
}

poll_watch::gaps poll_watch::end() {
  wait_for_poll();
  const auto seconds = [](const std::atomic<std::uint64_t>& of) {
    return static_cast<double>(of.load(std::memory_order_relaxed)) / cycles_hz();
  };
  return {seconds(watched_.longest), seconds(watched_.longest_own)};
}

}  // namespace coua::bench
