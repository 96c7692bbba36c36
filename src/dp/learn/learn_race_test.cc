// SPDX-License-Identifier: Apache-2.0
//
// Two workers report addresses, each on its ring, while they look the addresses up; the owner
// applies the reports, flushes and ages. Checked: no look-up ever answers a port that no report
// named for this address, and after the last report every address is where it was seen last.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "dp/learn/fib_owner.h"
#include "dp/learn/suppress_cache.h"

namespace coua::dp {
namespace {

constexpr unsigned n_workers = 2;
constexpr std::uint64_t n_macs = 512;
constexpr std::uint64_t moves_wanted = 20000;
constexpr std::uint64_t domain = std::uint64_t{10} << 48;

// Worker w sees each address at port 1 + w; so 1 and 2 are the only ports an answer may have.
struct racing_worker {
  learn_ring ring{1024};
  suppress_cache suppress{64, 0};
  coua_fib_reader* reader = nullptr;
  std::uint64_t wrong = 0;

  void run(unsigned number, std::atomic<std::uint64_t>& clock, const std::atomic<bool>& stop) {
    const std::uint32_t port = 1 + number;
    while (!stop.load(std::memory_order_relaxed)) {
      for (std::uint64_t mac = 0; mac < n_macs; ++mac) {
        const std::uint64_t key = domain | mac;
        const std::uint32_t entry = coua_fib_lookup(reader, key);
        const std::uint32_t at = entry >> COUA_FIB_ENTRY_VALUE_SHIFT;
        if (entry != COUA_FIB_MISS && at != 1 && at != 2) ++wrong;
        const std::uint64_t now = clock.fetch_add(1, std::memory_order_relaxed);
        if (at == port || suppress.is_repeat(key, port, now)) continue;
        if (ring.push({key, now, port, 0})) suppress.remember(key, port, now);
      }
    }
  }
};

TEST(learn_race, reports_of_two_workers_reach_one_owner) {
  fib_owner_params params;
  params.entries = 1000;
  params.ageing_s = 6;
  params.flap_cycles = 1000;
  std::atomic<std::uint32_t> epoch{0};
  params.epoch = &epoch;
  auto owner = fib_owner::create(params);
  ASSERT_TRUE(owner) << owner.error().message();
  (*owner)->set_members(10, 0b110);
  (*owner)->set_rule(1, {true, 0, 0});
  (*owner)->set_rule(2, {true, 0, 0});

  std::array<racing_worker, n_workers> workers;
  std::atomic<std::uint64_t> clock{1};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < n_workers; ++w) {
    ASSERT_EQ(coua_fib_reader_create((*owner)->fib(), &workers[w].reader), 0);
    threads.emplace_back([&, w] { workers[w].run(w, clock, stop); });
  }
  std::vector<learn_report> drained(2048);
  std::uint64_t now_ns = 1, turns = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto drain = [&] {
    std::size_t n = 0;
    for (racing_worker& each : workers) n += each.ring.pop(std::span(drained).subspan(n, 1024));
    (*owner)->apply(std::span(drained).first(n));
    return n;
  };
  // Bounded in time too, so that a broken owner fails the check below instead of hanging.
  while ((*owner)->counts().moved < moves_wanted &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(100)) {
    if (drain() == 0) std::this_thread::yield();
    (*owner)->age(now_ns += 10'000'000);
    if (++turns % 64 == 0) (void)(*owner)->start_flush({});
    (*owner)->flush_slice(64);
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  while (drain() != 0) {
  }
  for (racing_worker& each : workers) {
    EXPECT_EQ(each.wrong, 0u);
    coua_fib_reader_destroy(each.reader);
  }
  // One more report for each address, later than all before: it must win.
  std::vector<learn_report> last;
  for (std::uint64_t mac = 0; mac < n_macs; ++mac)
    last.push_back({domain | mac, clock.fetch_add(1), 2, 0});
  (*owner)->apply(last);
  for (std::uint64_t mac = 0; mac < n_macs; ++mac)
    EXPECT_EQ((*owner)->find(domain | mac) >> COUA_FIB_ENTRY_VALUE_SHIFT, 2u) << mac;
  EXPECT_GE((*owner)->counts().moved, moves_wanted);
}

// A port closes with the address that fills it. In each round all ports may learn one more. Red
// when a worker can see a port closed before that address is in the FIB: then frames of a host that
// has just been learned are dropped.
TEST(learn_race, who_sees_a_port_closed_sees_its_addresses) {
  constexpr std::uint64_t n_rounds = 4000;
  const auto key_of = [](std::uint64_t port, std::uint64_t round) {
    return domain | round << 8 | port;
  };
  std::atomic<port_set> closed{0};
  fib_owner_params params;
  params.entries = n_rounds * max_ports;
  params.closed = &closed;
  auto owner = fib_owner::create(params);
  ASSERT_TRUE(owner) << owner.error().message();
  (*owner)->set_members(10, ~port_set{0});

  std::atomic<std::uint64_t> round{0}, wrong{0}, seen{0};
  std::array<coua_fib_reader*, n_workers> readers{};
  std::vector<std::thread> threads;
  for (coua_fib_reader*& reader : readers) {
    ASSERT_EQ(coua_fib_reader_create((*owner)->fib(), &reader), 0);
    threads.emplace_back([&] {
      for (std::uint64_t at = 0; at <= n_rounds;) {
        at = round.load(std::memory_order_acquire);
        // What is closed in a round is not open again before the next, whose addresses come on top.
        const port_set now = closed.load(std::memory_order_acquire);
        if (at == 0 || at > n_rounds || now == 0) continue;
        const auto port = static_cast<std::uint64_t>(std::bit_width(now) - 1);
        if (coua_fib_lookup(reader, key_of(port, at)) == COUA_FIB_MISS) ++wrong;
        ++seen;
      }
    });
  }
  for (std::uint64_t r = 1; r <= n_rounds; ++r) {
    for (unsigned port = 0; port < max_ports; ++port)
      (*owner)->set_rule(port, {.learns = true, .mac_limit = r, .closes = true});
    ASSERT_EQ(closed, 0u);
    round.store(r, std::memory_order_release);
    for (unsigned port = 0; port < max_ports; ++port) {
      learn_report one{key_of(port, r), 1, port, 0};
      (*owner)->apply(std::span(&one, 1));
    }
    ASSERT_EQ(~closed, 0u);
  }
  round = n_rounds + 1;
  for (std::thread& each : threads) each.join();
  for (coua_fib_reader* reader : readers) coua_fib_reader_destroy(reader);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace coua::dp
