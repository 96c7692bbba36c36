// SPDX-License-Identifier: Apache-2.0
//
// What somebody who knows the code, but not a table's hash key, can do: nothing. The same attack on
// a table whose key is known fills it at once, so these tests can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/key_permutation.h"
#include "fib_handles.h"

namespace coua::test {
namespace {

struct bucket_pair {
  std::uint64_t primary, secondary;
};

key_permutation permutation_of(const std::array<std::uint8_t, 32>& hash_key) {
  std::uint64_t secret[4];
  std::memcpy(secret, hash_key.data(), sizeof secret);
  return key_permutation::create(secret);
}

std::uint64_t bucket_of(std::uint64_t permuted, std::uint64_t n_buckets) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(permuted) * n_buckets) >> 64);
}

bucket_pair buckets_of(const key_permutation& keys, std::uint64_t key, std::uint64_t n_buckets) {
  std::uint64_t p = keys.p(key);
  return {bucket_of(p, n_buckets), bucket_of(keys.q_of_p(p), n_buckets)};
}

/// Keys whose two buckets both lie in the first 1/16 of a table with this hash key.
std::vector<std::uint64_t> colliding_keys(const key_permutation& keys, std::uint64_t n_buckets,
                                          std::size_t n) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t i = 0; found.size() < n; i++) {
    bucket_pair at = buckets_of(keys, random_key(i), n_buckets);
    if (std::max(at.primary, at.secondary) < n_buckets / 16) found.push_back(random_key(i));
  }
  return found;
}

double reached_load(coua_fib* fib, const std::vector<std::uint64_t>& keys) {
  std::size_t n = 0;
  for (std::uint64_t key : keys) {
    coua_fib_record r = record_of(key, 1);
    if (coua_fib_insert(fib, &r) != COUA_FIB_ADDED) break;
    n++;
  }
  return double(n) / double(stats_of(fib).slots);
}

class fib_attack : public testing::TestWithParam<table_shape> {};
INSTANTIATE_TEST_SUITE_P(layouts, fib_attack,
                         testing::Values(table_shape{"packed8", COUA_FIB_LAYOUT_PACKED8, 512, 7},
                                         table_shape{"packed4", COUA_FIB_LAYOUT_PACKED4, 512, 7},
                                         table_shape{"wide8", COUA_FIB_LAYOUT_WIDE8, 512, 16}),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(fib_attack, keys_that_collide_under_a_known_key_do_no_harm_under_another) {
  constexpr std::uint64_t known = 1;
  fib_ptr open = make_fib(GetParam(), known);
  coua_fib_stats s = stats_of(open.get());
  auto keys = colliding_keys(permutation_of(hash_key_of(known)), s.buckets, s.slots * 96 / 100);
  // Who knows the hash key fills the chosen sixteenth, and the table refuses.
  double hit = reached_load(open.get(), keys);
  std::printf("%s: attack with the hash key: refusal at load %.3f\n", GetParam().name, hit);
  EXPECT_LT(hit, 0.07);
  for (int i = 0; i < 8; i++) {
    fib_ptr fib = make_fib(GetParam());
    EXPECT_GT(reached_load(fib.get(), keys), 0.94) << "attack without the hash key";
  }
}

/// All masks of one to three of the 60 key bits.
std::vector<std::uint64_t> small_differences() {
  std::vector<std::uint64_t> differences;
  for (unsigned a = 0; a < COUA_FIB_KEY_BITS; a++)
    for (unsigned b = a; b < COUA_FIB_KEY_BITS; b++)
      for (unsigned c = b; c < COUA_FIB_KEY_BITS; c++)
        if (b == c ? a == b || b == c : a != b)
          differences.push_back(std::uint64_t{1} << a | std::uint64_t{1} << b |
                                std::uint64_t{1} << c);
  std::sort(differences.begin(), differences.end());
  differences.erase(std::unique(differences.begin(), differences.end()), differences.end());
  return differences;
}

// For every difference of one to three bits, over random tables and keys: how often two keys that
// differ so share their primary bucket, their secondary bucket, or both. The design promises at
// most 2/B for one and 4/B^2 for both. A linear hash (CRC, Toeplitz) or one with fixed multipliers
// has differences that collide always, and fails at once.
TEST(fib_key_differences, of_up_to_three_bits_collide_no_more_often_than_by_chance) {
  constexpr std::uint64_t n_buckets = 256;
  constexpr int trials = 2048;
  constexpr double by_chance = trials / double(n_buckets);
  // Six standard deviations above the promised 2/B: by chance in no run of 36,050 differences.
  const double limit = 2 * by_chance + 6 * std::sqrt(2 * by_chance) + 6;
  std::vector<std::uint64_t> differences = small_differences();
  ASSERT_EQ(differences.size(), 60u + 60 * 59 / 2 + 60 * 59 * 58 / 6);
  std::uint64_t seed =
      mix(static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed()));
  std::uint64_t in_both = 0, most = 0;
  std::vector<key_permutation> tables;
  for (std::uint64_t t = 0; t < trials; t++)
    tables.push_back(permutation_of(hash_key_of(seed + t)));
  for (std::uint64_t difference : differences) {
    std::uint64_t primary = 0, secondary = 0, both = 0;
    for (const key_permutation& table : tables) {
      std::uint64_t key = mix(++seed) & key_mask;
      bucket_pair a = buckets_of(table, key, n_buckets);
      bucket_pair b = buckets_of(table, key ^ difference, n_buckets);
      primary += a.primary == b.primary;
      secondary += a.secondary == b.secondary;
      both += a.primary == b.primary && a.secondary == b.secondary;
    }
    most = std::max({most, primary, secondary});
    in_both += both;
    ASSERT_LE(double(primary), limit) << "primary, difference " << std::hex << difference;
    ASSERT_LE(double(secondary), limit) << "secondary, difference " << std::hex << difference;
    ASSERT_LE(both, 9u) << "both buckets, difference " << std::hex << difference;
  }
  double pairs = double(differences.size()) * trials / (n_buckets * n_buckets);
  std::printf("differences of 1-3 bits: %zu; worst %.2f/B in one bucket, all %.2f/B^2 in both\n",
              differences.size(), double(most) / by_chance, double(in_both) / pairs);
  EXPECT_LE(double(in_both), 4 * pairs);
}

// Pairs are not enough: with one round of mixing, keys `i << s` became arithmetic progressions, of
// which one table in thirty made heaps. A family must crowd no table more than random keys do: with
// 4 keys to a bucket on average, chance puts more than 22 into one of 512 buckets in one table of
// some ten millions.
TEST(fib_key_differences, families_of_keys_spread_in_every_table_as_random_keys_do) {
  constexpr std::uint64_t n_tables = 64, n_buckets = 512;
  std::uint64_t worst = 0;
  for (unsigned shift = 0; shift + 11 <= COUA_FIB_KEY_BITS; shift++) {
    for (std::uint64_t t = 0; t < n_tables; t++) {
      key_permutation table = permutation_of(hash_key_of(mix(t) + shift));
      std::vector<std::uint32_t> primaries(n_buckets), secondaries(n_buckets);
      for (std::uint64_t i = 0; i < 4 * n_buckets; i++) {
        bucket_pair at = buckets_of(table, i << shift, n_buckets);
        primaries[at.primary]++;
        secondaries[at.secondary]++;
      }
      std::uint64_t fullest = std::max(*std::max_element(primaries.begin(), primaries.end()),
                                       *std::max_element(secondaries.begin(), secondaries.end()));
      worst = std::max(worst, fullest);
      ASSERT_LE(fullest, 22u) << "keys i << " << shift << ", table " << t;
    }
  }
  std::printf("families i << s: the fullest bucket had %lu keys at an average of 4\n",
              static_cast<unsigned long>(worst));
}

// The same through the table: one MAC in all VLANs, on many small tables with random hash keys.
TEST_P(fib_attack, one_mac_in_all_vlans_fills_any_table) {
  table_shape shape = GetParam();
  bool eight = shape.layout != COUA_FIB_LAYOUT_PACKED4;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 512 * (eight ? 8 : 4) * 96 / 100; i++) keys.push_back(i << 48);
  double least = 1;
  for (int i = 0; i < 200; i++) {
    fib_ptr fib = make_fib(shape);
    least = std::min(least, reached_load(fib.get(), keys));
  }
  std::printf("%s: one MAC in all VLANs, least load of 200 tables %.4f\n", shape.name, least);
  EXPECT_GT(least, 0.94);
}

}  // namespace
}  // namespace coua::test
