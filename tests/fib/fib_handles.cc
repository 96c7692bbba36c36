// SPDX-License-Identifier: Apache-2.0
#include "fib_handles.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace coua::test {

std::array<std::uint8_t, 32> hash_key_of(std::uint64_t seed) {
  std::array<std::uint8_t, 32> key;
  for (std::uint64_t i = 0; i < 4; i++) {
    std::uint64_t word = mix(seed * 4 + i);
    std::memcpy(&key[i * 8], &word, 8);
  }
  return key;
}

fib_ptr make_fib(const table_shape& shape, const std::uint64_t* seed, std::string* message) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.buckets = shape.buckets;
  params.layout = shape.layout;
  params.value_bits = shape.value_bits;
  params.populate_threads = 1;
  std::array<std::uint8_t, 32> hash_key;
  if (seed) {
    hash_key = hash_key_of(*seed);
    params.hash_key = hash_key.data();
  }
  char text[256] = "";
  coua_fib* fib = nullptr;
  int rc = coua_fib_create(&params, &fib, text, sizeof text);
  if (rc == 0) return fib_ptr(fib);
  if (message) *message = std::string(std::strerror(-rc)) + ": " + text;
  return nullptr;
}

namespace {
fib_ptr must(fib_ptr fib, const std::string& message) {
  if (fib) return fib;
  std::fprintf(stderr, "cannot create the table under test: %s\n", message.c_str());
  std::abort();
}
}  // namespace

fib_ptr make_fib(const table_shape& shape, std::uint64_t seed) {
  std::string message;
  return must(make_fib(shape, &seed, &message), message);
}

fib_ptr make_fib(const table_shape& shape) {
  std::string message;
  return must(make_fib(shape, nullptr, &message), message);
}

reader_ptr make_reader(coua_fib* fib) {
  coua_fib_reader* reader = nullptr;
  if (coua_fib_reader_create(fib, &reader) != 0) std::abort();
  return reader_ptr(reader);
}

cursor_ptr make_cursor(coua_fib* fib) {
  coua_fib_cursor* cursor = nullptr;
  if (coua_fib_cursor_open(fib, &cursor) != 0) std::abort();
  return cursor_ptr(cursor);
}

coua_fib_stats stats_of(const coua_fib* fib) {
  coua_fib_stats stats = {};
  stats.size = sizeof stats;
  if (coua_fib_get_stats(fib, &stats) != 0) std::abort();
  return stats;
}

coua_fib_record record_of(std::uint64_t key, std::uint32_t value, bool is_static) {
  coua_fib_record record = {};
  record.key = key;
  record.value = value;
  record.is_static = is_static;
  return record;
}

}  // namespace coua::test
