// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <coua/flow_table.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <vector>

namespace coua::api {
namespace {

struct flow {
  std::uint32_t from, to;
  std::uint16_t from_port, to_port;
  std::uint32_t proto;
  friend bool operator==(const flow&, const flow&) = default;
  friend auto operator<=>(const flow&, const flow&) = default;
};
struct state {
  std::uint32_t port;
  std::uint8_t flags;  // and three bytes of padding, which a value may have
};

struct padded {
  std::uint32_t to;
  std::uint8_t proto;
};
static_assert(flow_key<flow> && flow_key<std::array<std::uint8_t, 13>>);
static_assert(!flow_key<padded>, "what is in the padding would be part of the key");
static_assert(!flow_key<double>, "0.0 and -0.0 are equal but differ in their bytes");
static_assert(!flow_key<std::uint16_t> && !flow_key<std::array<std::uint8_t, 129>>);
static_assert(flow_value<state> && !flow_value<std::string>);

flow flow_number(std::uint32_t i) {
  return {0x0a000000 + i, 0xc0a80001, static_cast<std::uint16_t>(i * 7), 443, 6};
}

using table_type = flow_table<flow, state>;
using reader_type = flow_reader<flow, state>;

coua_flow_params small(std::uint32_t timers = 0) {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.entries = 1000;
  params.timers = timers;
  params.unit_ms = 1000;
  params.pages = COUA_FLOW_PAGES_4K;
  return params;
}

TEST(flow_hpp, reports_why_a_table_was_not_made) {
  coua_flow_params params = small();
  params.max_load = 2;
  table_type table;
  std::string why;
  EXPECT_EQ(table_type::create(params, table, &why), -EINVAL);
  EXPECT_FALSE(table);
  EXPECT_NE(why.find("max_load"), std::string::npos) << why;
  EXPECT_EQ(table_type::create(params, table), -EINVAL);
}

TEST(flow_hpp, widths_are_those_of_the_types) {
  coua_flow_params params = small();
  params.key_bytes = 99;
  params.value_stride = 1;
  table_type table;
  ASSERT_EQ(table_type::create(params, table), 0);
  EXPECT_EQ(table.stats().key_bytes, 16u);
  EXPECT_EQ(table.stats().value_bytes, 8u);
  EXPECT_STRNE(table.simd(), "");
}

TEST(flow_hpp, single_calls_take_and_give_typed_values) {
  table_type table;
  ASSERT_EQ(table_type::create(small(), table), 0);
  reader_type reader;
  ASSERT_EQ(table.open(reader), 0);
  const flow key = flow_number(1);
  EXPECT_FALSE(reader.lookup(key));
  EXPECT_EQ(table.insert(key, {5, 1}), COUA_FLOW_ADDED);
  EXPECT_EQ(table.add(key, {6, 2}), COUA_FLOW_PRESENT);
  ASSERT_TRUE(reader.lookup(key));
  EXPECT_EQ(reader.lookup(key)->port, 5u);
  EXPECT_TRUE(reader.contains(key));
  state value{7, 3};
  EXPECT_EQ(table.find_or_add(key, value), COUA_FLOW_PRESENT);
  EXPECT_EQ(value.port, 5u);
  EXPECT_EQ(table.insert(key, {8, 4}), COUA_FLOW_UPDATED);
  EXPECT_EQ(table.erase(key, &value), 0);
  EXPECT_EQ(value.port, 8u);
  EXPECT_EQ(table.erase(key), -ENOENT);
  EXPECT_EQ(table.refresh(key, 0), -ENOENT);
}

struct batch_result {
  std::vector<std::uint32_t> ports;
  std::vector<bool> found;
  friend bool operator==(const batch_result&, const batch_result&) = default;
};

TEST(flow_hpp, batches_take_spans) {
  constexpr std::uint32_t n = 150;  // no multiple of 64, nor of the group
  table_type table;
  ASSERT_EQ(table_type::create(small(1), table), 0);
  std::vector<flow> keys;
  std::vector<state> values;
  for (std::uint32_t i = 0; i < n; ++i) {
    keys.push_back(flow_number(i));
    values.push_back({i, 0});
  }
  std::vector<std::uint64_t> hashes(n), hits(flow_words(n));
  table.hash_batch(keys, hashes);
  EXPECT_EQ(hashes[3], table.hash(keys[3]));
  std::vector<std::int8_t> results(n);
  const std::span even_keys(keys.data(), n / 2);
  EXPECT_EQ(table.insert_batch(even_keys, values, 5, results, hashes), n / 2);
  EXPECT_EQ(std::count(results.begin(), results.end(), COUA_FLOW_ADDED), n / 2);
  EXPECT_EQ(table.add_batch(even_keys, values, 5), n / 2);

  reader_type reader;
  ASSERT_EQ(table.open(reader), 0);
  const auto collect = [&](auto look_up) {
    std::vector<state> got(n, state{99, 0});
    std::ranges::fill(hits, 0);
    EXPECT_EQ(look_up(std::span(got)), n / 2);
    batch_result result;
    for (std::uint32_t i = 0; i < n; ++i) {
      result.found.push_back(flow_hit(hits, i));
      result.ports.push_back(got[i].port);
    }
    return result;
  };
  const batch_result a = collect([&](auto got) { return reader.lookup_batch(keys, got, hits); });
  for (std::uint32_t i = 0; i < n; ++i) {
    EXPECT_EQ(a.found[i], i < n / 2);
    EXPECT_EQ(a.ports[i], i < n / 2 ? i : 99);
  }
  EXPECT_EQ(a, collect([&](auto got) { return reader.lookup_hashed(keys, hashes, got, hits); }));
  EXPECT_EQ(a, collect([&](auto got) { return reader.lookup_ahead(keys, got, hits, keys); }));
  EXPECT_EQ(a, collect([&](auto got) { return reader.lookup_refresh(keys, got, hits, 9); }));
  EXPECT_EQ(reader.lookup_batch(keys, {}, {}), n / 2);

  std::vector<state> got(n + reader.pipeline_depth(), state{99, 0});
  std::size_t n_got = reader.pipeline(keys, std::span(got).first(n), hits);
  std::vector<std::uint64_t> late(flow_words(reader.pipeline_depth()));
  const std::size_t n_late = reader.pipeline_drain(std::span(got).subspan(n_got), late);
  ASSERT_EQ(n_got + n_late, n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool hit = i < n_got ? flow_hit(hits, i) : flow_hit(late, i - n_got);
    EXPECT_EQ(hit, i < n / 2);
    EXPECT_EQ(got[i].port, i < n / 2 ? i : 99);
  }

  EXPECT_EQ(table.find_or_add_batch(keys, values, 5, results), static_cast<long>(n));
  EXPECT_EQ(results[0], COUA_FLOW_PRESENT);
  EXPECT_EQ(results[n - 1], COUA_FLOW_ADDED);
  EXPECT_EQ(table.erase_batch(even_keys, hashes), n / 2);
  EXPECT_EQ(table.erase_batch(keys), n - n / 2);
  EXPECT_EQ(table.stats().entries, 0u);
}

TEST(flow_hpp, a_cursor_returns_each_entry) {
  table_type table;
  ASSERT_EQ(table_type::create(small(1), table), 0);
  for (std::uint32_t i = 0; i < 300; ++i) table.insert(flow_number(i), {i, 0}, 3);
  flow_cursor<flow, state> cursor;
  ASSERT_EQ(table.open(cursor), 0);
  std::array<flow, 16> keys;
  std::array<state, 16> values;
  std::array<std::uint32_t, 16> units;
  std::set<flow> seen;
  long n;
  while ((n = cursor.next(keys, values, units, 20)) >= 0) {
    for (long i = 0; i < n; ++i) {
      EXPECT_EQ(keys[i], flow_number(values[i].port));
      EXPECT_EQ(units[i], 3u);
      EXPECT_TRUE(seen.insert(keys[i]).second);
    }
  }
  EXPECT_EQ(n, -ENODATA);
  EXPECT_EQ(seen.size(), 300u);
}

TEST(flow_hpp, the_owner_is_told_typed_keys_and_values_of_what_expired) {
  std::vector<std::uint32_t> told;
  auto expired = [&](const flow& key, const state& value) {
    EXPECT_EQ(key, flow_number(value.port));
    told.push_back(value.port);
  };
  table_type table;
  ASSERT_EQ(table_type::create(small(1), table, expired), 0);
  table.insert(flow_number(1), {1, 0}, 2);
  table.insert(flow_number(2), {2, 0}, 4);
  EXPECT_EQ(table.set_time(2000), 0);
  for (int round = 0; round < 2; ++round) {
    while (table.sweep(10) == 0) continue;
  }
  EXPECT_EQ(told, std::vector<std::uint32_t>{1});
  EXPECT_EQ(table.refresh(flow_number(2), 3), 0);
  EXPECT_EQ(table.set_time(1000), -EINVAL);
}

TEST(flow_hpp, an_owner_drains_typed_keys_and_values) {
  coua_flow_params params = small(1);
  params.expired_ring = 8;
  table_type table;
  ASSERT_EQ(table_type::create(params, table), 0);
  table.insert(flow_number(1), {1, 0}, 2);
  EXPECT_EQ(table.set_time(2000), 0);
  for (int round = 0; round < 2; ++round) {
    while (table.sweep(10) == 0) continue;
  }
  std::array<flow, 3> keys;
  std::array<state, 3> values;
  ASSERT_EQ(table.drain(keys, values), 1);
  EXPECT_EQ(keys[0], flow_number(1));
  EXPECT_EQ(values[0].port, 1u);
  EXPECT_EQ(table.drain(keys, {}), 0);
}

TEST(flow_hpp, a_table_without_values_is_a_set) {
  using set_type = flow_table<std::uint64_t, no_value>;
  set_type table;
  ASSERT_EQ(set_type::create(small(), table), 0);
  EXPECT_EQ(table.stats().value_bytes, 0u);
  EXPECT_EQ(table.insert(5, {}), COUA_FLOW_ADDED);
  flow_reader<std::uint64_t, no_value> reader;
  ASSERT_EQ(table.open(reader), 0);
  EXPECT_TRUE(reader.lookup(5));
  EXPECT_FALSE(reader.contains(6));
}

TEST(flow_hpp, a_value_may_be_as_wide_as_a_word_of_hits) {
  using word_table = flow_table<std::uint64_t, std::uint64_t>;
  word_table table;
  ASSERT_EQ(word_table::create(small(), table), 0);
  const std::array<std::uint64_t, 3> keys = {1, 2, 3};
  const std::array<std::uint64_t, 2> values = {10, 20};
  EXPECT_EQ(table.insert_batch(std::span(keys).first(2), values, 0), 2u);
  flow_reader<std::uint64_t, std::uint64_t> reader;
  ASSERT_EQ(table.open(reader), 0);
  std::array<std::uint64_t, 3> got{};
  std::array<std::uint64_t, 1> hits{};
  EXPECT_EQ(reader.lookup_batch(keys, got, hits), 2u);
  EXPECT_EQ(got, (std::array<std::uint64_t, 3>{10, 20, 0}));
  EXPECT_EQ(hits[0], 3u);
  EXPECT_EQ(reader.lookup(2), 20u);
  const std::size_t n_got = reader.pipeline(keys, got, hits);
  std::vector<std::uint64_t> late_values(reader.pipeline_depth());
  std::vector<std::uint64_t> late_hits(flow_words(reader.pipeline_depth()));
  EXPECT_EQ(n_got + reader.pipeline_drain(late_values, late_hits), keys.size());

  flow_cursor<std::uint64_t, std::uint64_t> cursor;
  ASSERT_EQ(table.open(cursor), 0);
  std::array<std::uint64_t, 16> all_keys{}, all_values{};
  ASSERT_EQ(cursor.next(all_keys, all_values, {}, 1'000'000), 2);
  EXPECT_EQ(all_keys[0] * 10, all_values[0]);
  std::array<std::int8_t, 3> results{};
  EXPECT_EQ(table.erase_batch(keys), 2u);
  EXPECT_EQ(table.add_batch(keys, got, 0, results), 3u);
}

TEST(flow_hpp, a_slab_hands_out_cells_that_stay) {
  struct counters {
    std::uint64_t packets, bytes;
  };
  flow_slab<counters> slab;
  ASSERT_EQ(flow_slab<counters>::create(2, slab), 0);
  std::uint32_t a, b, c;
  ASSERT_EQ(slab.take(a), 0);
  ASSERT_EQ(slab.take(b), 0);
  EXPECT_EQ(slab.take(c), -ENOSPC);
  slab[a].packets = 1;
  slab[b].packets = 2;
  EXPECT_EQ(slab[a].packets, 1u);
  EXPECT_EQ(slab.taken(), 2u);
  EXPECT_EQ(slab.give(a), 0);
  EXPECT_EQ(slab.give(a), -EINVAL);
}

}  // namespace
}  // namespace coua::api
