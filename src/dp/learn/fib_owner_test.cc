// SPDX-License-Identifier: Apache-2.0
#include "dp/learn/fib_owner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace coua::dp {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t flap = 1000;  // cycles of the test's clock

std::uint64_t key_of(std::uint16_t vlan, std::uint64_t mac) {
  return std::uint64_t{vlan} << 48 | mac;
}

class fib_owner_test : public ::testing::Test {
 protected:
  void SetUp() override {
    fib_owner_params params;
    params.entries = 2000;
    params.ageing_s = 60;
    params.flap_cycles = flap;
    params.epoch = &published_;
    params.closed = &closed_;
    auto made = fib_owner::create(params);
    ASSERT_TRUE(made) << made.error().message();
    owner_ = std::move(*made);
    for (const unsigned port : {1u, 2u, 3u}) owner_->set_rule(port, {true, 0, 0});
    for (const std::uint16_t vlan : {10, 20}) owner_->set_members(vlan, 0b1110);
  }
  void report(std::uint64_t key, unsigned port, std::uint64_t time) {
    learn_report one{key, time, port, 0};
    owner_->apply(std::span(&one, 1));
  }
  // -1: no entry
  int port_of(std::uint64_t key) {
    const std::uint32_t entry = owner_->find(key);
    return entry == COUA_FIB_MISS ? -1 : static_cast<int>(entry >> COUA_FIB_ENTRY_VALUE_SHIFT);
  }
  void store_static(std::uint64_t key, unsigned port) {
    coua_fib_record record{};
    record.key = key;
    record.value = port;
    record.is_static = 1;
    ASSERT_EQ(owner_->store(std::span(&record, 1)), 1u);
  }
  std::uint64_t flush(const flush_filter& filter) {
    const auto job = owner_->start_flush(filter);
    while (owner_->flush_slice(16)) {
    }
    EXPECT_TRUE(job->done());
    return job->removed();
  }
  // Lets `seconds` pass in steps of 100 ms.
  void pass(unsigned seconds) {
    for (unsigned i = 0; i < seconds * 10; ++i) {
      now_ns_ += second_ns / 10;
      while (owner_->age(now_ns_)) {
      }
    }
  }

  std::atomic<std::uint32_t> published_{99};
  std::atomic<port_set> closed_{0};
  std::unique_ptr<fib_owner> owner_;
  std::uint64_t now_ns_ = second_ns;
};

// Red when entries that are seen grow old all the same.
TEST_F(fib_owner_test, nothing_has_an_age_while_ageing_is_off) {
  pass(25);
  EXPECT_GT(owner_->age_seconds(2, now_ns_), 20u);
  owner_->set_ageing(0, now_ns_);
  pass(100);
  for (const unsigned epochs : {0u, 6u}) EXPECT_EQ(owner_->age_seconds(epochs, now_ns_), 0u);
  owner_->set_ageing(60, now_ns_);
  EXPECT_EQ(owner_->age_seconds(0, now_ns_), 0u);
  pass(5);
  EXPECT_EQ(owner_->age_seconds(0, now_ns_), 5u);
}

TEST_F(fib_owner_test, learns_moves_and_refreshes) {
  const std::uint64_t key = key_of(10, 0x020000000001);
  report(key, 1, 100);
  EXPECT_EQ(port_of(key), 1);
  EXPECT_EQ(owner_->counts().added, 1u);
  EXPECT_EQ(owner_->learned_on_port(1), 1u);
  EXPECT_EQ(owner_->learned_in_domain(10), 1u);
  report(key, 1, 200);
  EXPECT_EQ(owner_->counts().refreshed, 1u);
  report(key, 2, 5000);
  EXPECT_EQ(port_of(key), 2);
  EXPECT_EQ(owner_->counts().moved, 1u);
  EXPECT_EQ(owner_->counts().flapping, 0u);
  EXPECT_EQ(owner_->learned_on_port(1), 0u);
  EXPECT_EQ(owner_->learned_on_port(2), 1u);
  EXPECT_EQ(port_of(key_of(20, 0x020000000001)), -1) << "VLANs learn apart";
}

TEST_F(fib_owner_test, the_later_report_wins_within_a_drain) {
  const std::uint64_t key = key_of(10, 7);
  // As two rings bring them: each in order, one after the other.
  std::vector<learn_report> drained{{key, 300, 2, 0}, {key, 100, 1, 0}, {key, 200, 3, 0}};
  owner_->apply(drained);
  EXPECT_EQ(port_of(key), 2);
  EXPECT_EQ(owner_->counts().moved, 2u);
}

TEST_F(fib_owner_test, the_later_report_wins_across_drains) {
  const std::uint64_t key = key_of(10, 7);
  report(key, 2, 300);
  report(key, 1, 100);
  EXPECT_EQ(port_of(key), 2);
  EXPECT_EQ(owner_->counts().stale, 1u);
  report(key, 1, 301);
  EXPECT_EQ(port_of(key), 1);
}

TEST_F(fib_owner_test, rapid_alternation_is_flapping) {
  const std::uint64_t key = key_of(10, 7);
  report(key, 1, 10'000);
  report(key, 2, 20'000);
  report(key, 1, 20'000 + flap);  // a second later: two moves, no flapping
  EXPECT_EQ(owner_->counts().flapping, 0u);
  report(key, 2, 20'000 + flap + 500);
  report(key, 1, 20'000 + flap + 900);
  EXPECT_EQ(owner_->counts().flapping, 2u);
  EXPECT_EQ(owner_->counts().moved, 4u);
}

TEST_F(fib_owner_test, static_entries_stay) {
  const std::uint64_t key = key_of(10, 7);
  store_static(key, 3);
  report(key, 1, 100);
  EXPECT_EQ(port_of(key), 3);
  EXPECT_EQ(owner_->counts().static_kept, 1u);
  EXPECT_EQ(owner_->learned_on_port(3), 0u) << "static entries are not learned";
}

// Red when the port stays closed after there is room, or open at its limit.
TEST_F(fib_owner_test, a_port_is_closed_while_it_is_at_its_limit) {
  const port_rule two{.learns = true, .mac_limit = 2, .closes = true};
  owner_->set_rule(1, two);
  report(key_of(10, 1), 1, 100);
  EXPECT_EQ(closed_, 0u);
  report(key_of(10, 2), 1, 101);
  EXPECT_EQ(closed_, port_bit(1));
  EXPECT_EQ(owner_->take_violations(), 0u) << "the limit is reached, not passed";
  report(key_of(10, 3), 1, 102);
  EXPECT_EQ(owner_->take_violations(), port_bit(1));
  EXPECT_EQ(owner_->take_violations(), 0u);
  report(key_of(10, 2), 2, 5000);  // moves away
  EXPECT_EQ(closed_, 0u);
  report(key_of(10, 3), 1, 5001);
  EXPECT_EQ(closed_, port_bit(1));
  EXPECT_TRUE(owner_->erase(key_of(10, 3)));
  EXPECT_EQ(closed_, 0u);
  report(key_of(10, 4), 1, 5002);
  store_static(key_of(10, 4), 1);  // which is not learned
  EXPECT_EQ(closed_, 0u);
  report(key_of(10, 5), 1, 5003);
  EXPECT_EQ(closed_, port_bit(1));
  owner_->set_rule(1, {.learns = true, .mac_limit = 3, .closes = true});
  EXPECT_EQ(closed_, 0u);
  owner_->set_rule(1, two);
  EXPECT_EQ(closed_, port_bit(1));
  owner_->set_rule(1, {.learns = true, .mac_limit = 2});
  EXPECT_EQ(closed_, 0u);
  owner_->set_rule(1, two);
  pass(80);  // all of them age
  EXPECT_EQ(owner_->learned_on_port(1), 0u);
  EXPECT_EQ(closed_, 0u);
}

TEST_F(fib_owner_test, what_is_being_flushed_violates_nothing) {
  owner_->set_rule(1, {.learns = true, .mac_limit = 1, .closes = true});
  report(key_of(10, 1), 1, 100);
  const auto job = owner_->start_flush({});
  report(key_of(10, 2), 1, 101);
  EXPECT_EQ(owner_->counts().limited, 1u);
  EXPECT_EQ(owner_->take_violations(), 0u);
  while (owner_->flush_slice(16)) {
  }
  EXPECT_TRUE(job->done());
  EXPECT_EQ(closed_, 0u);
  report(key_of(10, 2), 1, 200);
  report(key_of(10, 3), 1, 201);
  EXPECT_EQ(owner_->take_violations(), port_bit(1));
}

TEST_F(fib_owner_test, limits_count_and_hold) {
  owner_->set_rule(1, {true, 2, 0});
  for (std::uint64_t mac = 1; mac <= 5; ++mac) report(key_of(10, mac), 1, 100 + mac);
  EXPECT_EQ(owner_->learned_on_port(1), 2u);
  EXPECT_EQ(owner_->counts().limited, 3u);
  report(key_of(10, 2), 1, 200);  // known already
  EXPECT_EQ(owner_->counts().limited, 3u);
  report(key_of(10, 50), 2, 300);
  report(key_of(10, 50), 1, 5000);  // may not move there
  EXPECT_EQ(port_of(key_of(10, 50)), 2);
  EXPECT_EQ(owner_->counts().limited, 4u);
  EXPECT_TRUE(owner_->erase(key_of(10, 1)));
  report(key_of(10, 3), 1, 6000);
  EXPECT_EQ(port_of(key_of(10, 3)), 1);
}

TEST_F(fib_owner_test, reports_from_ports_that_left_are_stale) {
  owner_->set_rule(1, {false, 0, 0});
  report(key_of(10, 1), 1, 100);
  owner_->set_members(20, 0b0100);
  report(key_of(20, 1), 3, 100);
  report(key_of(10, 1), 63, 100);
  EXPECT_EQ(owner_->counts().stale, 3u);
  EXPECT_EQ(owner_->counts().added, 0u);
}

TEST_F(fib_owner_test, a_full_fib_refuses_and_counts) {
  std::uint64_t mac = 1;
  for (; owner_->counts().full == 0 && mac < 100'000; ++mac) report(key_of(10, mac), 1, mac);
  ASSERT_GT(mac, 2000u);
  std::uint64_t there = 0;
  for (std::uint64_t m = 1; m < mac; ++m) there += port_of(key_of(10, m)) == 1 ? 1 : 0;
  EXPECT_EQ(there, owner_->learned_on_port(1));
  EXPECT_EQ(there, mac - 2);
}

TEST_F(fib_owner_test, flushes_by_port_and_vlan_leave_the_rest) {
  for (std::uint64_t mac = 1; mac <= 300; ++mac) {
    report(key_of(10, mac), 1 + mac % 3, mac);
    report(key_of(20, mac), 1 + mac % 3, mac);
  }
  store_static(key_of(10, 1000), 2);
  flush_filter by_port;
  by_port.ports = port_bit(2);
  EXPECT_EQ(flush(by_port), 200u);
  EXPECT_EQ(owner_->learned_on_port(2), 0u);
  EXPECT_EQ(port_of(key_of(10, 1000)), 2);
  flush_filter by_vlan;
  by_vlan.domains.reset();
  by_vlan.domains.set(20);
  EXPECT_EQ(flush(by_vlan), 200u);
  EXPECT_EQ(owner_->learned_in_domain(20), 0u);
  EXPECT_EQ(owner_->learned_in_domain(10), 200u);
  by_port.statics = true;
  EXPECT_EQ(flush(by_port), 1u);
}

TEST_F(fib_owner_test, silent_addresses_age_out_and_others_stay) {
  const std::uint64_t silent = key_of(10, 1), busy = key_of(10, 2), fixed = key_of(10, 3);
  report(silent, 1, 100);
  report(busy, 1, 100);
  store_static(fixed, 2);
  std::uint64_t time = 200;
  unsigned lived = 0;
  for (unsigned s = 0; s < 120; ++s) {
    pass(1);
    report(busy, 1, ++time);
    if (port_of(silent) == 1) lived = s + 1;
  }
  // Ageing time 60 s: gone between 5/6 and 7/6 of it.
  EXPECT_GE(lived, 49u);
  EXPECT_LE(lived, 70u);
  EXPECT_EQ(port_of(busy), 1);
  EXPECT_EQ(port_of(fixed), 2);
  EXPECT_EQ(owner_->learned_on_port(1), 1u);
  EXPECT_EQ(published_.load(), owner_->epoch());
}

// A burst of inserts moves more expired entries behind the sweep than the table notes: it begins
// the sweep anew. Red when the owner then goes on at the pace of a sweep that is nearly over.
TEST_F(fib_owner_test, an_epoch_ends_in_time_when_its_sweep_begins_anew) {
  std::uint64_t mac = 1;
  for (; owner_->counts().full == 0; ++mac) report(key_of(10, mac), 1, mac);
  pass(65);  // half of the entries are gone, half are six epochs old
  const std::uint32_t epoch = owner_->epoch();
  const std::uint64_t half = owner_->learned_on_port(1);
  EXPECT_GT(half, mac / 3);
  EXPECT_LT(half, mac * 2 / 3);
  for (std::uint64_t i = 0; i < mac / 3; ++i) report(key_of(20, i), 2, mac + i);
  pass(6);
  EXPECT_NE(owner_->epoch(), epoch);
  EXPECT_EQ(owner_->learned_on_port(1), 0u);
  EXPECT_EQ(owner_->learned_on_port(2), mac / 3);
}

TEST_F(fib_owner_test, ageing_can_be_switched_off) {
  owner_->set_ageing(0, now_ns_);
  report(key_of(10, 1), 1, 100);
  pass(500);
  EXPECT_EQ(port_of(key_of(10, 1)), 1);
  owner_->set_ageing(6, now_ns_);
  pass(20);
  EXPECT_EQ(port_of(key_of(10, 1)), -1);
}

// Red when guests go home only with the sweep, or when tidying ages.
TEST_F(fib_owner_test, guests_go_home_also_where_nothing_ages) {
  const auto in_secondary = [&] {
    coua_fib_stats stats{};
    stats.size = sizeof stats;
    coua_fib_get_stats(owner_->fib(), &stats);
    return stats.in_secondary;
  };
  std::uint64_t mac = 1;
  for (; owner_->counts().full == 0; ++mac) report(key_of(10, mac), 1, mac);
  pass(50);  // five epochs: a sixth would expire them
  owner_->set_ageing(0, now_ns_);
  for (std::uint64_t m = 1; m < mac / 2; ++m) (void)owner_->erase(key_of(10, m));
  const std::uint64_t before = in_secondary(), there = owner_->learned_on_port(1);
  pass(100);
  EXPECT_LT(in_secondary(), before / 4);
  EXPECT_EQ(owner_->learned_on_port(1), there);
  EXPECT_EQ(port_of(key_of(10, mac / 2)), 1);
}

TEST_F(fib_owner_test, reports_from_before_a_port_came_are_stale) {
  owner_->set_rule(1, {true, 0, 1000});
  report(key_of(10, 1), 1, 999);
  EXPECT_EQ(port_of(key_of(10, 1)), -1);
  EXPECT_EQ(owner_->counts().stale, 1u);
  report(key_of(10, 1), 1, 1000);
  EXPECT_EQ(port_of(key_of(10, 1)), 1);
}

// Red when each flush of a port is queued behind the one before.
TEST_F(fib_owner_test, flushes_that_are_asked_for_again_wait_once) {
  const auto slices_until_done = [&](const flush_filter& last) {
    const auto job = owner_->start_flush(last);
    std::size_t slices = 0;
    while (!job->done()) {
      owner_->flush_slice(256);
      ++slices;
    }
    EXPECT_FALSE(owner_->flush_slice(1));
    return slices;
  };
  const std::size_t alone = slices_until_done({});
  flush_filter of_one;
  of_one.ports = 0b10;
  for (unsigned i = 0; i < 100; ++i) {
    ASSERT_TRUE(owner_->request_flush(of_one));
    if (i % 10 == 0) owner_->flush_slice(256);  // what runs already is too late to be asked again
  }
  EXPECT_LE(slices_until_done({}), 3 * alone);
  // What comes behind one that runs needs another.
  ASSERT_TRUE(owner_->request_flush(of_one));
  for (std::size_t i = 1; i < alone; ++i) owner_->flush_slice(256);
  for (std::uint64_t i = 0; i < 100; ++i) report(key_of(10, 0x020000000000 + i), 1, 100);
  ASSERT_TRUE(owner_->request_flush(of_one));
  while (owner_->flush_slice(256)) {
  }
  EXPECT_EQ(owner_->learned_on_port(1), 0u);
}

TEST_F(fib_owner_test, one_flush_does_what_several_asked_for) {
  owner_->set_members(30, 0b1110);
  for (const std::uint16_t vlan : {10, 20, 30})
    for (const unsigned port : {1u, 2u})
      report(key_of(vlan, 0x020000000000 + vlan + port), port, 100);
  flush_filter by_vlan;
  by_vlan.ports = 0b10;
  by_vlan.domains.reset().set(30);
  const auto before = owner_->start_flush(by_vlan);  // somebody waits for its count
  for (const std::size_t vlan : {10, 20}) {
    by_vlan.domains.reset().set(vlan);
    ASSERT_TRUE(owner_->request_flush(by_vlan));
  }
  by_vlan.ports = 0b100;  // VLAN 20 alone
  ASSERT_TRUE(owner_->request_flush(by_vlan));
  while (owner_->flush_slice(16)) {
  }
  EXPECT_EQ(before->removed(), 1u);
  EXPECT_EQ(owner_->learned_on_port(1), 0u) << "in all VLANs";
  EXPECT_EQ(owner_->learned_in_domain(10), 1u);
  EXPECT_EQ(owner_->learned_in_domain(20), 0u);
  EXPECT_EQ(owner_->learned_in_domain(30), 1u);
}

// Red when entries of one kind, or of one way to go, are not counted: then a domain is given away
// that still has some.
TEST_F(fib_owner_test, counts_what_a_domain_has_whatever_its_kind) {
  const auto stored = [&](std::uint16_t domain, std::uint64_t mac, bool is_static) {
    coua_fib_record record{};
    record.key = key_of(domain, mac);
    record.value = 1;
    record.is_static = is_static;
    EXPECT_EQ(owner_->store({&record, 1}), 1u);
  };
  report(key_of(10, 0x020000000001), 1, 100);
  stored(10, 0x020000000002, false);
  stored(10, 0x020000000003, true);
  stored(10, 0x020000000003, true);
  EXPECT_EQ(owner_->entries_in_domain(10), 3u);
  EXPECT_EQ(owner_->learned_in_domain(10), 2u);
  stored(10, 0x020000000001, true);
  EXPECT_EQ(owner_->entries_in_domain(10), 3u);
  EXPECT_EQ(owner_->learned_in_domain(10), 1u);
  EXPECT_TRUE(owner_->erase(key_of(10, 0x020000000003)));
  EXPECT_EQ(owner_->entries_in_domain(10), 2u);
  flush_filter all;
  all.statics = true;
  EXPECT_EQ(flush(all), 2u);
  EXPECT_EQ(owner_->entries_in_domain(10), 0u);
}

// Red when a report by a worker that saw the old VLAN of a domain is believed for the new one.
TEST_F(fib_owner_test, reports_from_before_a_domain_was_another_vlans_are_stale) {
  owner_->begin_domain(10, 200);
  report(key_of(10, 0x020000000001), 1, 199);
  EXPECT_EQ(owner_->entries_in_domain(10), 0u);
  EXPECT_EQ(owner_->counts().stale, 1u);
  report(key_of(10, 0x020000000001), 1, 200);
  EXPECT_EQ(owner_->entries_in_domain(10), 1u);
}

// Red when a slice of a flush goes on until it meets entries.
TEST_F(fib_owner_test, a_flush_passes_empty_buckets_in_slices_too) {
  const auto job = owner_->start_flush({});
  unsigned slices = 1;
  while (owner_->flush_slice(256)) ++slices;
  EXPECT_TRUE(job->done());
  EXPECT_EQ(job->removed(), 0u);
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  coua_fib_get_stats(owner_->fib(), &stats);
  EXPECT_GE(slices, stats.buckets / 512);
}

TEST_F(fib_owner_test, replaced_entries_keep_the_counts_right) {
  coua_fib_record records[3] = {};
  for (auto& record : records) record.key = key_of(10, 5);
  records[0].value = 1;
  records[1].value = 2;
  records[2].value = 3;
  records[2].is_static = 1;
  EXPECT_EQ(owner_->store(records), 3u);
  EXPECT_EQ(owner_->learned_on_port(1), 0u);
  EXPECT_EQ(owner_->learned_on_port(2), 0u);
  EXPECT_EQ(owner_->learned_on_port(3), 0u);
  EXPECT_EQ(owner_->learned_in_domain(10), 0u);
  EXPECT_EQ(port_of(key_of(10, 5)), 3);
}

// Red when a flush ends where its cursor is lost.
TEST(fib_owner, a_flush_ends_among_more_moves_than_its_cursor_can_follow) {
  fib_owner_params params;
  params.entries = 2000;
  const auto made = fib_owner::create(params);
  ASSERT_TRUE(made) << made.error().message();
  fib_owner& owner = **made;
  const auto store = [&](std::uint64_t i, unsigned port) {
    coua_fib_record record{};
    record.key = key_of(1, 0x020000000000 + i);
    record.value = port;
    ASSERT_EQ(owner.store(std::span(&record, 1)), 1u);
  };
  coua_fib_stats stats{};
  stats.size = sizeof stats;
  coua_fib_get_stats(owner.fib(), &stats);
  const std::uint64_t n = stats.slots * 94 / 100, n_flushed = n / 100;
  for (std::uint64_t i = 0; i < n; ++i) store(i, i < n_flushed ? 1 : 2);
  flush_filter filter;
  filter.ports = port_bit(1);
  const auto job = owner.start_flush(filter);
  while (job->removed() < n_flushed / 2) owner.flush_slice(256);
  // Others come and go at port 2, and move those of port 1 back and forth.
  for (std::uint64_t i = n; i < n + 2'000'000; ++i) {
    ASSERT_TRUE(owner.erase(key_of(1, 0x020000000000 + i - n + n_flushed)));
    store(i, 2);
  }
  while (owner.flush_slice(1000)) {
  }
  EXPECT_TRUE(job->done());
  EXPECT_EQ(job->removed(), n_flushed);
  EXPECT_EQ(owner.learned_on_port(1), 0u);
}

// A table of 4 M entries fills 2 MiB pages, and takes reserved ones by default where there are
// some.
TEST(fib_owner, reserved_pages_are_left_alone_when_they_are_not_wanted) {
  for (const std::uint64_t entries : {std::uint64_t{1000}, std::uint64_t{4'000'000}}) {
    fib_owner_params params;
    params.entries = entries;
    params.huge_pages = false;
    const auto made = fib_owner::create(params);
    ASSERT_TRUE(made) << made.error().message();
    coua_fib_stats stats{};
    stats.size = sizeof stats;
    coua_fib_get_stats((*made)->fib(), &stats);
    EXPECT_TRUE(stats.pages == COUA_FIB_PAGES_4K || stats.pages == COUA_FIB_PAGES_TRANSPARENT);
    EXPECT_TRUE(entries > 1000 || stats.pages == COUA_FIB_PAGES_4K);
  }
}

}  // namespace
}  // namespace coua::dp
