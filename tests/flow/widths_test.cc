// SPDX-License-Identifier: Apache-2.0
//
// Tables of every width of keys and of values, their arrays packed and with gaps.
#include <cstring>

#include "flow_handles.h"

namespace coua::test {
namespace {

/// Bytes that are a different key, or value, for each number, also with the 4 bytes of the
/// shortest; the last byte says more than zeros do.
void put_bytes(std::uint64_t number, std::uint32_t n_bytes, std::uint8_t* bytes) {
  for (std::uint32_t i = 0; i < n_bytes; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i < 2 ? number >> 8 * i : flow_mix(number + i) >> 8);
  }
}

void check_width(std::uint32_t key_bytes, std::uint32_t value_bytes, std::uint32_t gap,
                 enum coua_flow_sync sync) {
  constexpr std::uint64_t n = 200;
  coua_flow_params params = flow_params(n);
  params.key_bytes = key_bytes;
  params.value_bytes = value_bytes;
  params.key_stride = key_bytes + gap;
  params.value_stride = value_bytes + gap;
  params.sync = sync;
  params.timers = COUA_FLOW_TIMERS_OFF;
  const flow_ptr table = make_flow(params);
  coua_flow_reader* reader = reader_of(table);
  const std::size_t value_stride = params.value_stride;
  // The second half are not in the table. Exactly as long as they must be: a sanitizer sees more.
  std::vector<std::uint8_t> keys((2 * n - 1) * params.key_stride + key_bytes);
  std::vector<std::uint8_t> values((n - 1) * value_stride + value_bytes);
  for (std::uint64_t i = 0; i < 2 * n; ++i) put_bytes(i, key_bytes, &keys[i * params.key_stride]);
  for (std::uint64_t i = 0; i < n && value_bytes != 0; ++i) {
    put_bytes(~i, value_bytes, &values[i * value_stride]);
  }
  ASSERT_EQ(coua_flow_insert_batch(table.get(), keys.data(), nullptr, values.data(), n, 0, nullptr),
            static_cast<long>(n));
  std::vector<std::uint8_t> got(2 * n * value_stride, 0xa5);
  std::uint64_t hits[COUA_FLOW_WORDS(2 * n)];
  ASSERT_EQ(coua_flow_lookup_batch(reader, keys.data(), 2 * n, got.data(), hits), n);
  for (std::uint64_t i = 0; i < 2 * n; ++i) {
    ASSERT_EQ(hits[i / 64] >> i % 64 & 1, i < n) << i;
    const std::uint8_t* value = got.data() + i * value_stride;
    if (i < n && value_bytes != 0) {
      ASSERT_EQ(std::memcmp(value, values.data() + i * value_stride, value_bytes), 0) << i;
    }
    for (std::size_t b = i < n ? value_bytes : 0; b < value_stride; ++b) ASSERT_EQ(value[b], 0xa5);
  }
  // Also of numbers of keys that fill no vector.
  for (std::size_t some = 1; some < 40; some += 3) {
    const std::uint8_t* last = keys.data() + (2 * n - some) * params.key_stride;
    ASSERT_EQ(coua_flow_lookup_batch(reader, keys.data(), some, nullptr, nullptr), some);
    ASSERT_EQ(coua_flow_lookup_batch(reader, last, some, nullptr, nullptr), 0U);
  }
  ASSERT_EQ(coua_flow_erase_batch(table.get(), keys.data(), nullptr, n / 2), n / 2);
  ASSERT_EQ(coua_flow_lookup_batch(reader, keys.data(), 2 * n, nullptr, nullptr), n - n / 2);
}

TEST(flow_widths, keys_of_every_width_are_told_apart) {
  for (std::uint32_t bytes = COUA_FLOW_KEY_BYTES_MIN; bytes <= COUA_FLOW_KEY_BYTES_MAX; ++bytes) {
    SCOPED_TRACE(bytes);
    check_width(bytes, 8, 0, COUA_FLOW_SINGLE);
    check_width(bytes, 12, 3, COUA_FLOW_ONE_WRITER);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(flow_widths, values_of_every_width_come_back) {
  for (std::uint32_t bytes = 0; bytes <= COUA_FLOW_VALUE_BYTES_MAX; ++bytes) {
    SCOPED_TRACE(bytes);
    check_width(16, bytes, 0, COUA_FLOW_ONE_WRITER);
    check_width(13, bytes, 5, COUA_FLOW_SINGLE);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace coua::test
