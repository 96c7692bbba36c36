// SPDX-License-Identifier: Apache-2.0
//
// Flow tables with keys of 16 bytes for tests: handles that destroy themselves, and keys by number.
#pragma once

#include <coua/flow_table.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace coua::test {

using key16 = std::array<std::uint64_t, 2>;

inline std::uint64_t flow_mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline key16 key_number(std::uint64_t i) { return {flow_mix(i + 1), i}; }
inline key16 value_number(std::uint64_t i) { return {~i, flow_mix(i)}; }

struct destroy_flow {
  void operator()(coua_flow_table* table) const { coua_flow_destroy(table); }
};
using flow_ptr = std::unique_ptr<coua_flow_table, destroy_flow>;

/// 16/16 with `entries` at 0.95, on small pages.
inline coua_flow_params flow_params(std::uint64_t entries) {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.entries = entries;
  params.value_bytes = 16;
  params.pages = COUA_FLOW_PAGES_4K;
  return params;
}

inline flow_ptr make_flow(const coua_flow_params& params) {
  coua_flow_table* made = nullptr;
  char message[200] = "";
  EXPECT_EQ(coua_flow_create(&params, &made, message, sizeof message), 0) << message;
  return flow_ptr(made);
}

/// Of the table; destroyed with it.
inline coua_flow_reader* reader_of(const flow_ptr& table) {
  coua_flow_reader* reader = nullptr;
  EXPECT_EQ(coua_flow_reader_create(table.get(), &reader), 0);
  return reader;
}

inline coua_flow_stats stats_of(const flow_ptr& table) {
  coua_flow_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(coua_flow_get_stats(table.get(), &stats), 0);
  return stats;
}

inline int insert(const flow_ptr& table, std::uint64_t i, std::uint32_t units = 0) {
  const key16 key = key_number(i), value = value_number(i);
  return coua_flow_insert(table.get(), &key, &value, units);
}
inline int erase(const flow_ptr& table, std::uint64_t i) {
  const key16 key = key_number(i);
  return coua_flow_erase(table.get(), &key, nullptr);
}

/// Keys that a batch does not find, or with a wrong value, among the numbers.
inline std::size_t lost(coua_flow_reader* reader, const std::vector<std::uint64_t>& numbers,
                        std::size_t batch) {
  std::size_t n_lost = 0;
  std::vector<key16> keys(batch), values(batch);
  std::vector<std::uint64_t> hits(COUA_FLOW_WORDS(batch));
  for (std::size_t at = 0; at < numbers.size(); at += batch) {
    const std::size_t n = std::min(batch, numbers.size() - at);
    for (std::size_t i = 0; i < n; ++i) keys[i] = key_number(numbers[at + i]);
    coua_flow_lookup_batch(reader, keys.data(), n, values.data(), hits.data());
    for (std::size_t i = 0; i < n; ++i) {
      const bool hit = (hits[i / 64] >> i % 64 & 1) != 0;
      n_lost += !hit || values[i] != value_number(numbers[at + i]);
    }
  }
  return n_lost;
}

}  // namespace coua::test
