// SPDX-License-Identifier: Apache-2.0
//
// What somebody who knows the code, but not a table's hash key, can do: nothing. The same attack on
// a table whose key is known fills it at once, so these tests can fail.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/keyed_hash.h"
#include "flow_handles.h"
#include "simd/flow_lookup/policies.h"

namespace coua::test {
namespace {

using hash_key32 = std::array<std::uint8_t, 32>;

hash_key32 hash_key_of(std::uint64_t seed) {
  hash_key32 key;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t word = flow_mix(seed * 4 + i);
    std::memcpy(key.data() + 8 * i, &word, 8);
  }
  return key;
}

double reached_load(const flow_ptr& table, const std::vector<key16>& keys) {
  std::size_t n = 0;
  const key16 value{};
  for (const key16& key : keys) {
    if (coua_flow_insert(table.get(), &key, &value, 0) != COUA_FLOW_ADDED) break;
    ++n;
  }
  return static_cast<double>(n) / static_cast<double>(stats_of(table).slots);
}

TEST(flow_attack, keys_that_collide_under_a_known_key_do_no_harm_under_another) {
  constexpr std::uint64_t n_buckets = 512;
  coua_flow_params params = flow_params(0);
  params.buckets = n_buckets;
  const hash_key32 known = hash_key_of(1);
  const keyed_hash hash(known);
  // Keys whose two buckets both lie in the first sixteenth.
  std::vector<key16> keys;
  for (std::uint64_t i = 0; keys.size() < n_buckets * 8 * 96 / 100; ++i) {
    const key16 key = key_number(i);
    const std::uint64_t h = hash(key.data(), 2);
    const std::uint64_t home = simd::home_bucket(h, n_buckets);
    const std::uint64_t other = simd::bloom::other(home, simd::fingerprint_of(h), 1, n_buckets);
    if (std::max(home, other) < n_buckets / 16) keys.push_back(key);
  }
  params.hash_key = known.data();
  const double hit = reached_load(make_flow(params), keys);
  std::printf("attack with the hash key: refusal at load %.3f\n", hit);
  EXPECT_LT(hit, 0.07);
  params.hash_key = nullptr;
  for (int i = 0; i < 8; ++i) EXPECT_GT(reached_load(make_flow(params), keys), 0.94);
}

// A linear hash with a seed (CRC, Toeplitz) has differences that collide under every seed. Here no
// difference of one to three bits collides more often than chance has it.
TEST(flow_attack, no_small_difference_collides_under_many_keys) {
  constexpr unsigned n_bits = 104;  // of an IPv4 5-tuple
  constexpr unsigned n_keys = 24, prefix = 10;
  std::vector<key16> differences;
  for (unsigned a = 0; a < n_bits; ++a) {
    for (unsigned b = a; b < n_bits; ++b) {
      for (unsigned c = b; c < n_bits; ++c) {
        if (a == b && b != c) continue;  // the pair (a, c) comes as (a, c, c)
        key16 difference{};
        for (const unsigned bit : {a, b, c}) {
          difference[bit / 64] |= std::uint64_t{1} << bit % 64;
        }
        differences.push_back(difference);
      }
    }
  }
  std::vector<std::uint8_t> n_collisions(differences.size());
  std::uint64_t n_all = 0;
  for (unsigned k = 0; k < n_keys; ++k) {
    const keyed_hash hash(hash_key_of(100 + k));
    const key16 base = key_number(k);
    const std::uint64_t h = hash(base.data(), 2);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      const key16 key = {base[0] ^ differences[i][0], base[1] ^ differences[i][1]};
      // The upper bits decide the primary bucket.
      const bool collides = (hash(key.data(), 2) ^ h) >> (64 - prefix) == 0;
      n_collisions[i] += collides;
      n_all += collides;
    }
  }
  const double expected =
      static_cast<double>(differences.size()) * n_keys / (std::uint64_t{1} << prefix);
  EXPECT_NEAR(static_cast<double>(n_all), expected, 6 * std::sqrt(expected));
  // By chance some of 180,000 differences collide under 3 or 4 of 24 keys, none under 7.
  EXPECT_LT(*std::max_element(n_collisions.begin(), n_collisions.end()), 7);
}

// What addresses and ports look like: counters in some bytes, all else equal. Under any hash key
// they fill a table as random keys do.
TEST(flow_attack, structured_keys_fill_a_table_like_random_ones) {
  constexpr std::uint64_t n = 60'000;
  struct pattern {
    const char* name;
    key16 (*key)(std::uint64_t);
  };
  const pattern patterns[] = {
      {"random", [](std::uint64_t i) { return key_number(i); }},
      {"counter",
       [](std::uint64_t i) {
         return key16{i, 0};
       }},
      {"top of the first word",
       [](std::uint64_t i) {
         return key16{i << 47, 0};
       }},
      {"second word",
       [](std::uint64_t i) {
         return key16{42, i << 8};
       }},
      {"both words alike",
       [](std::uint64_t i) {
         return key16{i, i};
       }},
      {"grid",
       [](std::uint64_t i) {
         return key16{i % 256 << 32, i / 256 << 16};
       }},
      {"bytes far apart",
       [](std::uint64_t i) {
         return key16{(i & 255) << 56 | i >> 8, 0};
       }},
  };
  for (const pattern& p : patterns) {
    double worst_share = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      coua_flow_params params = flow_params(n);
      const hash_key32 hash_key = hash_key_of(seed);
      params.hash_key = hash_key.data();
      const flow_ptr table = make_flow(params);
      std::vector<key16> keys(n);
      for (std::uint64_t i = 0; i < n; ++i) keys[i] = p.key(i);
      ASSERT_GT(reached_load(table, keys), 0.949) << p.name << ", seed " << seed;
      const coua_flow_stats stats = stats_of(table);
      worst_share = std::max(worst_share, static_cast<double>(stats.in_secondary) / n);
    }
    std::printf("%s: at most %.3f in secondary\n", p.name, worst_share);
    // 0.168 with random keys.
    EXPECT_LT(worst_share, 0.18) << p.name;
  }
}

}  // namespace
}  // namespace coua::test
