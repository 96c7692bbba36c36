// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic beyond 2^32 slots, on tables far larger than the machine's memory: the caller's
// allocator hands out address space of which only what is touched takes memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fib_handles.h"
#include "table/fib_cursor.h"

namespace coua::test {
namespace {

struct sparse_memory {
  char* largest = nullptr;
  std::size_t bytes = 0;

  static void* take(void* context, std::size_t bytes, std::size_t) {
    auto* self = static_cast<sparse_memory*>(context);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    madvise(memory, bytes, MADV_NOHUGEPAGE);  // a huge page per touched bucket would be the end
    if (bytes > self->bytes) {
      self->largest = static_cast<char*>(memory);
      self->bytes = bytes;
    }
    return memory;
  }
  static void give(void*, void* memory, std::size_t bytes) { munmap(memory, bytes); }

  /// Pages in memory between two shares of the largest block.
  std::size_t resident(double from, double to) const {
    std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), n = 0;
    std::size_t begin = static_cast<std::size_t>(double(bytes) * from) / page;
    std::size_t end = static_cast<std::size_t>(double(bytes) * to) / page;
    std::vector<unsigned char> in(1 << 20);
    for (std::size_t at = begin; at < end; at += in.size()) {
      std::size_t count = std::min(in.size(), end - at);
      if (mincore(largest + at * page, count * page, in.data()) != 0) return 0;
      for (std::size_t i = 0; i < count; i++) n += in[i] & 1;
    }
    return n;
  }
};

/// Every thread delivers all keys in each round, with the round as value.
struct rounds {
  static constexpr unsigned n_threads = 4;
  static constexpr std::uint64_t n_keys = 20'000;
  std::uint32_t n;
  std::array<std::uint64_t, n_threads> at{};

  static std::size_t next(void* context, unsigned thread, coua_fib_record* records,
                          std::size_t max) {
    auto* self = static_cast<rounds*>(context);
    std::size_t count = 0;
    for (std::uint64_t& i = self->at[thread]; count < max && i < n_keys * self->n; i++)
      records[count++] = record_of(random_key(i % n_keys), static_cast<std::uint32_t>(i / n_keys));
    return count;
  }
};

/// Room in the address space for the table alone.
coua_fib_params params_of(const table_shape& shape, sparse_memory& memory) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.buckets = shape.buckets;
  params.layout = shape.layout;
  params.value_bits = shape.value_bits;
  params.allocate = sparse_memory::take;
  params.release = sparse_memory::give;
  params.context = &memory;
  return params;
}

class fib_sparse : public testing::TestWithParam<table_shape> {};

INSTANTIATE_TEST_SUITE_P(
    layouts, fib_sparse,
    testing::Values(table_shape{"packed8", COUA_FIB_LAYOUT_PACKED8, (1ull << 29) + 12345, 16},
                    table_shape{"packed4", COUA_FIB_LAYOUT_PACKED4, (1ull << 31) + 12345, 24},
                    table_shape{"wide8", COUA_FIB_LAYOUT_WIDE8, (1ull << 29) + 12345, 24}),
    [](const auto& shape) { return shape.param.name; });

TEST_P(fib_sparse, indices_beyond_2_32_slots_do_not_overflow) {
  sparse_memory memory;
  const coua_fib_params params = params_of(GetParam(), memory);
  char message[200] = "";
  coua_fib* made = nullptr;
  int rc = coua_fib_create(&params, &made, message, sizeof message);
  if (rc == -ENOMEM) GTEST_SKIP() << "no address space: " << message;
  ASSERT_EQ(rc, 0) << message;
  fib_ptr fib(made);
  reader_ptr reader = make_reader(fib.get());
  coua_fib_stats stats = stats_of(fib.get());
  EXPECT_EQ(stats.buckets, params.buckets);
  EXPECT_GT(stats.slots, 1ull << 32);
  EXPECT_GT(stats.bytes, 1ull << 35);
  ASSERT_LT(memory.resident(0, 1), 1000u) << "the table touches the caller's memory at creation";

  constexpr std::uint64_t n = 50'000;
  std::vector<std::uint64_t> keys(n);
  for (std::uint64_t i = 0; i < n; i++) keys[i] = random_key(i);
  for (std::uint64_t i = 0; i < n; i++) {
    coua_fib_record r = record_of(keys[i], i & 0xffff);
    ASSERT_EQ(coua_fib_insert(fib.get(), &r), COUA_FIB_ADDED);
  }
  // Cut off anywhere below its top bit, a bucket's offset would leave the upper parts untouched.
  double all = double(memory.resident(0, 1));
  EXPECT_GE(all, double(n) * 0.95);
  for (int part = 0; part < 4; part++) {
    double share = double(memory.resident(part / 4.0, (part + 1) / 4.0)) / all;
    EXPECT_GT(share, 0.24) << "quarter " << part;
    EXPECT_LT(share, 0.26) << "quarter " << part;
  }
  std::vector<std::uint32_t> entries(n);
  EXPECT_EQ(coua_fib_lookup_batch(reader.get(), keys.data(), n, entries.data()), n);
  for (std::uint64_t i = 0; i < n; i++) ASSERT_EQ(value_of(entries[i]), (i & 0xffff));
  std::size_t out = coua_fib_pipeline(reader.get(), keys.data(), n, entries.data());
  EXPECT_EQ(out + coua_fib_pipeline_drain(reader.get(), entries.data() + out), n);
  for (std::uint64_t i = 0; i < n; i++) ASSERT_EQ(value_of(entries[i]), (i & 0xffff));
  for (std::uint64_t i = 0; i < 1000; i++)
    ASSERT_EQ(coua_fib_lookup(reader.get(), random_key(n + i)), COUA_FIB_MISS);
  EXPECT_EQ(coua_fib_erase_batch(fib.get(), keys.data(), n / 2), n / 2);
  EXPECT_EQ(coua_fib_lookup_batch(reader.get(), keys.data(), n, entries.data()), n - n / 2);
  EXPECT_EQ(coua_fib_sweep(fib.get(), 1000, nullptr, nullptr), 0);
  EXPECT_EQ(stats_of(fib.get()).entries, n - n / 2);

  // Of those that were erased.
  rounds source{1};
  ASSERT_EQ(coua_fib_bulk_load(fib.get(), rounds::next, &source, rounds::n_threads, 0), 0);
  EXPECT_EQ(stats_of(fib.get()).entries, n - n / 2 + rounds::n_keys);
  EXPECT_EQ(coua_fib_lookup_batch(reader.get(), keys.data(), n, entries.data()),
            n - n / 2 + rounds::n_keys);
  for (std::uint64_t i = 0; i < rounds::n_keys; i++) ASSERT_EQ(value_of(entries[i]), 0u);
}

/// Keys for single buckets of a table, which nobody knows without its hash key.
class bucket_keys {
 public:
  explicit bucket_keys(const fib& table) : table_(table) {}

  std::uint64_t primary(std::uint64_t key) const { return bucket(permutation().p(key)); }
  std::uint64_t secondary(std::uint64_t key) const {
    return bucket(permutation().q_of_p(permutation().p(key)));
  }
  /// The i-th key whose primary bucket this is.
  std::uint64_t key(std::uint64_t of, std::uint64_t i) const {
    const auto place = (static_cast<unsigned __int128>(of) << key_permutation::key_bits) /
                       table_.geometry().n_buckets;
    return permutation().key_of_p((static_cast<std::uint64_t>(place) + 1 + 999 * i) << 4);
  }

 private:
  const key_permutation& permutation() const { return table_.view().permutation; }
  std::uint64_t bucket(std::uint64_t permuted) const { return table_.view().bucket(permuted); }

  const fib& table_;
};

// Full buckets at the far end: entries must move, and their keys come back out of the slots.
TEST_P(fib_sparse, keys_move_and_are_read_back_beyond_2_32_slots) {
  sparse_memory memory;
  auto made = fib::create(params_of(GetParam(), memory));
  if (!made) GTEST_SKIP() << "no address space: " << made.error().message();
  fib& table = **made;
  const bucket_keys craft(table);
  const unsigned n_slots = table.geometry().n_slots();
  for (std::uint64_t back = 1; back <= 1000; back += 37) {
    const std::uint64_t last = table.geometry().n_buckets - back;
    ASSERT_GT(last * n_slots, std::uint64_t{1} << 32);
    std::unordered_map<std::uint64_t, std::uint32_t> values;
    const auto insert = [&](std::uint64_t key) {
      const std::uint32_t value = static_cast<std::uint32_t>(mix(key)) & 0xffff;
      ASSERT_EQ(table.insert(record_of(key, value)), COUA_FIB_ADDED);
      values[key] = value;
    };
    const std::uint64_t key = craft.key(last, n_slots), second = craft.secondary(key);
    for (unsigned i = 0; i < n_slots; i++) {
      ASSERT_EQ(craft.primary(craft.key(last, i)), last);
      insert(craft.key(last, i));
      insert(craft.key(second, i));
    }
    coua_fib_stats before{}, after{};
    table.get_stats(before);
    insert(key);
    table.get_stats(after);
    EXPECT_GT(after.moves, before.moves);
    // Wherever an entry went: a cursor reads it there, and once.
    std::unordered_map<std::uint64_t, std::uint32_t> found;
    std::unordered_set<std::uint64_t> buckets;
    for (const auto& [each, value] : values) {
      coua_fib_record record{};
      ASSERT_TRUE(table.find(each, record));
      EXPECT_EQ(record.value, value);
      buckets.insert({craft.primary(each), craft.secondary(each)});
    }
    for (const std::uint64_t bucket : buckets) {
      fib_cursor cursor(table, std::move(*moved_keys::create(1)), bucket);
      std::array<coua_fib_record, 8> records;
      const std::size_t n = cursor.next(records, 1);
      for (std::size_t i = 0; i < n; i++)
        EXPECT_TRUE(found.emplace(records[i].key, records[i].value).second);
    }
    EXPECT_EQ(found, values) << "bucket " << last;
  }
}

/// 2 GiB: loads sort keys by region.
fib_ptr make_sorting(sparse_memory& memory) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.buckets = (1ull << 25) + 12345;
  params.allocate = sparse_memory::take;
  params.release = sparse_memory::give;
  params.context = &memory;
  coua_fib* made = nullptr;
  EXPECT_EQ(coua_fib_create(&params, &made, nullptr, 0), 0);
  return fib_ptr(made);
}

// More keys than a thread keeps.
TEST(fib_sparse_load, the_last_record_of_a_key_counts) {
  sparse_memory memory;
  fib_ptr fib = make_sorting(memory);
  ASSERT_NE(fib, nullptr);
  rounds source{40};
  ASSERT_EQ(coua_fib_bulk_load(fib.get(), rounds::next, &source, rounds::n_threads, 0), 0);
  EXPECT_EQ(stats_of(fib.get()).entries, rounds::n_keys);
  reader_ptr reader = make_reader(fib.get());
  for (std::uint64_t i = 0; i < rounds::n_keys; i++) {
    std::uint32_t entry = coua_fib_lookup(reader.get(), random_key(i));
    ASSERT_NE(entry, COUA_FIB_MISS);
    ASSERT_EQ(value_of(entry), source.n - 1) << "records of a key came out of order";
  }
}

TEST(fib_sparse_load, every_distinct_key_is_put) {
  sparse_memory memory;
  fib_ptr fib = make_sorting(memory);
  ASSERT_NE(fib, nullptr);
  rounds source{1};
  ASSERT_EQ(coua_fib_bulk_load(fib.get(), rounds::next, &source, 1, 1), 0);
  EXPECT_EQ(stats_of(fib.get()).entries, rounds::n_keys);
  reader_ptr reader = make_reader(fib.get());
  for (std::uint64_t i = 0; i < rounds::n_keys; i++)
    ASSERT_NE(coua_fib_lookup(reader.get(), random_key(i)), COUA_FIB_MISS);
}

}  // namespace
}  // namespace coua::test
