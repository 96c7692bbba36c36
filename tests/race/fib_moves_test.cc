// SPDX-License-Identifier: Apache-2.0
//
// Readers in the middle of a move, at every step of it, by design instead of by luck: the table is
// told of its own steps by a policy that looks keys up there. A reader that starts at one step and
// ends at a later one stands for one that was overtaken by the writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fib_handles.h"
#include "table/fib_table.h"

namespace coua::test {
namespace {

struct step_watcher {
  virtual ~step_watcher() = default;
  virtual void on_step(bool first) = 0;
};
step_watcher* watcher = nullptr;

/// move_stamps, with a look at the table before the copy, after it, after the stamps, and at the
/// end.
struct watched_stamps {
  static void step(bool first = false) {
    if (watcher) watcher->on_step(first);
  }
  static void begin_move(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    step(true);
    move_stamps::begin_move(words, from, to);
  }
  static void copied(const sync_words& words, std::uint64_t home) {
    step();
    move_stamps::copied(words, home);
    step();
  }
  static void end_move(const sync_words& words, std::uint64_t from, std::uint64_t to) {
    move_stamps::end_move(words, from, to);
    step();
  }
  static void reuse(const sync_words& words, std::uint64_t bucket) {
    move_stamps::reuse(words, bucket);
  }
};

template <class Layout>
struct watched_table {
  fib_table<Layout, watched_stamps> table;

  static fib_geometry geometry(coua_fib_layout layout) {
    coua_fib_params params = COUA_FIB_PARAMS_INIT;
    params.buckets = 16;
    params.value_bits = 2;
    params.layout = layout;
    return *fib_geometry::plan(params);
  }
  static key_permutation permutation(std::uint64_t seed) {
    std::uint64_t secret[4];
    for (std::uint64_t i = 0; i < 4; i++) secret[i] = mix(seed * 4 + i);
    return key_permutation::create(secret);
  }
  watched_table(coua_fib_layout layout, std::uint64_t seed)
      : table(geometry(layout), *arena::create(geometry(layout).bytes(), {}, 128),
              *arena::create(16 * sizeof(std::uint64_t)), permutation(seed), 2048) {}
};

/// Readers that started at each step of the move in progress.
class overtaken_readers final : public step_watcher {
 public:
  explicit overtaken_readers(const fib& table) : table_(table) { watcher = this; }
  ~overtaken_readers() override { watcher = nullptr; }

  std::vector<std::uint64_t> present;
  std::uint64_t n_steps = 0, n_missed = 0;

  void on_step(bool first) override {
    n_steps++;
    if (first) started_.clear();
    // Who started earlier in this move ends here, in a copy: it may end at a later step as well.
    for (const auto& reader : started_) finish(*reader);
    start();
    simd::fib_reader_state single;
    std::vector<std::uint32_t> entries(present.size());
    table_.kernels().batch(table_.view(), single, present.data(), present.size(), entries.data());
    count_misses(entries);
  }

 private:
  struct reader {
    simd::fib_reader_state state;
    std::vector<std::uint32_t> entries;
  };
  /// One reader per rotation of the keys: of those in flight, only some have been looked up in
  /// their primary bucket and not yet in their secondary, and each key must be among these once.
  void start() {
    constexpr std::size_t step = simd::fib_pipeline::block / 2;
    for (std::size_t at = 0; at < present.size(); at += step) {
      auto r = std::make_unique<reader>();
      r->entries.resize(present.size() + simd::fib_pipeline::capacity);
      std::vector<std::uint64_t> keys = present;
      std::rotate(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(at), keys.end());
      r->entries.resize(table_.kernels().pipeline(table_.view(), r->state, keys.data(), keys.size(),
                                                  r->entries.data()));
      started_.push_back(std::move(r));
    }
  }
  void finish(const reader& r) {
    reader copy = r;
    std::size_t n = copy.entries.size();
    copy.entries.resize(present.size() + simd::fib_pipeline::capacity);
    n += table_.kernels().drain(table_.view(), copy.state, copy.entries.data() + n);
    EXPECT_EQ(n, present.size());
    copy.entries.resize(n);
    count_misses(copy.entries);
  }
  void count_misses(const std::vector<std::uint32_t>& entries) {
    for (std::uint32_t entry : entries) n_missed += entry == COUA_FIB_MISS;
  }

  const fib& table_;
  std::vector<std::unique_ptr<reader>> started_;
};

template <class Layout>
void check_moves(coua_fib_layout layout) {
  std::uint64_t n_steps = 0;
  for (std::uint64_t seed = 0; seed < 8; seed++) {
    watched_table<Layout> watched(layout, seed);
    overtaken_readers readers(watched.table);
    std::uint64_t n = 16 * Layout::n_slots * 97 / 100;
    for (std::uint64_t i = 0; i < n; i++) {
      std::uint64_t key = random_key(i);
      if (watched.table.insert(record_of(key, i & 3)) == COUA_FIB_ADDED)
        readers.present.push_back(key);
      ASSERT_EQ(readers.n_missed, 0u) << "insert " << i << ", seed " << seed;
    }
    n_steps += readers.n_steps;
  }
  EXPECT_GT(n_steps, 100u) << "next to no moves";
}

TEST(fib_moves, hide_no_key_at_any_step_packed8) {
  check_moves<simd::packed8>(COUA_FIB_LAYOUT_PACKED8);
}
TEST(fib_moves, hide_no_key_at_any_step_packed4) {
  check_moves<simd::packed4>(COUA_FIB_LAYOUT_PACKED4);
}
TEST(fib_moves, hide_no_key_at_any_step_wide8) { check_moves<simd::wide8>(COUA_FIB_LAYOUT_WIDE8); }

}  // namespace
}  // namespace coua::test
