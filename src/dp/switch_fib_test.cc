// SPDX-License-Identifier: Apache-2.0
//
// What the switch learns and is told, and how it forgets.
#include <atomic>
#include <thread>

#include "dp/bench_hooks.h"
#include "dp/test_switch.h"

namespace coua::dp {
namespace {

TEST_F(switch_test, learns_as_fast_as_addresses_come) {
  switch_config config;
  config.fib_entries = 40'000;
  start(config);
  auto& a = access("a");
  constexpr unsigned n = 30'000;
  for (unsigned i = 0; i < n; ++i)
    while (!a.send(make_frame(broadcast, host(i)))) std::this_thread::yield();
  // What a full ring lost comes again with the next frame of the host.
  const auto start = std::chrono::steady_clock::now();
  while (switch_->fib().entries < n &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    for (unsigned i = 0; i < n; ++i)
      while (!a.send(make_frame(broadcast, host(i)))) std::this_thread::yield();
  }
  EXPECT_TRUE(eventually([&] { return switch_->fib().entries == n; }));
  EXPECT_EQ(switch_->ports()[0].learned, n);
}

TEST_F(switch_test, moves_limits_and_static_entries) {
  auto& a = access("a");
  auto& b = access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  EXPECT_TRUE(moves(host(1), "b"));
  EXPECT_EQ(switch_->fib().moved, 1u);

  port_config limited = config_of("a");
  limited.mac_limit = 1;
  ASSERT_TRUE(switch_->update_port(limited));
  for (unsigned n = 10; n < 13; ++n) ASSERT_TRUE(a.send(make_frame(broadcast, host(n))));
  EXPECT_TRUE(eventually([&] { return switch_->fib().limited >= 2; }));
  EXPECT_EQ(switch_->ports()[0].learned, 1u);

  const fib_entry fixed{1, host(20), numbers_["a"], true, 0};
  ASSERT_TRUE(switch_->fib_insert(std::span(&fixed, 1)));
  ASSERT_TRUE(b.send(make_frame(broadcast, host(20))));
  EXPECT_TRUE(counts("b", "source_static_elsewhere", 1));
  EXPECT_TRUE(learned(1, host(20), "a"));
}

TEST_F(switch_test, an_address_that_goes_to_and_fro_flaps) {
  auto& a = access("a");
  access("b");
  ASSERT_TRUE(a.send(make_frame(broadcast, host(1))));
  ASSERT_TRUE(learned(1, host(1), "a"));
  ASSERT_TRUE(moves(host(1), "b"));
  EXPECT_EQ(switch_->fib().flapping, 0u);
  ASSERT_TRUE(moves(host(1), "a"));
  EXPECT_EQ(switch_->fib().flapping, 1u);
}

TEST_F(switch_test, flushes_by_port_vlan_and_address) {
  auto& a = access("a", 10);
  auto& b = access("b", 20);
  for (unsigned n = 1; n <= 20; ++n) {
    ASSERT_TRUE(a.send(make_frame(broadcast, host(n))));
    ASSERT_TRUE(b.send(make_frame(broadcast, host(n))));
  }
  ASSERT_TRUE(eventually([&] { return switch_->fib().entries == 40; }));
  fib_filter by_mac;
  by_mac.mac = host(1);
  EXPECT_EQ(switch_->fib_flush(by_mac).value(), 2u);
  fib_filter by_vlan;
  by_vlan.vlan = 20;
  EXPECT_EQ(switch_->fib_flush(by_vlan).value(), 19u);
  fib_filter by_port;
  by_port.port = numbers_["a"];
  std::size_t dumped = 0;
  ASSERT_TRUE(switch_->fib_dump(by_port, [&](std::span<const fib_entry> part) {
    dumped += part.size();
    return true;
  }));
  EXPECT_EQ(dumped, 19u);
  EXPECT_EQ(switch_->fib_flush(by_port).value(), 19u);
  EXPECT_EQ(switch_->fib().entries, 0u);
}

// Red when a number alone says which port is meant.
TEST_F(switch_test, a_number_that_was_given_again_is_another_port) {
  switch_config config;
  config.port_bits = 1;
  start(config);
  access("a");
  access("b");
  const unsigned gone = switch_->ports()[1].serial;
  fib_entry entry{1, host(1), numbers_["b"], true, 0, gone};
  ASSERT_TRUE(switch_->fib_insert(std::span(&entry, 1)));
  ASSERT_TRUE(switch_->remove_port("b"));
  EXPECT_EQ(switch_->fib_insert(std::span(&entry, 1)).error().code, errc::not_found);
  access("c");
  ASSERT_EQ(numbers_["c"], numbers_["b"]);
  EXPECT_EQ(switch_->fib_insert(std::span(&entry, 1)).error().code, errc::not_found);
  EXPECT_EQ(switch_->fib().entries, 0u);
  entry.port_serial = switch_->ports()[1].serial;
  ASSERT_TRUE(switch_->fib_insert(std::span(&entry, 1)));
  EXPECT_EQ(switch_->fib_find({}, 1, host(1))->port_serial, entry.port_serial);

  fib_filter filter;
  filter.port = numbers_["c"];
  filter.is_static = true;
  filter.port_serial = gone;
  EXPECT_EQ(switch_->fib_flush(filter).error().code, errc::not_found);
  const auto dumped = [&] {
    std::size_t n = 0;
    EXPECT_TRUE(switch_->fib_dump(filter, [&](std::span<const fib_entry> part) {
      n += part.size();
      return true;
    }));
    return n;
  };
  EXPECT_EQ(dumped(), 0u);
  filter.port_serial = entry.port_serial;
  EXPECT_EQ(dumped(), 1u);
  EXPECT_EQ(switch_->fib_flush(filter).value(), 1u);
}

// Red when one command stores, or removes, all of them.
TEST_F(switch_test, others_are_answered_while_a_benchmark_changes_the_table) {
  switch_config config;
  config.fib_entries = 1'200'000;
  start(config);
  std::vector<coua_fib_record> records(1'000'000);
  std::vector<std::uint64_t> keys;
  for (coua_fib_record& each : records) {
    each.key = std::uint64_t{1} << 48 | host(static_cast<unsigned>(keys.size()));
    keys.push_back(each.key);
  }
  // Whether an answer shows the table half changed.
  const auto answered_during = [&](const auto& change) {
    std::atomic<bool> over{false};
    bool seen = false;
    std::thread other([&] {
      EXPECT_EQ(change(), records.size());
      over = true;
    });
    while (!over) {
      const std::uint64_t entries = switch_->fib().entries;
      seen |= entries != 0 && entries != records.size();
    }
    other.join();
    return seen;
  };
  bool while_stored = false, while_removed = false;
  // On a busy machine the one who asks may sleep through a change.
  for (int i = 0; i < 20 && !(while_stored && while_removed); ++i) {
    while_stored |= answered_during([&] { return fib_store(*switch_, records); });
    EXPECT_EQ(switch_->fib().entries, records.size());
    while_removed |= answered_during([&] { return fib_remove(*switch_, keys); });
    EXPECT_EQ(switch_->fib().entries, 0u);
  }
  EXPECT_TRUE(while_stored);
  EXPECT_TRUE(while_removed);
}

TEST_F(switch_test, a_full_table_says_how_full_it_is) {
  access("a");
  std::vector<fib_entry> entries(40'000, {1, 0, numbers_["a"], false, 0});
  for (unsigned i = 0; i < entries.size(); ++i) entries[i].mac = host(i);
  const auto done = switch_->fib_insert(entries);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::no_room);
  const std::string stored = std::to_string(switch_->fib().entries);
  EXPECT_NE(done.error().what.find(stored + " of its 32768 slots are in use"), std::string::npos)
      << done.error().message();
  EXPECT_NE(done.error().what.find(stored + " were stored"), std::string::npos);
}

TEST_F(switch_test, bad_entries_are_refused_with_their_index) {
  access("a");
  std::vector<fib_entry> entries(5, {1, host(1), numbers_["a"], false, 0});
  for (unsigned i = 0; i < 5; ++i) entries[i].mac = host(i);
  entries[3].port = 40;
  const auto done = switch_->fib_insert(entries);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("entry 3"), std::string::npos) << done.error().message();
  EXPECT_EQ(switch_->fib().entries, 3u);
  entries[3] = {1, broadcast, numbers_["a"], false, 0};
  EXPECT_EQ(switch_->fib_insert(entries).error().code, errc::invalid);
  entries[3] = {4095, host(3), numbers_["a"], false, 0};
  EXPECT_EQ(switch_->fib_insert(entries).error().code, errc::invalid);
}

}  // namespace
}  // namespace coua::dp
