// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <coua/classifier.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace coua::api {
namespace {

struct packet {
  std::uint32_t from, to;
  std::uint16_t from_port, to_port;
  std::uint32_t proto;
};
struct padded {
  std::uint32_t to;
  std::uint8_t proto;
};
static_assert(classifier_key<packet> && classifier_key<std::array<std::uint8_t, 256>>);
static_assert(classifier_key<std::uint8_t>);
static_assert(!classifier_key<padded>, "what is in the padding would be part of the key");
static_assert(!classifier_key<double> && !classifier_key<std::array<std::uint8_t, 257>>);

using table_type = classifier<packet>;
using reader_type = classifier_reader<packet>;
static_assert(std::is_nothrow_move_constructible_v<table_type> &&
              std::is_nothrow_move_assignable_v<table_type> &&
              !std::is_copy_constructible_v<table_type>);
static_assert(std::is_nothrow_move_constructible_v<reader_type> &&
              std::is_nothrow_move_assignable_v<reader_type> &&
              !std::is_copy_constructible_v<reader_type>);

coua_classifier_params small() {
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.flows = 64;
  return params;
}
constexpr packet all{};
constexpr packet https{0, 0, 0, 443, 6}, https_mask{0, 0, 0, 0xffff, 0xff};
constexpr packet net{0x0a010000, 0, 0, 0, 0}, net_mask{0xffff0000, 0, 0, 0, 0};

TEST(classifier_hpp, reports_why_a_classifier_was_not_made) {
  coua_classifier_params params = small();
  params.flows = 3;
  table_type table;
  std::string why;
  EXPECT_EQ(table_type::create(params, table, &why), -EINVAL);
  EXPECT_FALSE(table);
  EXPECT_NE(why.find("flows"), std::string::npos) << why;
  EXPECT_EQ(table_type::create(params, table), -EINVAL);
}

TEST(classifier_hpp, the_width_is_that_of_the_type) {
  coua_classifier_params params = small();
  params.key_bytes = 999;
  classifier<std::uint8_t> table;
  ASSERT_EQ(table.create(params, table), 0);
  classifier_reader<std::uint8_t> reader;
  ASSERT_EQ(table.open(reader), 0);
  EXPECT_EQ(table.add(0x80, 0xf0, 1, 5), COUA_CLASSIFIER_ADDED);
  const std::array<std::uint8_t, 3> keys{0x8f, 0x7f, 0x80};
  std::uint64_t hits = 0;
  EXPECT_EQ(reader.lookup_batch(keys, {}, std::span(&hits, 1)), 2u);
  EXPECT_EQ(hits, 5u);
}

TEST(classifier_hpp, single_calls_take_typed_keys_and_masks) {
  table_type table;
  ASSERT_EQ(table_type::create(small(), table), 0);
  reader_type reader;
  ASSERT_EQ(table.open(reader), 0);
  const packet one{0x0a010203, 7, 40000, 443, 6};
  EXPECT_FALSE(reader.lookup(one));
  EXPECT_EQ(table.add(https, https_mask, 10, 1), COUA_CLASSIFIER_ADDED);
  EXPECT_EQ(table.add(net, net_mask, 20, 2), COUA_CLASSIFIER_ADDED);
  ASSERT_TRUE(reader.lookup(one));
  EXPECT_EQ(reader.lookup(one)->value, 2u);
  EXPECT_EQ(reader.lookup(one)->priority, 20u);
  EXPECT_EQ(table.add(net, net_mask, 20, 3), COUA_CLASSIFIER_UPDATED);
  EXPECT_EQ(table.get(net, net_mask, 20), 3u);
  EXPECT_FALSE(table.get(net, net_mask, 21));
  EXPECT_EQ(table.add(https, net_mask, 20, 3), -EINVAL);
  EXPECT_EQ(table.remove(net, net_mask, 20), 0);
  EXPECT_EQ(table.remove(net, net_mask, 20), -ENOENT);
  ASSERT_TRUE(reader.lookup(one));
  EXPECT_EQ(reader.lookup(one)->value, 1u);
  EXPECT_EQ(reader.stats().lookups, 6u);
  EXPECT_EQ(reader.stats().hits, 5u);
}

TEST(classifier_hpp, batches_take_spans) {
  constexpr std::uint32_t n = 150;  // no multiple of 64, nor of the group
  table_type table;
  ASSERT_EQ(table_type::create(small(), table), 0);
  reader_type reader;
  ASSERT_EQ(table.open(reader), 0);
  EXPECT_EQ(table.add(https, https_mask, 10, 1), COUA_CLASSIFIER_ADDED);
  std::vector<packet> keys;
  for (std::uint32_t i = 0; i < n; ++i) {
    keys.push_back({i, i, 40000, static_cast<std::uint16_t>(i % 3 == 0 ? 443 : 80), 6});
  }
  std::vector<coua_classifier_answer> answers(n, {99, 99});
  std::vector<std::uint64_t> hits(classifier_words(n), ~std::uint64_t{0});
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(reader.lookup_batch(keys, answers, hits), n / 3);
  for (std::uint32_t i = 0; i < n; ++i) {
    EXPECT_EQ(classifier_hit(hits, i), i % 3 == 0) << i;
    EXPECT_EQ(answers[i].value, i % 3 == 0 ? 1u : 99u) << i;
  }
  EXPECT_EQ(reader.lookup_batch(keys, {}, {}), n / 3);
  EXPECT_EQ(reader.lookup_batch({}, {}, {}), 0u);
}

TEST(classifier_hpp, each_tells_typed_rules_and_stops_when_told) {
  table_type table;
  ASSERT_EQ(table_type::create(small(), table), 0);
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_EQ(table.add({i, 0, 0, 0, 0}, {~0u, 0, 0, 0, 0}, i + 100, i), COUA_CLASSIFIER_ADDED);
  }
  std::set<std::uint32_t> seen;
  EXPECT_EQ(table.each([&](const packet& key, const packet& mask, std::uint32_t priority,
                           std::uint32_t value) {
    EXPECT_EQ(key.from, value);
    EXPECT_EQ(mask.from, ~0u);
    EXPECT_EQ(mask.to, 0u);
    EXPECT_EQ(priority, value + 100);
    seen.insert(value);
    return 0;
  }),
            0);
  EXPECT_EQ(seen.size(), 20u);
  int calls = 0;
  const auto third = [&](const packet&, const packet&, std::uint32_t, std::uint32_t) {
    return ++calls == 3 ? 8 : 0;
  };
  EXPECT_EQ(table.each(third), 8);
  EXPECT_EQ(calls, 3);
}

TEST(classifier_hpp, counts_and_masks) {
  table_type table;
  ASSERT_EQ(table_type::create(small(), table), 0);
  table.add(all, all, 1, 0);
  table.add(net, net_mask, 20, 2);
  EXPECT_EQ(table.stats().rules, 2u);
  EXPECT_EQ(table.stats().masks, 2u);
  ASSERT_TRUE(table.mask(0) && table.mask(1));
  EXPECT_EQ(std::memcmp(table.mask(0)->mask, &net_mask, sizeof net_mask), 0);
  EXPECT_EQ(table.mask(1)->highest, 1u);
  EXPECT_FALSE(table.mask(2));
  EXPECT_EQ(table.remove(net, net_mask, 20), 0);
  for (int i = 0; i < 10 && table.reclaim() != 0; ++i) continue;
  EXPECT_EQ(table.reclaim(), 0u);
}

TEST(classifier_hpp, handles_move) {
  table_type table, other;
  ASSERT_EQ(table_type::create(small(), table), 0);
  reader_type reader;
  ASSERT_EQ(table.open(reader), 0);
  table.add(all, all, 1, 4);
  other = std::move(table);
  reader_type moved = std::move(reader);
  EXPECT_FALSE(table);   // NOLINT(bugprone-use-after-move): what is left of it
  EXPECT_FALSE(reader);  // NOLINT(bugprone-use-after-move)
  ASSERT_TRUE(moved.lookup(https));
  EXPECT_EQ(moved.lookup(https)->value, 4u);
  moved.close();
  EXPECT_FALSE(moved);
}

}  // namespace
}  // namespace coua::api
