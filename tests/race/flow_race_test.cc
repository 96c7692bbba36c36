// SPDX-License-Identifier: Apache-2.0
//
// Readers of a flow table against its writer. Tables are small on purpose: the fewer slots, the
// more often a reader stands where the writer moves.
#include <coua/flow_table.h>

#include <array>
#include <cstring>
#include <memory>

#include "race.h"

namespace coua::test {
namespace {

struct flow_race_case {
  const char* name;
  enum coua_flow_variant variant;
  bool timed;
  std::uint64_t buckets;
  std::uint32_t key_bytes;    // at least 8
  std::uint32_t value_bytes;  // 8, 16 or 64
};

void PrintTo(const flow_race_case& c, std::ostream* out) { *out << c.name; }

const flow_race_case raced_flows[] = {
    {"bloom", COUA_FLOW_BLOOM, false, 32, 16, 16},
    {"bloom_word", COUA_FLOW_BLOOM, false, 32, 16, 8},
    {"bloom_long", COUA_FLOW_BLOOM, false, 300, 37, 16},
    {"optimistic", COUA_FLOW_OPTIMISTIC, false, 32, 16, 16},
    {"pessimistic", COUA_FLOW_PESSIMISTIC, false, 32, 16, 16},
    {"horton_wide", COUA_FLOW_HORTON, false, 32, 16, 64},
    {"bloom_long_wide", COUA_FLOW_BLOOM, true, 32, 37, 64},
    {"optimistic_timed", COUA_FLOW_OPTIMISTIC, true, 32, 16, 16},
};
const flow_race_case timed_flows[] = {
    {"bloom", COUA_FLOW_BLOOM, true, 32, 16, 16},
    {"bloom_word", COUA_FLOW_BLOOM, true, 8, 13, 8},
    {"pessimistic", COUA_FLOW_PESSIMISTIC, true, 32, 20, 16},
    {"horton", COUA_FLOW_HORTON, true, 32, 16, 16},
};

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// As much of it as the table's values have; the rest stays 0.
using race_value = std::array<std::uint64_t, 8>;

struct destroy_flow {
  void operator()(coua_flow_table* table) const { coua_flow_destroy(table); }
};

class flow_race : public testing::TestWithParam<flow_race_case> {
 protected:
  static constexpr std::size_t key_stride = 48;
  static constexpr unsigned n_readers = 2;
  static constexpr std::uint64_t start_ms = 65'450;  // times of 16 bits come round soon

  void SetUp() override {
    const flow_race_case& c = GetParam();
    coua_flow_params params = COUA_FLOW_PARAMS_INIT;
    params.buckets = c.buckets;
    params.key_bytes = c.key_bytes;
    params.value_bytes = c.value_bytes;
    params.key_stride = key_stride;
    params.value_stride = sizeof(race_value);
    params.variant = c.variant;
    params.sync = COUA_FLOW_ONE_WRITER;
    params.timers = c.timed ? COUA_FLOW_TIMERS_ON : COUA_FLOW_TIMERS_OFF;
    params.unit_ms = 1;
    params.now_ms = start_ms;
    params.pages = COUA_FLOW_PAGES_4K;
    params.expired_ring = ring_entries();
    coua_flow_table* made = nullptr;
    char message[200] = "";
    ASSERT_EQ(coua_flow_create(&params, &made, message, sizeof message), 0) << message;
    table_.reset(made);
    n_slots_ = stats().slots;
  }
  virtual std::uint64_t ring_entries() const { return 0; }
  coua_flow_table* table() const { return table_.get(); }
  coua_flow_stats stats() const {
    coua_flow_stats stats{};
    stats.size = sizeof stats;
    coua_flow_get_stats(table(), &stats);
    return stats;
  }
  std::uint32_t units(std::uint32_t n) const { return GetParam().timed ? n : 0; }

  static void put_key(std::uint64_t number, std::uint8_t* key) {
    const std::uint64_t words[6] = {mixed(number), number, number >> 3, 7, mixed(number >> 5), 1};
    std::memcpy(key, words, key_stride);
  }
  /// The second word is computed from key and first: a value of two pieces gives itself away. One
  /// word carries half of each.
  race_value value_of(std::uint64_t number, std::uint64_t generation) const {
    if (GetParam().value_bytes == 8) {
      return {generation << 32 | (mixed(number ^ generation << 40) >> 32), 0};
    }
    race_value value = {generation, mixed(number ^ generation << 40)};
    for (std::size_t w = 2; w < GetParam().value_bytes / 8; ++w) value[w] = mixed(value[w - 1]);
    return value;
  }
  bool holds(std::uint64_t number, const race_value& value) const {
    const std::uint64_t generation = GetParam().value_bytes == 8 ? value[0] >> 32 : value[0];
    return value_of(number, generation) == value;
  }
  int insert(std::uint64_t number, std::uint64_t generation, std::uint32_t life) {
    std::uint8_t key[key_stride];
    put_key(number, key);
    const race_value value = value_of(number, generation);
    return coua_flow_insert(table(), key, value.data(), units(life));
  }
  void erase(std::uint64_t number) {
    std::uint8_t key[key_stride];
    put_key(number, key);
    coua_flow_erase(table(), key, nullptr);
  }
  /// The same by another call: insert only where it is not there, or find or add; by batches of it
  /// and of a key that is never there.
  bool add(std::mt19937_64& random, std::uint64_t number, std::uint64_t generation) {
    std::uint8_t key[key_stride];
    put_key(number, key);
    race_value value = value_of(number, generation);
    std::int8_t result = 0;
    switch (random() % 5) {
      case 0: return coua_flow_add(table(), key, value.data(), units(1024)) == COUA_FLOW_ADDED;
      case 1:
        return coua_flow_find_or_add(table(), key, value.data(), units(1024)) == COUA_FLOW_ADDED;
      case 2:
        coua_flow_insert_batch(table(), key, nullptr, value.data(), 1, units(1024), &result);
        break;
      case 3:
        coua_flow_add_batch(table(), key, nullptr, value.data(), 1, units(1024), &result);
        break;
      default:
        coua_flow_find_or_add_batch(table(), key, nullptr, value.data(), 1, units(1024), &result);
    }
    return result == COUA_FLOW_ADDED;
  }
  void erase_two(std::uint64_t number, std::uint64_t other) {
    std::uint8_t keys[2 * key_stride];
    put_key(number, keys);
    put_key(other, keys + key_stride);
    coua_flow_erase_batch(table(), keys, nullptr, 2);
  }
  /// An entry that is there: set anew, renewed, or left as it is.
  void set_again(std::mt19937_64& random, std::uint64_t number, std::uint64_t generation) {
    std::uint8_t key[key_stride];
    put_key(number, key);
    switch (random() % 4) {
      case 0: coua_flow_refresh(table(), key, units(1024)); break;
      case 1: add(random, number, generation); break;
      default: insert(number, generation, 1024);
    }
  }
  /// A few buckets further, from the start again at the end.
  void step_cursor() {
    if (cursor_ == nullptr) {
      coua_flow_cursor_open(table(), &cursor_);
      return;
    }
    std::uint8_t keys[8 * key_stride] = {};
    race_value values[8] = {};
    const long n = coua_flow_cursor_next(cursor_, keys, values, nullptr, 8, 2);
    for (long i = 0; i < n; ++i) {
      std::uint64_t number;
      std::memcpy(&number, keys + i * key_stride + 8, sizeof number);
      if (!holds(number, values[i])) faults_.report("cursor", number, values[i][0], values[i][1]);
    }
    if (n >= 0) return;
    coua_flow_cursor_close(cursor_);
    cursor_ = nullptr;
  }

  /// Looks keys up in any way; `check(number, found, value)` for each.
  template <typename Check>
  void look_up(coua_flow_reader* reader, std::mt19937_64& random,
               std::span<const std::uint64_t> numbers, std::uint32_t refresh_units,
               Check check) const {
    const std::size_t n = numbers.size();
    std::vector<std::uint8_t> keys((n + 1) * key_stride);
    for (std::size_t i = 0; i < n; ++i) put_key(numbers[i], &keys[i * key_stride]);
    std::vector<race_value> values(n + coua_flow_pipeline_depth(reader));
    std::vector<std::uint64_t> hits(COUA_FLOW_WORDS(values.size()));
    const auto report = [&](std::size_t from, std::size_t n_out) {
      for (std::size_t i = 0; i < n_out; ++i) {
        check(numbers[from + i], (hits[i / 64] >> i % 64 & 1) != 0, values[i]);
      }
    };
    if (refresh_units != 0) {
      coua_flow_lookup_refresh(reader, keys.data(), n, values.data(), hits.data(), refresh_units);
      return report(0, n);
    }
    switch (random() % 5) {
      case 0:
        for (std::size_t i = 0; i < n; ++i) {
          const bool hit = coua_flow_lookup(reader, &keys[i * key_stride], &values[0]) != 0;
          check(numbers[i], hit, values[0]);
        }
        return;
      case 1:
        coua_flow_lookup_batch(reader, keys.data(), n, values.data(), hits.data());
        return report(0, n);
      case 2:
        coua_flow_lookup_ahead(reader, keys.data(), n, values.data(), hits.data(), keys.data(),
                               n / 2);
        return report(0, n);
      case 3: {
        std::vector<std::uint64_t> hashes(n);
        coua_flow_hash_batch(table(), keys.data(), n, hashes.data());
        coua_flow_lookup_hashed(reader, keys.data(), hashes.data(), n, values.data(), hits.data());
        return report(0, n);
      }
      default: {
        const std::size_t n_out =
            coua_flow_pipeline(reader, keys.data(), n, values.data(), hits.data());
        report(0, n_out);
        report(n_out, coua_flow_pipeline_drain(reader, values.data(), hits.data()));
      }
    }
  }

  /// Runs `read(reader, random)` on threads while `write` runs here and one thread asks for counts,
  /// for the race time, and on until there was `enough` to prove something.
  template <typename Read>
  void race_readers(Read read, const std::function<void(std::mt19937_64&)>& write,
                    const std::function<bool()>& enough) {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < n_readers; ++i) {
      threads.emplace_back([&, i] {
        coua_flow_reader* reader = nullptr;
        coua_flow_reader_create(table(), &reader);
        std::mt19937_64 random(i + 1);
        while (!stop) {
          read(reader, random);
          passes_.fetch_add(1);
        }
        coua_flow_reader_destroy(reader);
      });
    }
    threads.emplace_back([&] {
      while (!stop) {
        const coua_flow_stats seen = stats();
        if (seen.entries > n_slots_ + 1) faults_.report("counts", seen.entries, n_slots_, 0);
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    });
    race_until([&] { return passes_ > 2 && enough(); }, write);
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(passes_.load(), 2u);
    EXPECT_TRUE(enough());
  }
  /// Until every thread has likely looked at everything once more.
  void wait_for_readers() const {
    const std::uint64_t seen = passes_.load();
    while (passes_.load() < seen + 2 * n_readers) std::this_thread::yield();
  }

  std::unique_ptr<coua_flow_table, destroy_flow> table_;
  std::uint64_t n_slots_ = 0;
  std::atomic<std::uint64_t> passes_{0};
  coua_flow_cursor* cursor_ = nullptr;  // destroyed with the table
  fault_log faults_;
};

class flow_expiry_race : public flow_race {
 protected:
  void race_renewals(std::uint32_t life, std::uint64_t n_units);
};

class flow_ring_race : public flow_race {
  std::uint64_t ring_entries() const override { return 4; }
};

const auto name_of = [](const auto& c) { return std::string(c.param.name); };
INSTANTIATE_TEST_SUITE_P(more, flow_race, testing::ValuesIn(raced_flows), name_of);
INSTANTIATE_TEST_SUITE_P(timed, flow_race, testing::ValuesIn(timed_flows), name_of);
INSTANTIATE_TEST_SUITE_P(timed, flow_ring_race, testing::ValuesIn(timed_flows), name_of);
INSTANTIATE_TEST_SUITE_P(timed, flow_expiry_race, testing::ValuesIn(timed_flows), name_of);

TEST_P(flow_race, a_present_key_is_never_missed_and_no_value_is_torn) {
  const std::uint64_t n_stable = n_slots_ * 45 / 100, n_churn = n_slots_ * 60 / 100;
  const std::uint64_t n_room = n_slots_ * 95 / 100 - n_stable;
  for (std::uint64_t i = 0; i < n_stable; ++i) ASSERT_EQ(insert(i, 0, 1024), COUA_FLOW_ADDED);
  std::vector<bool> live(n_churn);
  std::uint64_t n_live = 0, generation = 0, now_ms = start_ms, steps = 0;
  const auto write = [&](std::mt19937_64& random) {
    ++generation;
    const std::uint64_t i = random() % n_churn;
    if (random() % 4 == 0) {
      set_again(random, random() % n_stable, generation & 0xffffff);
    } else if (live[i]) {
      erase_two(1'000'000 + i, 2'000'000 + i);
      live[i] = false;
      --n_live;
    } else if (n_live < n_room) {
      live[i] = add(random, 1'000'000 + i, generation & 0xffffff);
      n_live += live[i];
    }
    if (random() % 16 == 0) coua_flow_sweep(table(), 2);
    if (random() % 16 == 0) step_cursor();
    // Each stable key is set anew within the 1,024 units that it lives.
    if (++steps % 64 == 0) {
      for (std::uint64_t k = 0; k < n_stable && steps % 8192 == 0; ++k) {
        insert(k, generation & 0xffffff, 1024);
      }
      coua_flow_set_time(table(), ++now_ms);
    }
  };
  const auto read = [&](coua_flow_reader* reader, std::mt19937_64& random) {
    std::vector<std::uint64_t> numbers(1 + random() % 80);
    const bool all_are_there = random() % 2 == 0;  // such groups are taken in another way
    for (std::uint64_t& number : numbers) {
      const std::uint64_t which = all_are_there ? 2 : random() % 8;
      number = random() % n_stable;
      if (which == 0) number = 1'000'000 + random() % n_churn;
      if (which == 1) number += 2'000'000;
    }
    look_up(reader, random, numbers, 0, [&](std::uint64_t number, bool found, race_value value) {
      if (number < n_stable && !found) faults_.report("missed", number, 0, 1);
      if (number >= 2'000'000 && found) faults_.report("never inserted", number, 1, 0);
      if (found && !holds(number, value)) faults_.report("torn", number, value[0], value[1]);
    });
  };
  // Each puts an entry to another place; Horton tables, with seven to choose from, seldom have to.
  race_readers(read, write,
               [&] { return stats().moves + stats().sent_home + stats().updated > 100; });
  EXPECT_EQ(faults_.count(), 0u) << faults_.text();
}

// The same key comes back to the same slot with another value, again and again: tag and key agree
// at any moment, and only the version tells a reader that the value was exchanged under it.
TEST(flow_reuse_race, a_key_that_comes_back_never_has_a_value_of_two_pieces) {
  constexpr std::size_t n_words = 8;
  using value_words = std::array<std::uint64_t, n_words>;
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.buckets = 2;
  params.key_bytes = 8;
  params.value_bytes = sizeof(value_words);
  params.sync = COUA_FLOW_ONE_WRITER;
  params.timers = COUA_FLOW_TIMERS_OFF;
  params.pages = COUA_FLOW_PAGES_4K;
  coua_flow_table* made = nullptr;
  ASSERT_EQ(coua_flow_create(&params, &made, nullptr, 0), 0);
  const std::unique_ptr<coua_flow_table, destroy_flow> table(made);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> n_hits{0};
  fault_log faults;
  std::thread reading([&] {
    coua_flow_reader* reader = nullptr;
    coua_flow_reader_create(table.get(), &reader);
    for (std::uint64_t key = 0; !stop; key = (key + 1) % 2) {
      value_words value;
      if (coua_flow_lookup(reader, &key, value.data()) == 0) continue;
      ++n_hits;
      for (const std::uint64_t word : value) {
        if (word != value[0]) faults.report("torn", key, word, value[0]);
      }
    }
    coua_flow_reader_destroy(reader);
  });
  std::uint64_t generation = 0;
  const auto write = [&](std::mt19937_64&) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::uint64_t key = i % 2;
      value_words value;
      value.fill(++generation);
      coua_flow_erase(table.get(), &key, nullptr);
      coua_flow_insert(table.get(), &key, value.data(), 0);
    }
  };
  race_until([&] { return n_hits > 100; }, write);
  stop = true;
  reading.join();
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GT(n_hits.load(), 100u);
}

// A ring that is full most of the time, readers that renew, and an owner: whatever was added was
// either erased or comes out of the ring, once.
TEST_P(flow_ring_race, the_owner_is_told_of_each_expiry_once) {
  std::vector<bool> added, erased;  // by number; the writer's
  std::vector<bool> told;           // the owner's
  std::atomic<bool> stop{false};
  const auto drain = [&] {
    std::uint8_t keys[3 * key_stride] = {};
    race_value values[3] = {};
    const long n = coua_flow_drain(table(), keys, values, 3);
    for (long i = 0; i < n; ++i) {
      std::uint64_t number;
      std::memcpy(&number, keys + i * key_stride + 8, sizeof number);
      if (!holds(number, values[i])) faults_.report("torn", number, values[i][0], values[i][1]);
      if (number >= told.size()) told.resize(number + 1);
      if (told[number]) faults_.report("told twice", number, 1, 0);
      told[number] = true;
    }
    return n;
  };
  std::thread owner([&] {
    while (!stop) {
      while (drain() > 0) continue;
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // the ring fills up meanwhile
    }
  });
  std::atomic<std::uint64_t> n_inserted{0};
  std::uint64_t now_ms = start_ms;
  const auto write = [&](std::mt19937_64& random) {
    const std::uint64_t number = added.size();
    added.push_back(insert(number, number & 0xffffff, 1 + random() % 8) == COUA_FLOW_ADDED);
    erased.push_back(false);
    n_inserted = number + 1;
    const std::uint64_t old = random() % (number + 1);
    if (random() % 4 == 0 && added[old] && !erased[old]) {
      std::uint8_t key[key_stride];
      put_key(old, key);
      erased[old] = coua_flow_erase(table(), key, nullptr) == 0;
    }
    // A ring that is full all the time stops the time in the end; it goes on when there is room.
    if (number % 8 == 0 && coua_flow_set_time(table(), now_ms + 1) == 0) ++now_ms;
  };
  const auto read = [&](coua_flow_reader* reader, std::mt19937_64& random) {
    const std::uint64_t n = n_inserted;
    std::vector<std::uint64_t> numbers(1 + random() % 40);
    for (std::uint64_t& number : numbers)
      number = n - random() % std::min<std::uint64_t>(n + 1, 40);
    look_up(reader, random, numbers, 1 + random() % 8,
            [&](std::uint64_t number, bool found, race_value value) {
              if (found && !holds(number, value)) {
                faults_.report("torn", number, value[0], value[1]);
              }
            });
  };
  race_readers(read, write, [&] { return stats().refused > 0 && stats().expired >= 100; });
  stop = true;
  owner.join();
  while (coua_flow_set_time(table(), now_ms + 16) != 0) ASSERT_GT(drain(), 0);
  do {
    while (coua_flow_sweep(table(), 8) == 0) continue;
  } while (drain() > 0 || stats().entries > 0);
  told.resize(added.size());
  for (std::uint64_t i = 0; i < added.size(); ++i) {
    if (told[i] != (added[i] && !erased[i])) faults_.report("told", i, told[i], added[i]);
  }
  EXPECT_EQ(faults_.count(), 0u) << faults_.text();
}

TEST_P(flow_expiry_race, an_erased_entry_is_never_revived) {
  const std::uint64_t n_live = n_slots_ * 80 / 100;
  std::atomic<std::uint64_t> n_erased{0};  // keys below are gone for good
  std::atomic<std::uint64_t> n_inserted{0};
  std::uint64_t next = 0, now_ms = start_ms;
  const auto write = [&](std::mt19937_64& random) {
    insert(next, next & 0xffffff, 1 + random() % 1024);
    n_inserted = ++next;
    if (next <= n_live) return;
    erase(next - 1 - n_live);
    n_erased = std::max(n_erased.load(), next - n_live);
    if (next % 512 == 0) coua_flow_set_time(table(), ++now_ms);
    if (next % 4096 != 0) return;
    // All that is in the table ends: readers renew it while the whole of it is looked at.
    coua_flow_set_time(table(), now_ms += 40'000);
    n_erased = next;
  };
  const auto read = [&](coua_flow_reader* reader, std::mt19937_64& random) {
    const std::uint64_t gone = n_erased;
    std::vector<std::uint64_t> numbers(1 + random() % 40);
    // About the one that is being erased, so that renewal and erase meet.
    const std::uint64_t from = gone > 20 ? gone - 20 : 0;
    for (std::uint64_t& number : numbers) number = from + random() % 40;
    const auto check = [&](std::uint64_t number, bool found, race_value value) {
      if (number < gone && found) faults_.report("revived", number, gone, n_inserted);
      if (found && !holds(number, value)) faults_.report("torn", number, value[0], value[1]);
    };
    look_up(reader, random, numbers, 1 + random() % 1024, check);
  };
  race_readers(read, write, [&] { return n_erased > 100 && stats().full_scans > 1; });
  EXPECT_EQ(faults_.count(), 0u) << faults_.text();
  EXPECT_LE(stats().entries, n_slots_);
}

/// Entries that readers renew for `life` units live, others end in time; for `n_units` at least.
void flow_expiry_race::race_renewals(std::uint32_t life, std::uint64_t n_units) {
  const std::uint64_t n_stable = n_slots_ * 40 / 100;
  for (std::uint64_t i = 0; i < n_stable; ++i) ASSERT_EQ(insert(i, 0, life), COUA_FLOW_ADDED);
  struct mortal {
    std::atomic<std::uint64_t> number{0}, ends{0};
  };
  std::vector<mortal> mortals(256);
  std::atomic<std::uint64_t> now{start_ms};
  std::uint64_t next = 1'000'000;
  std::uint64_t steps = 0;
  const auto write = [&](std::mt19937_64& random) {
    const auto d = static_cast<std::uint32_t>(1 + random() % 8);
    mortal& m = mortals[random() % mortals.size()];
    m.ends = UINT64_MAX;
    m.number = next;
    insert(next++, 1, d);
    m.ends = now + d;
    if (++steps % 4 != 0) return;  // some 18 of them live at a time
    wait_for_readers();
    coua_flow_set_time(table(), now + 1);
    ++now;
  };
  const auto read = [&](coua_flow_reader* reader, std::mt19937_64& random) {
    std::vector<std::uint64_t> numbers(n_stable);
    for (std::uint64_t i = 0; i < n_stable; ++i) numbers[i] = i;
    look_up(reader, random, numbers, life, [&](std::uint64_t number, bool found, race_value) {
      if (!found) faults_.report("ended though renewed", number, 0, now);
    });
    std::vector<std::uint64_t> over;
    const std::uint64_t seen_now = now;
    for (const mortal& m : mortals) {
      const std::uint64_t number = m.number;
      if (number != 0 && m.ends <= seen_now && m.number == number) over.push_back(number);
    }
    look_up(reader, random, over, 0, [&](std::uint64_t number, bool found, race_value) {
      if (found) faults_.report("visible after its end", number, 1, seen_now);
    });
  };
  race_readers(read, write, [&] { return now > start_ms + n_units; });
  EXPECT_EQ(faults_.count(), 0u) << faults_.text();
}

TEST_P(flow_expiry_race, entries_live_while_readers_renew_them_and_end_in_time) {
  race_renewals(64, 130);
}

// An entry renewed for the longest life is too far ahead for who still has the time before.
TEST_P(flow_expiry_race, entries_renewed_for_the_longest_life_are_never_missed) {
  race_renewals(1024, 200);
}

}  // namespace
}  // namespace coua::test
