// SPDX-License-Identifier: Apache-2.0
//
// What every test of the table needs: handles that close themselves, tables of a given shape with
// a known hash key, and records.
#pragma once

#include <coua/fib.h>

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

namespace coua::test {

struct fib_closer {
  void operator()(coua_fib* fib) const { coua_fib_destroy(fib); }
  void operator()(coua_fib_reader* reader) const { coua_fib_reader_destroy(reader); }
  void operator()(coua_fib_cursor* cursor) const { coua_fib_cursor_close(cursor); }
};
using fib_ptr = std::unique_ptr<coua_fib, fib_closer>;
using reader_ptr = std::unique_ptr<coua_fib_reader, fib_closer>;
using cursor_ptr = std::unique_ptr<coua_fib_cursor, fib_closer>;

struct table_shape {
  const char* name;
  coua_fib_layout layout;
  std::uint64_t buckets;
  std::uint32_t value_bits;
};
inline void PrintTo(const table_shape& shape, std::ostream* out) { *out << shape.name; }

/// 2^64 different hash keys, so that a failure can be repeated.
std::array<std::uint8_t, 32> hash_key_of(std::uint64_t seed);

/// Null on failure, and then `message` says why. No seed: the kernel draws the hash key.
fib_ptr make_fib(const table_shape& shape, const std::uint64_t* seed, std::string* message);
fib_ptr make_fib(const table_shape& shape, std::uint64_t seed);  // aborts on failure
fib_ptr make_fib(const table_shape& shape);                      // likewise, random hash key
reader_ptr make_reader(coua_fib* fib);
cursor_ptr make_cursor(coua_fib* fib);

coua_fib_stats stats_of(const coua_fib* fib);
coua_fib_record record_of(std::uint64_t key, std::uint32_t value, bool is_static = false);

/// A good mixer (the finaliser of SplitMix64): test data from counters.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr std::uint64_t key_mask = (std::uint64_t{1} << COUA_FIB_KEY_BITS) - 1;
constexpr std::uint64_t random_key(std::uint64_t i) { return mix(i) & key_mask; }
constexpr std::uint32_t value_of(std::uint32_t entry) {
  return entry >> COUA_FIB_ENTRY_VALUE_SHIFT;
}

}  // namespace coua::test
