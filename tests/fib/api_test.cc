// SPDX-License-Identifier: Apache-2.0
//
// The edges of the C API: what each parameter may be, what each error is, what is never touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "fib_handles.h"

namespace coua::test {
namespace {

coua_fib_params small_params() {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = 1000;
  params.populate_threads = 1;
  return params;
}

struct creation {
  int rc;
  fib_ptr fib;
  std::string message;
};

creation create(const coua_fib_params& params) {
  char text[200];
  std::memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  coua_fib* fib = nullptr;
  int rc = coua_fib_create(&params, &fib, text, sizeof text);
  return {rc, fib_ptr(fib), rc ? text : ""};
}

void expect_invalid(const coua_fib_params& params, const char* name) {
  creation c = create(params);
  EXPECT_EQ(c.rc, -EINVAL) << name;
  EXPECT_EQ(c.fib, nullptr) << name;
  EXPECT_NE(c.message.find(name), std::string::npos)
      << "message '" << c.message << "' should name " << name;
  coua_fib* fib = nullptr;
  EXPECT_EQ(coua_fib_create(&params, &fib, nullptr, 0), -EINVAL) << name;
  char one[2] = {'a', 'b'};
  EXPECT_EQ(coua_fib_create(&params, &fib, one, 1), -EINVAL) << name;
  EXPECT_EQ(one[0], 0) << name;
  EXPECT_EQ(one[1], 'b') << "message written past message_bytes: " << name;
}

TEST(fib_api, parameters_out_of_range_are_named) {
  auto with = [](auto change) {
    coua_fib_params params = small_params();
    change(params);
    return params;
  };
  using p = coua_fib_params;
  expect_invalid(with([](p& x) { x.size = 0; }), "size");
  expect_invalid(with([](p& x) { x.entries = 0; }), "entries");
  expect_invalid(with([](p& x) { x.entries = (std::uint64_t{1} << 40) + 1; }), "entries");
  expect_invalid(with([](p& x) { x.entries = UINT64_MAX; }), "entries");
  expect_invalid(with([](p& x) { x.max_load = 0.04; }), "max_load");
  expect_invalid(with([](p& x) { x.max_load = 1.0; }), "max_load");
  expect_invalid(with([](p& x) { x.max_load = -1; }), "max_load");
  expect_invalid(with([](p& x) { x.max_load = std::numeric_limits<double>::quiet_NaN(); }),
                 "max_load");
  expect_invalid(with([](p& x) { x.value_bits = 25; }), "value_bits");
  expect_invalid(with([](p& x) { x.value_bits = UINT32_MAX; }), "value_bits");
  expect_invalid(with([](p& x) { x.layout = static_cast<coua_fib_layout>(4); }), "layout");
  expect_invalid(with([](p& x) { x.layout = static_cast<coua_fib_layout>(-1); }), "layout");
  expect_invalid(with([](p& x) { x.pages = static_cast<coua_fib_pages>(77); }), "pages");
  expect_invalid(with([](p& x) { x.buckets = UINT64_MAX; }), "buckets");
}

TEST(fib_api, the_largest_table_is_asked_for_in_64_bits) {
  std::size_t asked = 0;
  coua_fib_params params = small_params();
  params.entries = std::uint64_t{1} << 40;
  params.context = &asked;
  params.allocate = [](void* context, std::size_t bytes, std::size_t) -> void* {
    auto* most = static_cast<std::size_t*>(context);
    *most = std::max(*most, bytes);
    return nullptr;
  };
  params.release = [](void*, void*, std::size_t) {};
  creation c = create(params);
  EXPECT_EQ(c.rc, -ENOMEM);
  EXPECT_EQ(c.fib, nullptr);
  EXPECT_NE(c.message, "");
  EXPECT_GE(asked, (std::size_t{1} << 40) / 95 * 100 * 8);
}

TEST(fib_api, entries_fit_at_the_load_asked_for) {
  for (std::uint64_t entries : {1ull, 2ull, 7ull, 8ull, 9ull, 1000ull, 1024ull, 100'000ull}) {
    for (double max_load : {0.0, 0.05, 0.5, 0.95}) {
      coua_fib_params params = small_params();
      params.entries = entries;
      params.max_load = max_load;
      creation c = create(params);
      ASSERT_EQ(c.rc, 0) << c.message;
      coua_fib_stats stats = stats_of(c.fib.get());
      double load = double(entries) / double(stats.slots);
      EXPECT_LE(load, max_load ? max_load : 0.95) << entries << " entries at " << max_load;
      EXPECT_GE(stats.buckets, stats.buckets_asked);
      EXPECT_EQ(stats.value_bits, 16u);
      for (std::uint64_t i = 0; i < entries; i++) {
        coua_fib_record r = record_of(random_key(i), i % 65536);
        ASSERT_EQ(coua_fib_insert(c.fib.get(), &r), COUA_FIB_ADDED) << i << " of " << entries;
      }
    }
  }
}

TEST(fib_api, layouts_have_the_buckets_that_exactness_needs) {
  struct {
    coua_fib_layout asked, got;
    std::uint64_t buckets;
    std::uint32_t value_bits;
    unsigned slots_per_bucket;
  } const cases[] = {
      {COUA_FIB_LAYOUT_AUTO, COUA_FIB_LAYOUT_WIDE8, 100, 16, 8},
      {COUA_FIB_LAYOUT_AUTO, COUA_FIB_LAYOUT_PACKED8, 1 << 12, 10, 8},
      {COUA_FIB_LAYOUT_AUTO, COUA_FIB_LAYOUT_PACKED8, 1 << 18, 16, 8},
      {COUA_FIB_LAYOUT_PACKED8, COUA_FIB_LAYOUT_PACKED8, 10, 10, 8},
      {COUA_FIB_LAYOUT_PACKED4, COUA_FIB_LAYOUT_PACKED4, 5000, 10, 4},
      {COUA_FIB_LAYOUT_WIDE8, COUA_FIB_LAYOUT_WIDE8, 3, 24, 8},
  };
  for (const auto& c : cases) {
    fib_ptr fib = make_fib({"", c.asked, c.buckets, c.value_bits});
    coua_fib_stats stats = stats_of(fib.get());
    EXPECT_EQ(stats.layout, c.got) << c.buckets << " buckets, " << c.value_bits << " bits";
    EXPECT_EQ(stats.buckets_asked, c.buckets);
    EXPECT_GE(stats.buckets, c.buckets);
    EXPECT_EQ(stats.slots, stats.buckets * c.slots_per_bucket);
    if (c.asked == COUA_FIB_LAYOUT_PACKED8) {
      EXPECT_GT(stats.buckets, c.buckets);
    } else {
      EXPECT_EQ(stats.buckets, c.buckets);
    }
  }
}

TEST(fib_api, a_packed_entry_takes_8_6_bytes_at_full_load) {
  coua_fib_params params = small_params();
  params.entries = 2'000'000;
  creation c = create(params);
  ASSERT_EQ(c.rc, 0) << c.message;
  coua_fib_stats stats = stats_of(c.fib.get());
  EXPECT_EQ(stats.layout, COUA_FIB_LAYOUT_PACKED8);
  EXPECT_LE(double(stats.bytes) / double(params.entries), 8.6);
}

TEST(fib_api, key_is_domain_then_mac_in_wire_order) {
  const std::uint8_t mac[6] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
  const std::uint8_t ones[6] = {255, 255, 255, 255, 255, 255};
  EXPECT_EQ(coua_fib_key(0x123, mac), 0x0123'0211'2233'4455u);
  EXPECT_EQ(coua_fib_key(4095, ones), key_mask);
  EXPECT_EQ(coua_fib_key(0, mac) >> 48, 0u);
}

TEST(fib_api, stats_fill_only_what_the_caller_knows) {
  fib_ptr fib = make_fib({"", COUA_FIB_LAYOUT_WIDE8, 10, 16});
  coua_fib_record r = record_of(5, 6);
  ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
  coua_fib_stats stats = {};
  EXPECT_EQ(coua_fib_get_stats(fib.get(), &stats), -EINVAL);
  std::memset(&stats, 0x5a, sizeof stats);
  stats.size = offsetof(coua_fib_stats, buckets);
  ASSERT_EQ(coua_fib_get_stats(fib.get(), &stats), 0);
  EXPECT_EQ(stats.entries, 1u);
  EXPECT_EQ(stats.slots, 80u);
  EXPECT_EQ(stats.buckets, 0x5a5a5a5a5a5a5a5au);
}

TEST(fib_api, an_older_program_passes_fewer_parameters) {
  coua_fib_params params = small_params();
  params.size = offsetof(coua_fib_params, numa_node);
  params.numa_node = 12345;  // beyond the size: must not be read
  params.hash_key = reinterpret_cast<const std::uint8_t*>(8);
  params.allocate = reinterpret_cast<void* (*)(void*, std::size_t, std::size_t)>(8);
  creation c = create(params);
  EXPECT_EQ(c.rc, 0) << c.message;
}

TEST(fib_api, a_numa_node_that_is_not_there_is_named) {
  coua_fib_params params = small_params();
  for (const int node : {12345, -2}) {
    params.numa_node = node;
    creation c = create(params);
    EXPECT_EQ(c.rc, -ENOENT);
    EXPECT_NE(c.message.find("NUMA node " + std::to_string(node)), std::string::npos) << c.message;
  }
}

TEST(fib_api, null_handles_are_closed_in_peace) {
  coua_fib_destroy(nullptr);
  coua_fib_reader_destroy(nullptr);
  coua_fib_cursor_close(nullptr);
}

TEST(fib_api, destroying_the_table_destroys_its_readers_and_cursors) {
  coua_fib* fib = make_fib({"", COUA_FIB_LAYOUT_WIDE8, 10, 16}).release();
  for (int i = 0; i < 5; i++) {
    coua_fib_reader* reader = make_reader(fib).release();
    coua_fib_cursor* cursor = make_cursor(fib).release();
    if (i == 2) coua_fib_reader_destroy(reader);
    if (i == 3) coua_fib_cursor_close(cursor);
  }
  coua_fib_destroy(fib);  // what it forgets, the leak check of the sanitizer build finds
}

TEST(fib_api, simd_is_a_known_word_and_obeys_the_environment) {
  fib_ptr fib = make_fib({"", COUA_FIB_LAYOUT_WIDE8, 10, 16});
  std::string simd = coua_fib_simd(fib.get());
  EXPECT_TRUE(simd == "generic" || simd == "avx2" || simd == "avx512") << simd;
  const char* asked = std::getenv("COUA_SIMD");
  if (!asked) return;
  auto rank = [](const std::string& s) { return s == "generic" ? 0 : s == "avx2" ? 1 : 2; };
  EXPECT_LE(rank(simd), rank(asked));
}

const table_shape each_layout[] = {{"packed8", COUA_FIB_LAYOUT_PACKED8, 1 << 12, 10},
                                   {"packed4", COUA_FIB_LAYOUT_PACKED4, 1 << 12, 10},
                                   {"wide8", COUA_FIB_LAYOUT_WIDE8, 1 << 12, 24}};

class fib_api_layout : public testing::TestWithParam<table_shape> {};
INSTANTIATE_TEST_SUITE_P(layouts, fib_api_layout, testing::ValuesIn(each_layout),
                         [](const auto& shape) { return shape.param.name; });

TEST_P(fib_api_layout, a_key_out_of_range_is_never_written) {
  fib_ptr fib = make_fib(GetParam());
  reader_ptr reader = make_reader(fib.get());
  for (std::uint64_t key : {std::uint64_t{0}, std::uint64_t{77}, key_mask}) {
    coua_fib_record r = record_of(key, 1);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
    for (unsigned bit = COUA_FIB_KEY_BITS; bit < 64; bit++) {
      std::uint64_t wrong = key | std::uint64_t{1} << bit;
      r.key = wrong;
      EXPECT_EQ(coua_fib_insert(fib.get(), &r), -EINVAL);
      EXPECT_EQ(coua_fib_erase(fib.get(), wrong), -EINVAL);
      EXPECT_EQ(coua_fib_refresh(fib.get(), wrong), -EINVAL);
      EXPECT_EQ(coua_fib_erase_batch(fib.get(), &wrong, 1), 0u);
      EXPECT_EQ(coua_fib_lookup(reader.get(), wrong), coua_fib_lookup(reader.get(), key));
    }
  }
}

TEST_P(fib_api_layout, a_record_with_what_is_reserved_is_refused) {
  fib_ptr fib = make_fib(GetParam());
  coua_fib_record records[2] = {record_of(1, 1), record_of(2, 1)};
  records[1].reserved = 5;
  EXPECT_EQ(coua_fib_insert(fib.get(), &records[1]), -EINVAL);
  std::int8_t results[2];
  EXPECT_EQ(coua_fib_insert_batch(fib.get(), records, 2, results), 1u);
  EXPECT_EQ(results[1], -EINVAL);
  const auto load_one = [](void* context, unsigned thread, coua_fib_record* room, std::size_t) {
    bool& is_given = *static_cast<bool*>(context);
    if (thread != 0 || is_given) return std::size_t{0};
    is_given = true;
    room[0] = record_of(3, 1);
    room[0].reserved = 5;
    return std::size_t{1};
  };
  bool is_given = false;
  EXPECT_EQ(coua_fib_bulk_load(fib.get(), load_one, &is_given, 1, 1), -EINVAL);
  EXPECT_EQ(stats_of(fib.get()).entries, 1u);
}

TEST_P(fib_api_layout, no_key_of_a_full_table_hides_or_doubles_another) {
  // Exactness: all keys of a dense neighbourhood are told apart, and each is read back.
  fib_ptr fib = make_fib(GetParam());
  reader_ptr reader = make_reader(fib.get());
  std::uint64_t n = stats_of(fib.get()).slots * 9 / 10;
  std::uint32_t mask = (1u << GetParam().value_bits) - 1;
  auto key = [](std::uint64_t i) { return (i % 3 * 2047 << 48) | (i / 3 * 2); };
  for (std::uint64_t i = 0; i < n; i++) {
    coua_fib_record r = record_of(key(i), static_cast<std::uint32_t>(mix(i)) & mask);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
  }
  for (std::uint64_t i = 0; i < n; i++) {
    ASSERT_EQ(value_of(coua_fib_lookup(reader.get(), key(i))),
              (static_cast<std::uint32_t>(mix(i)) & mask));
    ASSERT_EQ(coua_fib_lookup(reader.get(), key(i) + 1), COUA_FIB_MISS);
  }
  std::map<std::uint64_t, std::uint32_t> seen;
  cursor_ptr cursor = make_cursor(fib.get());
  coua_fib_record records[100];
  while (long got = coua_fib_cursor_next(cursor.get(), records, std::size(records))) {
    ASSERT_GT(got, 0);
    for (long i = 0; i < got; i++)
      ASSERT_TRUE(seen.emplace(records[i].key, records[i].value).second);
  }
  ASSERT_EQ(seen.size(), n);
  for (std::uint64_t i = 0; i < n; i++)
    ASSERT_EQ(seen.at(key(i)), (static_cast<std::uint32_t>(mix(i)) & mask));
}

// Inserts at a high load move entries back and forth across a cursor that rests. It must neither
// take memory for each nor, when it lost count, answer wrongly.
TEST_P(fib_api_layout, a_cursor_that_rests_among_too_many_moves_says_that_it_is_lost) {
  fib_ptr fib = make_fib(GetParam());
  const std::uint64_t n = stats_of(fib.get()).slots * 94 / 100;
  std::uint64_t next = 0, oldest = 0;
  const auto insert = [&] {
    coua_fib_record r = record_of(random_key(next++), 1);
    return coua_fib_insert(fib.get(), &r);
  };
  while (next < n) ASSERT_EQ(insert(), COUA_FIB_ADDED);
  cursor_ptr cursor = make_cursor(fib.get());
  std::vector<coua_fib_record> records(n);
  const auto step = [&] {
    return coua_fib_cursor_step(cursor.get(), records.data(), records.size(),
                                stats_of(fib.get()).buckets / 2);
  };
  ASSERT_GT(step(), 0);
  const auto churn = [&](std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; i++) {
      ASSERT_EQ(coua_fib_erase(fib.get(), random_key(oldest++)), 0);
      ASSERT_EQ(insert(), COUA_FIB_ADDED);
    }
  };
  const std::uint64_t moves = stats_of(fib.get()).moves;
  churn(2'000'000);
  ASSERT_GT(stats_of(fib.get()).moves - moves, 400'000u);
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(step(), -EOVERFLOW);
    EXPECT_EQ(coua_fib_cursor_next(cursor.get(), records.data(), records.size()), -EOVERFLOW);
  }
  cursor = make_cursor(fib.get());
  std::set<std::uint64_t> seen;
  for (long got; (got = step()) >= 0;)
    for (long i = 0; i < got; i++)
      ASSERT_TRUE(seen.insert(records[static_cast<std::size_t>(i)].key).second);
  EXPECT_EQ(seen.size(), n);
}

TEST_P(fib_api_layout, a_cursor_steps_over_empty_buckets_in_bounded_steps) {
  fib_ptr fib = make_fib(GetParam());
  const std::uint64_t n = 100;
  for (std::uint64_t i = 0; i < n; i++) {
    coua_fib_record r = record_of(random_key(i), 1);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
  }
  cursor_ptr cursor = make_cursor(fib.get());
  coua_fib_record records[64];
  EXPECT_EQ(coua_fib_cursor_step(cursor.get(), records, 7, 1), -EINVAL);
  EXPECT_EQ(coua_fib_cursor_step(cursor.get(), records, 64, 0), -EINVAL);
  std::uint64_t seen = 0, steps = 0, empty = 0;
  for (;; steps++) {
    const long got = coua_fib_cursor_step(cursor.get(), records, 64, 8);
    if (got == -ENODATA) break;
    ASSERT_GE(got, 0);
    seen += static_cast<std::uint64_t>(got);
    empty += got == 0;
  }
  EXPECT_EQ(seen, n);
  EXPECT_EQ(steps, (stats_of(fib.get()).buckets + 7) / 8);
  EXPECT_GT(empty, steps / 2);
  EXPECT_EQ(coua_fib_cursor_step(cursor.get(), records, 64, 8), -ENODATA);
}

// Red when tidying expires, loses or duplicates entries, or stops at the first end of the table.
TEST_P(fib_api_layout, tidying_sends_guests_home_and_ages_nothing) {
  fib_ptr fib = make_fib(GetParam());
  reader_ptr reader = make_reader(fib.get());
  const std::uint64_t n = stats_of(fib.get()).slots * 95 / 100;
  for (std::uint64_t i = 0; i < n; i++) {
    coua_fib_record r = record_of(random_key(i), 1);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
  }
  for (int epoch = 0; epoch < 5; epoch++) {
    while (coua_fib_sweep(fib.get(), 1 << 20, nullptr, nullptr) == 0) {
    }
    ASSERT_EQ(coua_fib_next_epoch(fib.get()), 0);
  }
  while (coua_fib_sweep(fib.get(), 1 << 20, nullptr, nullptr) == 0) {
  }
  ASSERT_EQ(coua_fib_next_epoch(fib.get()), 0);  // all entries are six epochs old now
  for (std::uint64_t i = 0; i < n / 2; i++) ASSERT_EQ(coua_fib_erase(fib.get(), random_key(i)), 0);
  const coua_fib_stats before = stats_of(fib.get());
  for (int round = 0; round < 2; round++) {
    std::uint64_t looked = 100;
    while (coua_fib_tidy(fib.get(), 100) == 0) looked += 100;
    EXPECT_GE(looked, before.buckets);
    EXPECT_LT(looked, before.buckets + 100);
  }
  const coua_fib_stats after = stats_of(fib.get());
  EXPECT_LT(after.in_secondary, before.in_secondary / 4);
  EXPECT_EQ(after.aged_out, 0u);
  EXPECT_EQ(after.entries, before.entries);
  for (std::uint64_t i = n / 2; i < n; i++)
    ASSERT_NE(coua_fib_lookup(reader.get(), random_key(i)), COUA_FIB_MISS) << i;
}

struct thread_source {
  std::array<std::atomic<unsigned>, COUA_FIB_LOAD_THREADS_MAX> n_calls{};

  static std::size_t next(void* context, unsigned thread, coua_fib_record* records, std::size_t) {
    std::atomic<unsigned>& n = static_cast<thread_source*>(context)->n_calls.at(thread);
    if (n++ > 0) return 0;
    records[0] = record_of(thread, thread % 16);
    return 1;
  }
};

// Red when numbers of threads have no end: the loop over them, or the memory for them, then has
// none.
TEST_P(fib_api_layout, a_bulk_load_asks_each_of_its_threads_and_refuses_too_many) {
  fib_ptr fib = make_fib(GetParam());
  thread_source source;
  for (unsigned threads : {COUA_FIB_LOAD_THREADS_MAX + 1u, std::numeric_limits<unsigned>::max()}) {
    EXPECT_EQ(coua_fib_bulk_load(fib.get(), &thread_source::next, &source, threads, 1), -EINVAL);
  }
  for (const auto& n : source.n_calls) EXPECT_EQ(n, 0u);
  EXPECT_EQ(stats_of(fib.get()).entries, 0u);
  EXPECT_EQ(
      coua_fib_bulk_load(fib.get(), &thread_source::next, &source, COUA_FIB_LOAD_THREADS_MAX, 1),
      0);
  for (const auto& n : source.n_calls) EXPECT_EQ(n, 2u);
  EXPECT_EQ(stats_of(fib.get()).entries, source.n_calls.size());
}

TEST_P(fib_api_layout, every_batch_size_agrees_with_single_look_ups) {
  fib_ptr fib = make_fib(GetParam());
  reader_ptr reader = make_reader(fib.get());
  std::uint64_t n = stats_of(fib.get()).slots / 2;
  for (std::uint64_t i = 0; i < n; i++) {
    coua_fib_record r = record_of(random_key(i), i % 1000);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
  }
  std::vector<std::uint64_t> keys(1000);
  for (std::size_t i = 0; i < keys.size(); i++) keys[i] = random_key(mix(i) % (2 * n));
  std::vector<std::uint32_t> want(keys.size());
  for (std::size_t i = 0; i < keys.size(); i++) want[i] = coua_fib_lookup(reader.get(), keys[i]);
  auto sizes = {0,  1,  2,  3,  7,   8,   9,   15,  16,  17,  31,  32,
                33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000};
  for (std::size_t size : sizes) {
    std::vector<std::uint32_t> head(want.begin(), want.begin() + static_cast<long>(size)),
        got(size);
    auto hits = static_cast<std::size_t>(std::count_if(
        head.begin(), head.end(), [](std::uint32_t e) { return e != COUA_FIB_MISS; }));
    auto* r = reader.get();
    EXPECT_EQ(coua_fib_lookup_batch(r, keys.data(), size, got.data()), hits) << size;
    EXPECT_EQ(got, head) << size;
    got.assign(size, 1);
    EXPECT_EQ(coua_fib_lookup_ahead(r, keys.data(), size, got.data(), nullptr, 0), hits) << size;
    EXPECT_EQ(got, head) << size;
    got.assign(size, 1);
    EXPECT_EQ(coua_fib_lookup_ahead(r, keys.data(), size, got.data(), keys.data(), 1000), hits);
    EXPECT_EQ(got, head) << size;
    got.assign(size, 1);
    EXPECT_EQ(coua_fib_lookup_refresh(r, keys.data(), size, got.data()), hits) << size;
    EXPECT_EQ(got, head) << size;
    got.assign(size + coua_fib_pipeline_depth(r), 1);
    std::size_t first = coua_fib_pipeline(r, keys.data(), size, got.data());
    EXPECT_LE(first, size);
    EXPECT_EQ(first + coua_fib_pipeline_drain(r, got.data() + first), size);
    got.resize(size);
    EXPECT_EQ(got, head) << size;
  }
}

TEST_P(fib_api_layout, readers_come_and_go_on_any_thread) {
  fib_ptr fib = make_fib(GetParam());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; i++) {
        reader_ptr reader = make_reader(fib.get());
        EXPECT_EQ(coua_fib_lookup(reader.get(), 1), COUA_FIB_MISS);
        stats_of(fib.get());
      }
    });
  for (std::thread& t : threads) t.join();
}

struct counted_memory {
  std::map<void*, std::size_t> blocks;
  std::size_t bytes = 0;
  int refuse_after = 1 << 30;

  static void* take(void* context, std::size_t bytes, std::size_t alignment) {
    auto* self = static_cast<counted_memory*>(context);
    if (self->refuse_after-- <= 0) return nullptr;
    std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    std::memset(memory, 0, rounded);
    self->blocks[memory] = bytes;
    self->bytes += bytes;
    return memory;
  }
  static void give(void* context, void* memory, std::size_t bytes) {
    auto* self = static_cast<counted_memory*>(context);
    ASSERT_EQ(self->blocks.at(memory), bytes);
    self->blocks.erase(memory);
    std::free(memory);
  }
};

TEST_P(fib_api_layout, the_callers_allocator_gets_everything_back) {
  counted_memory memory;
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.buckets = GetParam().buckets;
  params.layout = GetParam().layout;
  params.value_bits = GetParam().value_bits;
  params.allocate = counted_memory::take;
  params.release = counted_memory::give;
  params.context = &memory;
  creation c = create(params);
  ASSERT_EQ(c.rc, 0) << c.message;
  coua_fib_stats stats = stats_of(c.fib.get());
  EXPECT_EQ(stats.pages, COUA_FIB_PAGES_CALLER);
  EXPECT_GE(memory.bytes, stats.slots * 8);
  c.fib.reset();
  EXPECT_TRUE(memory.blocks.empty());
  for (int allowed = 0; allowed < 4; allowed++) {
    memory.refuse_after = allowed;
    creation refused = create(params);
    if (refused.rc == 0) break;  // it needed no more
    EXPECT_EQ(refused.rc, -ENOMEM);
    EXPECT_TRUE(memory.blocks.empty()) << "a failed creation kept memory";
    ASSERT_LT(allowed, 3);
  }
}

TEST_P(fib_api_layout, the_hash_key_is_drawn_anew_for_each_table) {
  // Without a key of their own, two tables place the same keys differently: with the same hash key,
  // equal placement is certain; without, equal counts three times over would be a miracle.
  auto secondaries = [&](const std::uint64_t* seed) {
    fib_ptr fib = make_fib(GetParam(), seed, nullptr);
    for (std::uint64_t i = 0; i < stats_of(fib.get()).slots * 9 / 10; i++) {
      coua_fib_record r = record_of(i, 0);
      coua_fib_insert(fib.get(), &r);
    }
    coua_fib_stats s = stats_of(fib.get());
    return std::pair(s.in_secondary, s.moves);
  };
  std::uint64_t seed = 3;
  EXPECT_EQ(secondaries(&seed), secondaries(&seed));
  std::set<std::pair<std::uint64_t, std::uint64_t>> drawn;
  for (int i = 0; i < 4; i++) drawn.insert(secondaries(nullptr));
  EXPECT_GT(drawn.size(), 1u);
}

}  // namespace
}  // namespace coua::test
