// SPDX-License-Identifier: Apache-2.0
//
// Readers against a writer that churns at load 0.95, so that most inserts move other entries.
#include <algorithm>

#include "race.h"

namespace coua::test {
namespace {

INSTANTIATE_TEST_SUITE_P(layouts, fib_race, testing::ValuesIn(raced_shapes),
                         [](const auto& shape) { return shape.param.name; });

constexpr unsigned n_readers = 2;

/// Half of a value is a generation, the other half and the static flag are computed from it and the
/// key: an entry of another key, or put together from two writes, gives itself away.
struct checked_value {
  unsigned bits;

  std::uint32_t at(std::uint64_t key, std::uint64_t generation) const {
    unsigned half = bits / 2;
    std::uint32_t low = generation & ((1u << half) - 1);
    std::uint32_t check =
        static_cast<std::uint32_t>(mix(key ^ low << 7)) & ((1u << (bits - half)) - 1);
    return low | check << half;
  }
  bool is_static(std::uint64_t key, std::uint32_t value) const { return mix(key + value) & 1; }
  coua_fib_record record(std::uint64_t key, std::uint64_t generation) const {
    std::uint32_t value = at(key, generation);
    return record_of(key, value, is_static(key, value));
  }
  bool holds(std::uint64_t key, std::uint32_t entry) const {
    std::uint32_t value = value_of(entry);
    return at(key, value) == value &&
           is_static(key, value) == ((entry & COUA_FIB_ENTRY_STATIC) != 0);
  }
};

/// Keys by what a reader may see of them.
struct key_sets {
  std::uint64_t n_stable, n_churn;
  static std::uint64_t stable(std::uint64_t i) { return random_key(i); }
  static std::uint64_t churn(std::uint64_t i) { return random_key(i + (1ull << 40)); }
  static std::uint64_t absent(std::uint64_t i) { return random_key(i + (1ull << 41)); }
};

/// The writer: keeps the load at 0.95 by inserting and erasing churn keys, in every way there is.
class churner {
 public:
  churner(coua_fib* fib, checked_value values) : fib_(fib), values_(values) {
    std::uint64_t slots = stats_of(fib).slots;
    target_ = slots * 95 / 100;
    sets_ = {slots * 45 / 100, slots * 60 / 100};
    live_.resize(sets_.n_churn);
    for (std::uint64_t i = 0; i < sets_.n_stable; i++) update(i);
    n_live_ = 0;
  }
  const key_sets& sets() const { return sets_; }

  void step(std::mt19937_64& random) {
    switch (random() % 8) {
      case 0: update(random() % sets_.n_stable); break;
      case 1: insert_batch(random); break;
      case 2: erase_batch(random); break;
      default: toggle(random() % sets_.n_churn);
    }
  }

 private:
  void update(std::uint64_t i) {
    coua_fib_record r = values_.record(key_sets::stable(i), generation_++);
    coua_fib_insert(fib_, &r);
  }
  bool has_room() const { return sets_.n_stable + n_live_ < target_; }
  void toggle(std::uint64_t i) {
    if (live_[i] || !has_room()) {
      if (!live_[i]) i = (i + 1) % sets_.n_churn;
      if (coua_fib_erase(fib_, key_sets::churn(i)) == 0) n_live_--;
      live_[i] = false;
      return;
    }
    coua_fib_record r = values_.record(key_sets::churn(i), generation_++);
    live_[i] = coua_fib_insert(fib_, &r) != COUA_FIB_FULL;
    n_live_ += live_[i];
  }
  void insert_batch(std::mt19937_64& random) {
    std::vector<coua_fib_record> records;
    std::vector<std::uint64_t> ids;
    std::uint64_t first = random();
    for (std::uint64_t i = 0; i < 1 + first % 50; i++) {
      std::uint64_t id = (first + i) % sets_.n_churn;
      if (live_[id] || sets_.n_stable + n_live_ + ids.size() >= target_) continue;
      ids.push_back(id);
      records.push_back(values_.record(key_sets::churn(id), generation_++));
    }
    std::vector<std::int8_t> results(records.size());
    coua_fib_insert_batch(fib_, records.data(), records.size(), results.data());
    for (std::size_t i = 0; i < ids.size(); i++) {
      live_[ids[i]] = results[i] == COUA_FIB_ADDED;
      n_live_ += live_[ids[i]];
    }
  }
  void erase_batch(std::mt19937_64& random) {
    std::vector<std::uint64_t> keys;
    std::uint64_t first = random();
    for (std::uint64_t i = 0; i < 1 + first % 20; i++) {
      std::uint64_t id = (first + i) % sets_.n_churn;
      keys.push_back(key_sets::churn(id));
      live_[id] = false;
    }
    n_live_ -= coua_fib_erase_batch(fib_, keys.data(), keys.size());
  }

  coua_fib* fib_;
  checked_value values_;
  key_sets sets_{};
  std::vector<bool> live_;
  std::uint64_t n_live_ = 0, target_ = 0, generation_ = 0;
};

/// One batch of stable, absent and churning keys, by one mode.
void read_and_check(coua_fib_reader* reader, std::mt19937_64& random, const key_sets& sets,
                    checked_value values, fault_log& faults) {
  std::uint64_t keys[100];
  std::uint32_t entries[100];
  std::uint8_t kind[100];
  std::size_t n = 1 + random() % 100;
  for (std::size_t i = 0; i < n; i++) {
    std::uint64_t pick = random();
    kind[i] = pick % 8 == 0 ? 1 : pick % 8 == 1 ? 2 : 0;
    keys[i] = kind[i] == 0   ? key_sets::stable((pick >> 8) % sets.n_stable)
              : kind[i] == 1 ? key_sets::absent(pick >> 8)
                             : key_sets::churn((pick >> 8) % sets.n_churn);
  }
  look_up_mode mode = any_mode(random);
  for (int again = 0; again < 8; again++) {
    look_up(mode, reader, {keys, n}, {entries, n});
    for (std::size_t i = 0; i < n; i++) {
      if (entries[i] == COUA_FIB_MISS) {
        if (kind[i] == 0) faults.report("a present key was missed", keys[i], 0, 1);
      } else if (kind[i] == 1) {
        faults.report("an absent key was found", keys[i], entries[i], COUA_FIB_MISS);
      } else if (!values.holds(keys[i], entries[i])) {
        faults.report("a wrong value", keys[i], entries[i], 0);
      }
    }
  }
}

/// One table, raced for the race time; what it counted.
coua_fib_stats race_present_keys(const table_shape& shape, fault_log& faults) {
  fib_ptr fib = make_fib(shape);
  checked_value values{shape.value_bits};
  churner writer(fib.get(), values);
  reader_threads readers(fib.get(), n_readers, [&](coua_fib_reader* reader, auto& random) {
    read_and_check(reader, random, writer.sets(), values, faults);
  });
  race([&](auto& random) { writer.step(random); });
  readers.stop();
  return stats_of(fib.get());
}

TEST_P(fib_race, present_keys_are_never_missed_and_values_never_torn) {
  fault_log faults;
  std::uint64_t moves =
      race_until_moved(100, [&] { return race_present_keys(GetParam(), faults).moves; });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GE(moves, 100u);
}

/// What each operation of a key's history leaves behind: nothing after every third, on average.
constexpr bool leaves_nothing(std::uint64_t i, std::uint32_t generation) {
  return mix(i * 977 + generation) % 3 == 0;
}

/// Per key: the generation that the writer has begun, and the one that it has ended.
struct history {
  std::atomic<std::uint32_t> begun{0}, ended{0};
};

/// Some state that the key had while it was looked up explains the answer.
bool explained(std::uint64_t i, std::uint32_t entry, std::uint32_t from, std::uint32_t to,
               std::uint32_t mask) {
  if (to - from > mask) return true;  // generations came round meanwhile
  for (std::uint32_t g = from; g <= to; g++) {
    if (g == 0 || leaves_nothing(i, g) ? entry == COUA_FIB_MISS
                                       : entry != COUA_FIB_MISS && value_of(entry) == (g & mask))
      return true;
  }
  return false;
}

/// One table, raced for the race time; the moves that it made.
std::uint64_t race_histories(const table_shape& shape, fault_log& faults) {
  fib_ptr fib = make_fib(shape);
  std::uint64_t slots = stats_of(fib.get()).slots;
  std::uint32_t mask = (1u << shape.value_bits) - 1;
  // Few keys with a history among many that only fill the table.
  std::uint64_t n = std::min<std::uint64_t>(slots / 8, 200),
                n_filler = slots - slots / 32 - 1 - n * 2 / 3;
  for (std::uint64_t i = 0; i < n_filler; i++) {
    coua_fib_record r = record_of(key_sets::churn(i), 0);
    coua_fib_insert(fib.get(), &r);
  }
  std::vector<history> histories(n);
  reader_threads readers(fib.get(), n_readers, [&](coua_fib_reader* reader, auto& random) {
    constexpr std::size_t size = 40;
    std::uint64_t keys[size], ids[size];
    std::uint32_t entries[size], from[size];
    for (std::size_t i = 0; i < size; i++) {
      ids[i] = random() % n;
      keys[i] = key_sets::stable(ids[i]);
      from[i] = histories[ids[i]].ended.load(std::memory_order_acquire);
    }
    look_up_mode mode = any_mode(random);
    look_up(mode, reader, keys, entries);
    for (std::size_t i = 0; i < size; i++) {
      std::uint32_t to = histories[ids[i]].begun.load(std::memory_order_acquire);
      if (!explained(ids[i], entries[i], from[i], to, mask))
        faults.report("no state explains the answer", keys[i], entries[i], to);
    }
  });
  std::uint64_t filler = 0;
  race([&](auto& random) {
    std::uint64_t i = random() % n;
    std::uint32_t g = histories[i].ended.load(std::memory_order_relaxed) + 1;
    histories[i].begun.store(g, std::memory_order_release);
    if (leaves_nothing(i, g)) {
      coua_fib_erase(fib.get(), key_sets::stable(i));
    } else {
      coua_fib_record r = record_of(key_sets::stable(i), g & mask);
      while (coua_fib_insert(fib.get(), &r) == COUA_FIB_FULL)
        coua_fib_erase(fib.get(), key_sets::churn(filler++ % n_filler));
    }
    histories[i].ended.store(g, std::memory_order_release);
    if (random() % 4) return;
    // A few entries of the filler leave and come back, which keeps the others moving.
    std::uint64_t n_out = 1 + n_filler / 64;
    coua_fib_erase(fib.get(), key_sets::churn((filler + n_out) % n_filler));
    coua_fib_record r = record_of(key_sets::churn(filler++ % n_filler), 0);
    coua_fib_insert(fib.get(), &r);
  });
  readers.stop();
  return stats_of(fib.get()).moves;
}

TEST_P(fib_race, every_answer_was_true_at_some_moment_of_its_look_up) {
  fault_log faults;
  std::uint64_t moves = race_until_moved(100, [&] { return race_histories(GetParam(), faults); });
  EXPECT_EQ(faults.count(), 0u) << faults.text();
  EXPECT_GE(moves, 100u);
}

}  // namespace
}  // namespace coua::test
