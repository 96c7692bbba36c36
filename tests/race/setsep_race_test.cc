// SPDX-License-Identifier: Apache-2.0
//
// Readers of a builder's table and of a replica's, while keys come, change and go, blocks are
// split, deltas are applied and snapshots take the place of the table. The tables are small, and
// their groups fail often: so a reader often stands where the writer changes.
//
//   still    keys whose value never changes
//   moving   keys whose value is one of two; what is made of a part of each is neither
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "race.h"
#include "setsep/builder.h"
#include "setsep/replica.h"
#include "setsep/test_file.h"

namespace coua::setsep {
namespace {

using test::fault_log;

struct raced_case {
  const char* name;
  layout shape;
  bool keys_before;  // else one block that is split again and again
  // Of the second-level cache: none, one that a table outgrows, or one that it never does. Tables
  // that are in it are looked up in another way.
  const char* cache_bytes;
};
const raced_case cases[] = {{"16_8", {4, 2, 1}, true, "0"},
                            {"16_8_near", {4, 2, 1}, true, "1000000"},
                            {"8_16", {2, 1, 2}, true, "0"},
                            {"growth", {4, 2, 1}, false, "1024"},
                            {"growth_8_16", {2, 1, 2}, false, "0"}};
void PrintTo(const raced_case& c, std::ostream* out) { *out << c.name; }

constexpr std::size_t n_still = 700, n_moving = 200, n_passing = 400;

key_hash hash_of(std::uint64_t key) {
  std::mt19937_64 random(key);
  const std::uint64_t high = random();
  return {high, random()};
}
/// Two values that differ in every bit.
std::uint16_t value_of(std::uint64_t key, unsigned turn, const layout& shape) {
  const unsigned mask = (1U << shape.value_bits) - 1;
  return static_cast<std::uint16_t>((key * 0x9e3779b9 >> 7 ^ (turn % 2 != 0 ? ~0ULL : 0)) & mask);
}

class readers {
 public:
  readers(const table_source& source, const layout& shape, unsigned n) : shape_(shape) {
    for (unsigned t = 0; t < n; ++t) {
      threads_.emplace_back(
          [this, source, t](const std::stop_token& stop) { run(source, t, stop); });
    }
  }
  /// What they saw.
  std::string stop() {
    threads_.clear();
    return faults_.count() == 0 ? std::string() : faults_.text();
  }
  std::uint64_t n_passes() const { return n_passes_.load(std::memory_order_relaxed); }

 private:
  void run(const table_source& source, unsigned seed, const std::stop_token& stop) {
    auto place = reader::create(source);
    std::mt19937 random(seed);
    std::vector<std::uint64_t> keys;
    std::vector<key_hash> hashes;
    for (std::uint64_t i = 0; i < n_still + n_moving; ++i) keys.push_back(i);
    while (!stop.stop_requested()) {
      std::shuffle(keys.begin(), keys.end(), random);
      hashes.clear();
      for (const std::uint64_t key : keys) hashes.push_back(hash_of(key));
      std::vector<std::uint16_t> values(keys.size());
      if (random() % 2 == 0) {
        for (std::size_t at = 0; at < keys.size();) {
          const std::size_t n = std::min<std::size_t>(1 + random() % 64, keys.size() - at);
          (*place)->find_batch(&hashes[at], n, &values[at]);
          at += n;
        }
      } else {
        std::size_t out = 0;
        for (std::size_t at = 0; at < keys.size();) {
          const std::size_t n = std::min<std::size_t>(1 + random() % 64, keys.size() - at);
          out += (*place)->submit(&hashes[at], n, &values[out]);
          at += n;
        }
        std::uint16_t rest[lookup_pipeline::depth];
        std::copy_n(rest, (*place)->drain(rest), &values[out]);
      }
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::uint16_t one = value_of(keys[i], 0, shape_),
                            other = value_of(keys[i], 1, shape_);
        if (values[i] == one || (keys[i] >= n_still && values[i] == other)) continue;
        faults_.report(keys[i] < n_still ? "a still key" : "a moving key", keys[i], values[i], one);
      }
      if (random() % 8 == 0) (*place)->pause();
      n_passes_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  const layout shape_;
  fault_log faults_;
  std::atomic<std::uint64_t> n_passes_{0};
  std::vector<std::jthread> threads_;
};

class setsep_race : public testing::TestWithParam<raced_case> {};

TEST_P(setsep_race, every_key_has_its_value_at_any_moment) {
  const raced_case& c = GetParam();
  ASSERT_EQ(setenv("COUA_L2_BYTES", c.cache_bytes, 1), 0);
  build_params params;
  params.shape = c.shape;
  params.keys_room = c.keys_before ? 0 : 60'000;
  params.instruction_set = active_isa();
  std::vector<keyed_value> keys;
  for (std::uint64_t i = 0; i < n_still + n_moving; ++i) {
    keys.push_back({hash_of(i), value_of(i, 0, c.shape)});
  }
  const auto from = std::move(*builder::create(keys, params, hash_key{}));
  replica to({.keys_room = params.keys_room, .instruction_set = params.instruction_set});
  unsigned n_loads = 0;  // every second one is a file that is mapped
  const auto load = [&] {
    std::vector<std::uint8_t> bytes(from->snapshot_bytes());
    ASSERT_TRUE(from->snapshot(bytes));
    if (n_loads++ % 2 == 0) {
      ASSERT_TRUE(to.map(memory_file(bytes).path()));
    } else {
      ASSERT_TRUE(to.load(bytes));
    }
  };
  load();
  readers of_builder(from->source(), c.shape, 2), of_replica(to.source(), c.shape, 2);
  std::mt19937_64 random(1);
  std::vector<unsigned> turn(n_moving);
  std::uint64_t n_changes = 0;
  test::race_until(
      [&] { return of_builder.n_passes() > 20 && of_replica.n_passes() > 20 && n_changes > 500; },
      [&](std::mt19937_64&) {
        for (int i = 0; i < 8; ++i, ++n_changes) {
          const std::uint64_t passing = 10'000 + random() % n_passing;
          const std::uint64_t moving = random() % n_moving;
          switch (random() % 4) {
            case 0: (void)from->remove(hash_of(passing)).value(); break;
            case 1:
              (void)from->put({hash_of(passing), value_of(passing, 0, c.shape)}).value();
              break;
            default:
              (void)from
                  ->put({hash_of(n_still + moving),
                         value_of(n_still + moving, ++turn[moving], c.shape)})
                  .value();
          }
        }
        if (random() % 16 == 0) (void)from->grow();
        const auto delta = from->take_delta();
        if (random() % 64 == 0) {
          load();
        } else if (!delta.empty()) {
          ASSERT_EQ(to.apply(delta).value(), delta_outcome::applied);
        }
      });
  EXPECT_EQ(of_builder.stop(), "");
  EXPECT_EQ(of_replica.stop(), "");
  EXPECT_TRUE(std::ranges::equal(from->table().blocks(), to.table()->blocks()));
  if (!c.keys_before) {
    EXPECT_GT(from->table().size().n_blocks, 3U);
  }
}

// Groups fail, and come back, in one replica. Each change also puts and drops entries of nobody,
// before the first of ours is put and after the first of ours is dropped. So a writer that does
// either on the wrong side of the blocks' change stands there for long, with a group that failed
// and whose keys have no entry: a reader then gets 0, which is nobody's value.
TEST(setsep_fallback_race, entries_are_there_as_long_as_their_group_fails) {
  constexpr layout shape{4, 2, 1};
  constexpr std::size_t n_keys = 200, n_strangers = 1'000;
  std::vector<keyed_value> keys, strangers;
  std::vector<key_hash> hashes;
  for (std::uint64_t i = 0; i < n_keys; ++i) {
    keys.push_back({hash_of(i), static_cast<std::uint16_t>(1 + i % 15)});
    hashes.push_back(keys.back().hash);
  }
  for (std::uint64_t i = 0; i < n_strangers; ++i) strangers.push_back({hash_of(1'000 + i), 1});
  build_params params;
  params.shape = shape;
  params.instruction_set = active_isa();
  const auto from = std::move(*builder::create(keys, params, hash_key{}));
  std::vector<std::uint8_t> snapshot(from->snapshot_bytes());
  ASSERT_TRUE(from->snapshot(snapshot));
  replica to({.keys_room = 0, .instruction_set = params.instruction_set});
  ASSERT_TRUE(to.map(memory_file(snapshot).path()));

  const std::vector<std::uint8_t> failed(shape.group_bytes(), 0xff);
  delta_change fail, mend;
  fail.put = strangers;
  fail.put.insert(fail.put.end(), keys.begin(), keys.end());
  mend.drop = hashes;
  for (const keyed_value& each : strangers) mend.drop.push_back(each.hash);
  for (unsigned group = 0; group < delta_records_max; ++group) {
    const auto records = from->table().block(0).subspan(choice_bytes);
    fail.records.push_back({static_cast<std::uint8_t>(group), failed.data()});
    mend.records.push_back({static_cast<std::uint8_t>(group),
                            records.data() + std::size_t{group} * shape.group_bytes()});
  }

  fault_log faults;
  std::atomic<std::uint64_t> n_passes{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 2; ++t) {
    threads.emplace_back([&](const std::stop_token& stop) {
      const auto reader = std::move(*reader::create(to.source()));
      std::vector<std::uint16_t> values(n_keys);
      while (!stop.stop_requested()) {
        reader->find_batch(hashes.data(), n_keys, values.data());
        for (std::size_t i = 0; i < n_keys; ++i) {
          if (values[i] != keys[i].value) faults.report("a key", i, values[i], keys[i].value);
        }
        n_passes.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  table_version version = from->version();
  delta_writer writer(shape);
  std::uint64_t n_changes = 0;
  test::race_until([&] { return n_passes > 100 && n_changes > 200; },
                   [&](std::mt19937_64&) {
                     writer.clear();
                     writer.add(n_changes++ % 2 == 0 ? fail : mend);
                     ++version.sequence;
                     ASSERT_EQ(to.apply(writer.seal(version)).value(), delta_outcome::applied);
                   });
  threads.clear();
  EXPECT_EQ(faults.count(), 0U) << faults.text();
}

INSTANTIATE_TEST_SUITE_P(cases, setsep_race, testing::ValuesIn(cases),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace coua::setsep
