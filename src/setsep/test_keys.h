// SPDX-License-Identifier: Apache-2.0
//
// Keys for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "setsep/keyed_value.h"

namespace coua::setsep {

inline std::vector<keyed_value> random_keys(std::size_t n, unsigned value_bits, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<keyed_value> made(n);
  for (keyed_value& each : made) {
    each.hash = {random(), random()};
    each.value = static_cast<std::uint16_t>(random() % (std::uint64_t{1} << value_bits));
  }
  return made;
}

/// How many of these keys do not have their value, one by one and in batches.
template <class Table>
std::size_t count_wrong(const Table& in, const std::vector<keyed_value>& keys) {
  std::vector<key_hash> hashes;
  for (const keyed_value& each : keys) hashes.push_back(each.hash);
  std::vector<std::uint16_t> values(keys.size());
  in.find_batch(hashes.data(), hashes.size(), values.data());
  std::size_t n = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    n += values[i] != keys[i].value;
    n += in.find(hashes[i]) != keys[i].value;
  }
  return n;
}

}  // namespace coua::setsep
