// SPDX-License-Identifier: Apache-2.0
//
// No function of the C API sets errno: each that may call the system is called so that it does, and
// so that it fails.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "coua/classifier.h"
#include "coua/fib.h"
#include "coua/flow_table.h"
#include "coua/setsep.h"

namespace {

constexpr int sentinel = 12345;  // no number of the system's

/// What the call answers, once it is seen to have left errno alone.
template <class Call>
auto keeps_errno(const char* what, const Call& call) {
  struct seen {
    const char* what;
    ~seen() {
      EXPECT_EQ(errno, sentinel) << what;
      errno = 0;
    }
  };
  const seen after{what};
  errno = sentinel;
  return call();
}
#define KEEPS_ERRNO(call) keeps_errno(#call, [&] { return call; })

/// Creates one and destroys it, and answers as the first.
template <class Params, class Handle>
int created(int (*create)(const Params*, Handle**, char*, std::size_t), void (*destroy)(Handle*),
            const Params& params) {
  Handle* made = nullptr;
  char why[200];
  const int code = KEEPS_ERRNO(create(&params, &made, why, sizeof why));
  KEEPS_ERRNO(destroy(made));
  return code;
}

void* no_memory(void*, std::size_t, std::size_t) {
  errno = ENOMEM;
  return nullptr;
}
void no_release(void*, void*, std::size_t) {}

TEST(kept_errno, of_flow_tables) {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.entries = 100'000;
  const auto create = [&] { return created(coua_flow_create, coua_flow_destroy, params); };
  for (const coua_flow_pages pages : {COUA_FLOW_PAGES_AUTO, COUA_FLOW_PAGES_TRANSPARENT,
                                      COUA_FLOW_PAGES_4K, COUA_FLOW_PAGES_2M, COUA_FLOW_PAGES_1G}) {
    params.pages = pages;
    const int code = create();  // huge pages may be there or not
    EXPECT_TRUE(code == 0 || pages == COUA_FLOW_PAGES_2M || pages == COUA_FLOW_PAGES_1G) << pages;
  }
  params.pages = COUA_FLOW_PAGES_AUTO;
  params.numa_node = 0;
  create();  // containers may not bind memory
  params.numa_node = 1000;
  EXPECT_NE(create(), 0);
  params.numa_node = -1;
  params.entries = 0;
  EXPECT_EQ(create(), -EINVAL);
  params.entries = 1000;
  params.allocate = no_memory;
  params.release = no_release;
  EXPECT_EQ(create(), -ENOMEM);
}

TEST(kept_errno, of_readers_cursors_and_slabs_of_flow_tables) {
  coua_flow_params params = COUA_FLOW_PARAMS_INIT;
  params.entries = 100'000;
  coua_flow_table* table = nullptr;
  ASSERT_EQ(coua_flow_create(&params, &table, nullptr, 0), 0);
  coua_flow_reader* reader = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_reader_create(table, &reader)), 0);
  KEEPS_ERRNO(coua_flow_reader_destroy(reader));
  coua_flow_cursor* cursor = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_cursor_open(table, &cursor)), 0);
  KEEPS_ERRNO(coua_flow_cursor_close(cursor));
  coua_flow_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_get_stats(table, &stats)), 0);
  const std::uint64_t key[2] = {1, 2};
  std::uint64_t value = 3;
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_insert(table, key, &value, 0)), COUA_FLOW_ADDED);
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_set_time(table, 1)), 0);
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_erase(table, key, nullptr)), 0);
  KEEPS_ERRNO(coua_flow_destroy(table));
  coua_flow_slab* slab = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_slab_create(1 << 16, 64, &slab)), 0);
  KEEPS_ERRNO(coua_flow_slab_destroy(slab));
  EXPECT_EQ(KEEPS_ERRNO(coua_flow_slab_create(0, 64, &slab)), -EINVAL);
  if (KEEPS_ERRNO(coua_flow_slab_create(1ull << 32 >> 1, 1 << 15, &slab)) == 0) {
    coua_flow_slab_destroy(slab);
  }
}

TEST(kept_errno, of_fibs) {
  coua_fib_params params = COUA_FIB_PARAMS_INIT;
  params.entries = 100'000;
  const auto create = [&] { return created(coua_fib_create, coua_fib_destroy, params); };
  for (const coua_fib_pages pages : {COUA_FIB_PAGES_AUTO, COUA_FIB_PAGES_TRANSPARENT,
                                     COUA_FIB_PAGES_4K, COUA_FIB_PAGES_2M, COUA_FIB_PAGES_1G}) {
    params.pages = pages;
    const int code = create();
    EXPECT_TRUE(code == 0 || pages == COUA_FIB_PAGES_2M || pages == COUA_FIB_PAGES_1G) << pages;
  }
  params.pages = COUA_FIB_PAGES_AUTO;
  params.numa_node = 1000;
  EXPECT_NE(create(), 0);
  params.numa_node = -1;
  params.entries = 0;
  EXPECT_EQ(create(), -EINVAL);
  params.entries = 1000;
  coua_fib* fib = nullptr;
  ASSERT_EQ(coua_fib_create(&params, &fib, nullptr, 0), 0);
  coua_fib_reader* reader = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_fib_reader_create(fib, &reader)), 0);
  KEEPS_ERRNO(coua_fib_reader_destroy(reader));
  // The caller's own function is one of those that may set it.
  const coua_fib_bulk_source none = [](void*, unsigned, coua_fib_record*, std::size_t) {
    errno = EIO;
    return std::size_t{0};
  };
  EXPECT_EQ(KEEPS_ERRNO(coua_fib_bulk_load(fib, none, nullptr, 2, 0)), 0);
  coua_fib_cursor* cursor = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_fib_cursor_open(fib, &cursor)), 0);
  coua_fib_record records[8];
  EXPECT_EQ(KEEPS_ERRNO(coua_fib_cursor_next(cursor, records, 8)), 0);
  KEEPS_ERRNO(coua_fib_cursor_close(cursor));
  KEEPS_ERRNO(coua_fib_destroy(fib));
}

TEST(kept_errno, of_classifiers) {
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  coua_classifier* classifier = nullptr;
  char why[200];
  EXPECT_EQ(KEEPS_ERRNO(coua_classifier_create(&params, &classifier, why, sizeof why)), -EINVAL);
  params.key_bytes = 4;
  params.flows = 1 << 26;
  ASSERT_EQ(KEEPS_ERRNO(coua_classifier_create(&params, &classifier, why, sizeof why)), 0) << why;
  coua_classifier_reader* reader = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_classifier_reader_create(classifier, &reader)), 0);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::uint32_t mask = ~std::uint32_t{0};
    ASSERT_EQ(KEEPS_ERRNO(coua_classifier_add(classifier, &i, &mask, 1, i)), COUA_CLASSIFIER_ADDED);
  }
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::uint32_t mask = ~std::uint32_t{0};
    ASSERT_EQ(KEEPS_ERRNO(coua_classifier_remove(classifier, &i, &mask, 1)), 0);
  }
  KEEPS_ERRNO(coua_classifier_reclaim(classifier));
  KEEPS_ERRNO(coua_classifier_reader_destroy(reader));
  KEEPS_ERRNO(coua_classifier_destroy(classifier));
}

TEST(kept_errno, of_set_separation) {
  std::vector<std::uint64_t> keys(20'000);
  std::vector<std::uint16_t> values(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i, values[i] = i % 2;
  coua_setsep_params params = COUA_SETSEP_PARAMS_INIT;
  coua_setsep_builder* from = nullptr;
  char why[300];
  const auto create = [&] {
    return KEEPS_ERRNO(coua_setsep_builder_create(&params, keys.data(), values.data(), keys.size(),
                                                  &from, why, sizeof why));
  };
  EXPECT_EQ(create(), -EINVAL);
  params.key_bytes = 8;
  params.threads = 2;
  ASSERT_EQ(create(), 0) << why;
  coua_setsep_reader* reader = nullptr;
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_builder_reader(from, &reader)), 0);
  KEEPS_ERRNO(coua_setsep_reader_destroy(reader));
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_put(from, keys.data(), 1)), COUA_SETSEP_UPDATED);
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_remove(from, keys.data())), 0);
  std::vector<std::uint8_t> delta(coua_setsep_delta_bytes(from));
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_take_delta(from, delta.data(), delta.size())),
            static_cast<long>(delta.size()));
  const std::string path = testing::TempDir() + "coua_kept_errno";
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_write_snapshot(from, path.c_str(), why, sizeof why)), 0) << why;
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_write_snapshot(from, "/none/none", why, sizeof why)), -ENOENT);
  coua_setsep_replica_params how = COUA_SETSEP_REPLICA_PARAMS_INIT;
  coua_setsep_replica* to = nullptr;
  ASSERT_EQ(KEEPS_ERRNO(coua_setsep_replica_create(&how, &to)), 0);
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_replica_map(to, "/none/none", why, sizeof why)), -ENOENT);
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_replica_map(to, path.c_str(), why, sizeof why)), 0) << why;
  EXPECT_EQ(KEEPS_ERRNO(coua_setsep_replica_apply(to, delta.data(), delta.size())),
            COUA_SETSEP_OLD);
  KEEPS_ERRNO(coua_setsep_replica_destroy(to));
  KEEPS_ERRNO(coua_setsep_builder_destroy(from));
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

}  // namespace
