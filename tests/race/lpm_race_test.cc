// SPDX-License-Identifier: Apache-2.0
//
// Readers of a table of prefixes while its writer inserts and erases: shorter, longer and between.
// Each prefix has a count that is odd while it surely is there. Who finds the same odd count before
// a look-up and after the walk up its chain must have met the prefix.
#include <gtest/gtest.h>

#include <thread>

#include "pipeline/datapath/lpm_table.h"
#include "race.h"

namespace coua::pipeline {
namespace {

using test::fault_log;

ipv4_number number(std::mt19937_64& random, ipv4_number) {
  const std::uint64_t high = random() & random() & random();
  return {static_cast<std::uint32_t>(high)};
}
ipv6_number number(std::mt19937_64& random, ipv6_number) {
  return {random() & random() & random() & random(), random() & random() & random() & random()};
}

/// Some prefixes of few addresses: those below one another are many, and so are those that part.
template <class Address>
struct raced_prefixes {
  static constexpr unsigned n = 96;
  static constexpr unsigned n_addresses = 24;

  struct one {
    Address prefix;
    unsigned length;
    std::atomic<std::uint64_t> count{0};
    std::uint32_t handle;
  };

  explicit raced_prefixes(std::mt19937_64& random) {
    for (Address& address : addresses) {
      // One shares some bits with the one before: they part anywhere.
      const Address other = number(random, Address{});
      const Address before = &address == addresses ? other : (&address)[-1];
      address = before.first(static_cast<unsigned>(random() % Address::n_bits));
      address = merge(address, other);
    }
    for (one& each : all) {
      do {
        each.length = static_cast<unsigned>(random() % (Address::n_bits + 1));
        each.prefix = addresses[random() % n_addresses].first(each.length);
      } while (find(each.prefix, each.length) != &each);
      each.handle = static_cast<std::uint32_t>(&each - all);
    }
  }
  const one* find(Address prefix, unsigned length) const {
    const one* at = all;
    while (at->length != length || at->prefix != prefix) ++at;
    return at;
  }
  static ipv4_number merge(ipv4_number a, ipv4_number b) { return {a.bits | b.bits}; }
  static ipv6_number merge(ipv6_number a, ipv6_number b) {
    return {a.high | b.high, a.low | b.low};
  }

  Address addresses[n_addresses];
  one all[n];
};

template <class Address>
class raced_readers {
 public:
  using table = lpm_table<Address>;
  using prefixes = raced_prefixes<Address>;

  raced_readers(qsbr& domain, const table& raced, const prefixes& all, fault_log& faults)
      : table_(raced), all_(all), faults_(faults) {
    for (unsigned t = 0; t < 2; ++t) {
      threads_.emplace_back([this, t, reader = *domain.register_reader()]() mutable {
        std::mt19937_64 random(t);
        reader.online();
        while (!stop_.load(std::memory_order_relaxed)) {
          look_up(random);
          reader.quiescent();
        }
        reader.offline();
      });
    }
  }
  ~raced_readers() {
    stop_ = true;
    for (std::thread& each : threads_) each.join();
  }
  std::uint64_t proven() const { return n_proven_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t n_batch = 40;

  void look_up(std::mt19937_64& random) {
    const std::size_t n = 1 + random() % n_batch;
    std::uint64_t before[prefixes::n];
    for (unsigned i = 0; i < prefixes::n; ++i) {
      before[i] = all_.all[i].count.load(std::memory_order_acquire);
    }
    const table* tables[n_batch];
    Address addresses[n_batch];
    lpm_slot slots[n_batch];
    std::fill_n(tables, n, &table_);
    for (std::size_t i = 0; i < n; ++i) {
      addresses[i] = all_.addresses[random() % prefixes::n_addresses];
      // Not only those that were inserted.
      if (random() % 4 == 0) addresses[i] = addresses[i].first(random() % Address::n_bits);
    }
    if (random() % 2 == 0) {
      table::lookup(tables, addresses, n, slots);
    } else {
      look_up_alone(addresses, n, slots);
    }
    for (std::size_t i = 0; i < n; ++i) walk(addresses[i], slots[i], before);
  }

  /// With the handles, which may have changed since: a prefix has its own, and multiples above it.
  void look_up_alone(const Address* addresses, std::size_t n, lpm_slot* slots) {
    lpm_handle handles[n_batch];
    table_.lookup(addresses, n, slots, handles);
    for (std::size_t i = 0; i < n; ++i) {
      const lpm_handle now = slots[i] == 0 ? 0 : table_.handle(slots[i]);
      if (handles[i] % prefixes::n != now % prefixes::n) {
        faults_.report("wrong handle", handles[i], now, slots[i]);
      }
    }
  }

  void walk(Address address, lpm_slot slot, const std::uint64_t* before) {
    bool met[prefixes::n] = {};
    unsigned length = Address::n_bits + 1;
    for (; slot != 0; slot = table_.parent(slot)) {
      const std::uint32_t handle = table_.handle(slot);
      const typename prefixes::one& meant = all_.all[handle % prefixes::n];
      if (table_.length(slot) >= length) {
        faults_.report("order", handle, table_.length(slot), length);
        return;  // perhaps it goes in circles
      }
      length = table_.length(slot);
      if (!table_.covers(slot, address)) faults_.report("does not match", handle, slot, length);
      if (length != meant.length || table_.prefix(slot) != meant.prefix) {
        faults_.report("wrong handle", handle, length, meant.length);
      }
      met[handle % prefixes::n] = true;
    }
    for (unsigned i = 0; i < prefixes::n; ++i) {
      const typename prefixes::one& each = all_.all[i];
      if (before[i] % 2 == 0 || !address.agrees(each.prefix, each.length)) continue;
      if (each.count.load(std::memory_order_acquire) != before[i]) continue;
      if (!met[i]) faults_.report("missed", i, 0, each.length);
      n_proven_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  const table& table_;
  const prefixes& all_;
  fault_log& faults_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> n_proven_{0};
  std::vector<std::thread> threads_;
};

/// A third of the prefixes stays, the others come and go.
template <class Address>
void race_prefixes(unsigned root_bits) {
  std::mt19937_64 seed(root_bits);
  std::uint64_t n_updates = 0, n_groups = 0;
  fault_log faults;
  std::uint64_t n_proven = 0;
  const auto enough = [&] { return n_updates > 2000 && n_proven > 2000 && n_groups > 0; };
  test::race_until(enough, [&](std::mt19937_64& random) {
    raced_prefixes<Address> all(seed);
    qsbr domain;
    reclaimer reclaim(domain);
    auto raced = *lpm_table<Address>::create({.root_bits = root_bits}, reclaim);
    const auto insert = [&](typename raced_prefixes<Address>::one& one) {
      ASSERT_TRUE(raced->insert(one.prefix, one.length, one.handle));
      one.count.fetch_add(1, std::memory_order_release);
    };
    for (auto& each : all.all) {
      if (each.handle % 3 == 0) insert(each);
    }
    {
      const raced_readers<Address> readers(domain, *raced, all, faults);
      for (unsigned i = 0; i < 3000 || readers.proven() < 100; ++i) {
        auto& one = all.all[random() % all.n];
        if (one.handle % 3 == 0) {
          // The same prefix by another handle.
          raced->set_handle(raced->find(one.prefix, one.length),
                            one.handle + all.n * static_cast<std::uint32_t>(i % 7));
        } else if (one.count.load(std::memory_order_relaxed) % 2 == 0) {
          insert(one);
        } else {
          one.count.fetch_add(1, std::memory_order_acq_rel);
          ASSERT_TRUE(raced->erase(one.prefix, one.length));
        }
        reclaim.reclaim();
        ++n_updates;
        n_groups = std::max<std::uint64_t>(n_groups, raced->stats().groups);
      }
      n_proven += readers.proven();
    }
    reclaim.retire(std::move(raced));
  });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

/// Two prefixes that part come and go in turns, and one above them with them: the group that this
/// takes is made and taken out under a prefix that stays.
template <class Address>
void race_a_group(Address stays, Address parts, unsigned length) {
  fault_log faults;
  qsbr domain;
  reclaimer reclaim(domain);
  auto raced = *lpm_table<Address>::create({}, reclaim);
  ASSERT_TRUE(raced->insert(stays, length, 1));
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> n_asked{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&, reader = *domain.register_reader()]() mutable {
      reader.online();
      std::uint64_t n_turns = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        const lpm_table<Address>* const tables[] = {raced.get(), raced.get()};
        const Address addresses[] = {stays, parts};
        lpm_slot slots[2];
        if (++n_turns % 2 == 0) {
          lpm_table<Address>::lookup(tables, addresses, 2, slots);
        } else {
          lpm_handle handles[2];
          raced->lookup(addresses, 2, slots, handles);
          if (handles[0] != 1) faults.report("missed", handles[0], slots[0], 1);
        }
        if (slots[0] == 0 || raced->handle(slots[0]) != 1) faults.report("missed", 0, slots[0], 1);
        for (lpm_slot at = slots[1]; at != 0; at = raced->parent(at)) {
          if (raced->handle(at) == 1) faults.report("wrong", 1, at, 2);
        }
        n_asked.fetch_add(1, std::memory_order_relaxed);
        reader.quiescent();
      }
      reader.offline();
    });
  }
  const unsigned common = stays.common(parts);
  std::uint64_t n_updates = 0;
  test::race_until([&] { return n_updates > 1000 && n_asked.load() > 1000; },
                   [&](std::mt19937_64& random) {
                     const bool with_above = random() % 2 == 0;
                     const Address above = stays.first(common);
                     if (with_above) {
                       ASSERT_TRUE(raced->insert(above, common, 3));
                     }
                     ASSERT_TRUE(raced->insert(parts, length, 2));
                     ASSERT_EQ(raced->stats().groups, 1u);
                     if (with_above) {
                       ASSERT_TRUE(raced->erase(above, common));
                     }
                     ASSERT_TRUE(raced->erase(parts, length));
                     ASSERT_EQ(raced->stats().groups, 0u);
                     reclaim.reclaim();
                     ++n_updates;
                   });
  stop = true;
  for (std::thread& each : threads) each.join();
  reclaim.retire(std::move(raced));
  EXPECT_EQ(faults.count(), 0u) << faults.text();
}

TEST(lpm_race, a_group_comes_and_goes) {
  race_a_group(ipv4_number{0x0a01'0200}, ipv4_number{0x0a01'8200}, 24);
}
TEST(lpm_race, a_group_far_below_its_entry_comes_and_goes) {
  race_a_group(ipv6_number{0x2001'0db8'0000'0001, 0}, ipv6_number{0x2001'0db8'0000'0003, 0}, 64);
}
TEST(lpm_race, ipv4_root_16) { race_prefixes<ipv4_number>(16); }
TEST(lpm_race, ipv4_root_8) { race_prefixes<ipv4_number>(8); }
TEST(lpm_race, ipv6_root_16) { race_prefixes<ipv6_number>(16); }
TEST(lpm_race, ipv6_root_8) { race_prefixes<ipv6_number>(8); }

}  // namespace
}  // namespace coua::pipeline
