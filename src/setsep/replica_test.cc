// SPDX-License-Identifier: Apache-2.0
#include "setsep/replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "setsep/builder.h"
#include "setsep/key_hasher.h"
#include "setsep/test_keys.h"

namespace coua::setsep {
namespace {

using bytes = std::vector<std::uint8_t>;

struct pair_of_tables {
  explicit pair_of_tables(const layout& shape, std::size_t n, std::uint64_t room = 0)
      : keys(random_keys(n, shape.value_bits)),
        from(std::move(
            *builder::create(keys, {.shape = shape, .keys_room = room}, hash_key{1, 2, 3}))),
        to({.keys_room = room}) {}

  bytes snapshot() const {
    bytes made(from->snapshot_bytes());
    EXPECT_TRUE(from->snapshot(made));
    return made;
  }
  bytes delta() const {
    const auto made = from->take_delta();
    return {made.begin(), made.end()};
  }
  void expect_same() const {
    ASSERT_NE(to.table(), nullptr);
    EXPECT_EQ(to.version(), from->version());
    EXPECT_EQ(to.table()->size(), from->table().size());
    EXPECT_TRUE(std::ranges::equal(to.table()->blocks(), from->table().blocks()));
    EXPECT_EQ(to.table()->fallback().entries(), from->table().fallback().entries());
  }

  std::vector<keyed_value> keys;
  std::unique_ptr<builder> from;
  replica to;
};

TEST(setsep_replica, follows_its_builder) {
  for (const layout shape : {layout{2, 2, 1}, layout{3, 1, 2}}) {
    pair_of_tables both(shape, 8'000, 40'000);
    ASSERT_TRUE(both.to.load(both.snapshot()));
    both.expect_same();
    std::mt19937_64 random(4);
    for (int i = 0; i < 300; ++i) {
      for (int k = 0; k < 30; ++k) {
        keyed_value& one = both.keys[random() % both.keys.size()];
        if (random() % 2 == 0) {
          ASSERT_TRUE(both.from->remove(one.hash));
          one.hash.high = random();
        }
        one.value = static_cast<std::uint16_t>(random() % (1U << shape.value_bits));
        ASSERT_TRUE(both.from->put(one));
      }
      for (int k = 0; k < 20; ++k) {
        both.keys.push_back({{random(), random()}, 1});
        ASSERT_TRUE(both.from->put(both.keys.back()));
      }
      if (i % 50 > 25 && both.from->table().size().n_blocks < 39) {
        ASSERT_TRUE(both.from->grow());
      }
      EXPECT_EQ(both.to.apply(both.delta()).value(), delta_outcome::applied);
    }
    both.expect_same();
    EXPECT_EQ(count_wrong(*both.to.table(), both.keys), 0U);
    EXPECT_EQ(both.to.n_deltas(), 300U);
  }
}

TEST(setsep_replica, finds_gaps_and_what_it_has) {
  pair_of_tables both({2, 2, 1}, 2'000);
  keyed_value one = both.keys[0];
  std::vector<bytes> deltas;
  const bytes before = both.snapshot();
  for (int i = 0; i < 3; ++i) {
    one.value ^= 3;
    ASSERT_TRUE(both.from->put(one));
    deltas.push_back(both.delta());
  }
  EXPECT_EQ(both.to.apply(deltas[0]).value(), delta_outcome::gap);  // no table yet
  ASSERT_TRUE(both.to.load(before));
  EXPECT_EQ(both.to.apply(deltas[1]).value(), delta_outcome::gap);
  EXPECT_EQ(both.to.version().sequence, 0U);
  EXPECT_EQ(both.to.apply(deltas[0]).value(), delta_outcome::applied);
  EXPECT_EQ(both.to.apply(deltas[0]).value(), delta_outcome::old);
  EXPECT_EQ(both.to.apply(deltas[2]).value(), delta_outcome::gap);
  ASSERT_TRUE(both.to.load(both.snapshot()));
  EXPECT_EQ(both.to.apply(deltas[2]).value(), delta_outcome::old);
  both.expect_same();
  EXPECT_EQ(both.to.load(before).error().code, errc::invalid);  // older
  both.expect_same();
  // Of another builder.
  pair_of_tables other({2, 2, 1}, 2'000);
  ASSERT_TRUE(other.from->put(one));
  EXPECT_EQ(both.to.apply(other.delta()).value(), delta_outcome::gap);
  EXPECT_TRUE(both.to.load(other.snapshot()));
  const auto stranger = builder::create(both.keys, {.shape = {2, 2, 1}}, hash_key{9});
  bytes strange((*stranger)->snapshot_bytes());
  ASSERT_TRUE((*stranger)->snapshot(strange));
  EXPECT_EQ(both.to.load(strange).error().code, errc::invalid);
}

TEST(setsep_replica, refuses_what_is_damaged_whole) {
  pair_of_tables both({2, 1, 2}, 3'000, 10'000);
  const bytes good = both.snapshot();
  ASSERT_TRUE(both.to.load(good));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(both.from->put({{1ULL << i, 77ULL << i}, 2}));
  ASSERT_TRUE(both.from->grow());
  const bytes delta = both.delta();
  const bytes state(both.to.table()->blocks().begin(), both.to.table()->blocks().end());
  std::mt19937 random(2);
  for (const bytes* whole : {&good, &delta}) {
    for (int i = 0; i < 500; ++i) {
      bytes bad = *whole;
      if (i % 5 == 0) {
        bad.resize(random() % bad.size());
      } else {
        // All of the header, and anywhere.
        bad[i < 250 ? static_cast<std::size_t>(i) / 2 : random() % bad.size()] ^=
            static_cast<std::uint8_t>(1U << random() % 8);
      }
      if (whole == &good) {
        EXPECT_EQ(both.to.load(bad).error().code, errc::invalid);
      } else {
        EXPECT_EQ(both.to.apply(bad).error().code, errc::invalid);
      }
    }
  }
  EXPECT_TRUE(std::ranges::equal(both.to.table()->blocks(), state));
  EXPECT_EQ(both.to.version().sequence, 0U);
  EXPECT_EQ(both.to.apply(delta).value(), delta_outcome::applied);
  both.expect_same();
}

TEST(setsep_replica, growth_beyond_its_room_is_refused_whole) {
  pair_of_tables both({2, 2, 1}, 2'000, 10'000);
  replica small({});
  ASSERT_TRUE(small.load(both.snapshot()));
  ASSERT_TRUE(both.from->put({{5, 5}, 1}));
  ASSERT_TRUE(both.from->grow());
  const std::vector<std::uint8_t> state(small.table()->blocks().begin(),
                                        small.table()->blocks().end());
  EXPECT_EQ(small.apply(both.delta()).error().code, errc::no_room);
  EXPECT_TRUE(std::ranges::equal(small.table()->blocks(), state));
  // A snapshot brings the room that it needs.
  ASSERT_TRUE(small.load(both.snapshot()));
  EXPECT_EQ(small.table()->size(), both.from->table().size());
}

TEST(setsep_replica, readers_follow_from_table_to_table) {
  pair_of_tables both({2, 2, 1}, 5'000);
  const auto reader = reader::create(both.to.source());
  ASSERT_TRUE(reader);
  std::vector<key_hash> hashes;
  for (const keyed_value& each : both.keys) hashes.push_back(each.hash);
  std::vector<std::uint16_t> values(hashes.size(), 9);
  (*reader)->find_batch(hashes.data(), hashes.size(), values.data());
  EXPECT_EQ(values, std::vector<std::uint16_t>(hashes.size(), 0));
  ASSERT_TRUE(both.to.load(both.snapshot()));
  // What is on its way when the next snapshot comes is answered all the same.
  std::size_t n = (*reader)->submit(hashes.data(), 2'000, values.data());
  ASSERT_TRUE(both.to.load(both.snapshot()));
  n += (*reader)->submit(hashes.data() + 2'000, hashes.size() - 2'000, values.data() + n);
  std::uint16_t rest[lookup_pipeline::depth];
  const std::size_t left = (*reader)->drain(rest);
  std::copy_n(rest, left, values.data() + n);
  ASSERT_EQ(n + left, hashes.size());
  for (std::size_t i = 0; i < both.keys.size(); ++i) ASSERT_EQ(values[i], both.keys[i].value);
  (*reader)->pause();
}

/// Of the tables of a replica.
struct counted_memory {
  static inline unsigned n = 0;
  static void* allocate(void*, std::size_t bytes, std::size_t alignment) {
    void* const memory =
        std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory != nullptr) std::memset(memory, 0, bytes);
    n += memory != nullptr;
    return memory;
  }
  static void release(void*, void* memory, std::size_t) {
    --n;
    std::free(memory);
  }
};

// Red when a map that was replaced is kept until the one after it comes.
TEST(setsep_replica, lets_go_of_a_table_that_nobody_reads) {
  pair_of_tables both({2, 2, 1}, 5'000);
  replica_params params;
  params.memory.allocate = counted_memory::allocate;
  params.memory.release = counted_memory::release;
  replica to(params);
  ASSERT_TRUE(to.load(both.snapshot()));
  const unsigned of_one = counted_memory::n;
  ASSERT_GT(of_one, 0U);
  ASSERT_TRUE(to.load(both.snapshot()));
  EXPECT_EQ(counted_memory::n, of_one);

  const auto reader = reader::create(to.source());
  ASSERT_TRUE(reader);
  std::uint16_t value;
  (*reader)->find_batch(&both.keys[0].hash, 1, &value);
  ASSERT_TRUE(to.load(both.snapshot()));
  EXPECT_EQ(counted_memory::n, 2 * of_one) << "the reader may be at it";
  (*reader)->find_batch(&both.keys[0].hash, 1, &value);
  both.keys[0].value ^= 1;
  ASSERT_TRUE(both.from->put(both.keys[0]));
  EXPECT_EQ(to.apply(both.delta()).value(), delta_outcome::applied);
  EXPECT_EQ(counted_memory::n, of_one);
  (*reader)->pause();
}

TEST(setsep_key_hasher, uses_every_byte_and_two_secrets) {
  const key_hasher hasher({1, 2, 3}, 13), other({1, 2, 4}, 13);
  std::uint8_t key[13] = {};
  const key_hash zero = hasher(key);
  EXPECT_NE(zero.high, zero.low);
  EXPECT_NE(other(key), zero);
  for (std::uint8_t& each : key) {
    each = 1;
    const key_hash one = hasher(key);
    EXPECT_NE(one.high, zero.high);
    EXPECT_NE(one.low, zero.low);
    each = 0;
  }
}

}  // namespace
}  // namespace coua::setsep
