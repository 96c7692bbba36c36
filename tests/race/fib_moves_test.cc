// SPDX-License-Identifier: Apache-2.0
//
// Readers in the middle of a move, at every step of it, by design instead of by luck: the table is
// told of its own steps by a policy that looks keys up there. A reader that starts at one step and
// ends at a later one stands for one that was overtaken by the writer.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
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
    std::size_t n_keys;
    std::vector<std::uint32_t> entries;
  };
  /// One reader per rotation of the keys: of those in flight, only some have been looked up in
  /// their primary bucket and not yet in their secondary, and each key must be among these once.
  void start() {
    constexpr std::size_t block = simd::fib_pipeline::block;
    for (std::size_t at = 0; at < present.size(); at += block / 2) {
      auto r = std::make_unique<reader>();
      // As many as it takes until a block has been looked up in primary buckets.
      r->n_keys = std::max(present.size(), 2 * block);
      std::vector<std::uint64_t> keys(r->n_keys);
      for (std::size_t i = 0; i < keys.size(); i++) keys[i] = present[(at + i) % present.size()];
      r->entries.resize(r->n_keys);
      r->entries.resize(table_.kernels().pipeline(table_.view(), r->state, keys.data(), keys.size(),
                                                  r->entries.data()));
      started_.push_back(std::move(r));
    }
  }
  void finish(const reader& r) {
    reader copy = r;
    std::size_t n = copy.entries.size();
    copy.entries.resize(n + simd::fib_pipeline::capacity);
    n += table_.kernels().drain(table_.view(), copy.state, copy.entries.data() + n);
    EXPECT_EQ(n, r.n_keys);
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

/// Keys from `at` on, up to `end`.
struct key_source {
  std::uint64_t at, end;
  static std::size_t next(void* context, unsigned, coua_fib_record* records, std::size_t max) {
    auto* self = static_cast<key_source*>(context);
    std::size_t n = 0;
    for (; n < max && self->at < self->end; self->at++)
      records[n++] = record_of(random_key(self->at), self->at & 3);
    return n;
  }
};

/// Refreshes all keys at one step of each move.
class refreshing_reader final : public step_watcher {
 public:
  refreshing_reader(const fib& table, unsigned when) : table_(table), when_(when) {
    watcher = this;
  }
  ~refreshing_reader() override { watcher = nullptr; }

  std::vector<std::uint64_t> present;
  std::uint64_t n_moves = 0;
  bool is_idle = false;

  void on_step(bool first) override {
    step_ = first ? 0 : step_ + 1;
    if (is_idle || step_ != when_) return;
    n_moves++;
    simd::fib_reader_state state;
    std::vector<std::uint32_t> entries(present.size());
    table_.kernels().refresh(table_.view(), state, present.data(), present.size(), entries.data());
  }

 private:
  const fib& table_;
  unsigned when_, step_ = 0;
};

template <class Layout>
class refreshed_table {
 public:
  refreshed_table(coua_fib_layout layout, std::uint64_t seed, unsigned when)
      : watched_(layout, seed), reader_(watched_.table, when) {}

  /// Returns how many moves it saw.
  std::uint64_t insert_up_to(std::uint64_t percent) {
    const std::uint64_t before = reader_.n_moves;
    for (; next_ < 16 * Layout::n_slots * percent / 100; next_++) {
      const std::uint64_t seen = reader_.n_moves, key = random_key(next_);
      if (watched_.table.insert(record_of(key, next_ & 3)) != COUA_FIB_ADDED) continue;
      if (reader_.n_moves != seen) {
        expect_fresh();
        grow_old();
      }
      reader_.present.push_back(key);
    }
    return reader_.n_moves - before;
  }
  std::uint64_t load_up_to(std::uint64_t percent) {
    grow_old();
    const std::uint64_t before = reader_.n_moves;
    key_source source{next_, 16 * Layout::n_slots * percent / 100};
    watched_.table.bulk_load(key_source::next, &source, 1, true);
    if (reader_.n_moves != before) expect_fresh();
    return reader_.n_moves - before;
  }

 private:
  void expect_fresh() const {
    for (const std::uint64_t key : reader_.present) {
      coua_fib_record record;
      ASSERT_TRUE(watched_.table.find(key, record));
      ASSERT_EQ(record.age, 0) << "key " << key << " of " << reader_.present.size();
    }
  }
  void grow_old() {
    reader_.is_idle = true;
    EXPECT_TRUE(watched_.table.sweep(16, nullptr, nullptr));
    EXPECT_TRUE(watched_.table.next_epoch());
    reader_.is_idle = false;
  }

  watched_table<Layout> watched_;
  refreshing_reader reader_;
  std::uint64_t next_ = 0;
};

// Red when a move carries the age that the entry had when the move began.
template <class Layout>
void check_refreshes(coua_fib_layout layout) {
  for (const unsigned when : {0u, 1u, 2u}) {
    std::uint64_t n_moves = 0, n_bulk_moves = 0;
    for (std::uint64_t seed = 0; seed < 32 && !testing::Test::HasFailure(); seed++) {
      refreshed_table<Layout> table(layout, seed, when);
      n_moves += table.insert_up_to(90);
      n_bulk_moves += table.load_up_to(97);
    }
    EXPECT_GT(n_moves, 100u) << "next to no moves";
    EXPECT_GT(n_bulk_moves, 100u) << "next to no moves";
  }
}

TEST(fib_moves, lose_no_refresh_at_any_step_packed8) {
  check_refreshes<simd::packed8>(COUA_FIB_LAYOUT_PACKED8);
}
TEST(fib_moves, lose_no_refresh_at_any_step_packed4) {
  check_refreshes<simd::packed4>(COUA_FIB_LAYOUT_PACKED4);
}
TEST(fib_moves, lose_no_refresh_at_any_step_wide8) {
  check_refreshes<simd::wide8>(COUA_FIB_LAYOUT_WIDE8);
}

template <class Layout>
void check_bulk_moves(coua_fib_layout layout, bool distinct) {
  std::uint64_t n_steps = 0;
  for (std::uint64_t seed = 0; seed < 16; seed++) {
    watched_table<Layout> watched(layout, seed);
    overtaken_readers readers(watched.table);
    std::uint64_t n = 16 * Layout::n_slots * 80 / 100;
    for (std::uint64_t i = 0; i < n; i++)
      if (watched.table.insert(record_of(random_key(i), i & 3)) == COUA_FIB_ADDED)
        readers.present.push_back(random_key(i));
    std::uint64_t before = readers.n_steps;
    key_source source{n, 16 * Layout::n_slots * 97 / 100};
    watched.table.bulk_load(key_source::next, &source, 1, distinct);
    ASSERT_EQ(readers.n_missed, 0u) << "seed " << seed;
    n_steps += readers.n_steps - before;
  }
  EXPECT_GT(n_steps, 100u) << "next to no moves";
}

TEST(fib_moves, of_a_bulk_load_hide_no_key_at_any_step_packed8) {
  check_bulk_moves<simd::packed8>(COUA_FIB_LAYOUT_PACKED8, true);
  check_bulk_moves<simd::packed8>(COUA_FIB_LAYOUT_PACKED8, false);
}
TEST(fib_moves, of_a_bulk_load_hide_no_key_at_any_step_packed4) {
  check_bulk_moves<simd::packed4>(COUA_FIB_LAYOUT_PACKED4, true);
  check_bulk_moves<simd::packed4>(COUA_FIB_LAYOUT_PACKED4, false);
}

/// Between search and moves of a bulk load, other threads may have changed any of what was seen.
/// Here the writer does, by design: whatever it erases and adds, the path is carried out as far as
/// it holds, and no other entry comes to harm.
template <class Layout>
class changed_paths {
 public:
  changed_paths(coua_fib_layout layout, std::uint64_t seed)
      : watched_(layout, seed), random_(seed) {}

  void run() {
    while (keys_.size() < n_slots * 90 / 100) insert();
    for (int i = 0; i < 300 && !testing::Test::HasFailure(); i++) {
      add_by_changed_path();
      check();
      while (keys_.size() > n_slots * 95 / 100) erase();
    }
  }
  unsigned n_added = 0, n_refused = 0;

 private:
  static constexpr std::uint64_t n_slots = 16 * Layout::n_slots;

  std::uint32_t value_of_key(std::uint64_t key) const { return key & 3; }
  void insert() {
    std::uint64_t key = random_key(next_++);
    if (watched_.table.insert(record_of(key, value_of_key(key))) == COUA_FIB_ADDED)
      keys_.push_back(key);
  }
  void erase() {
    std::swap(keys_[random_() % keys_.size()], keys_.back());
    EXPECT_TRUE(watched_.table.erase(keys_.back()));
    keys_.pop_back();
  }
  void add_by_changed_path() {
    std::uint64_t key = random_key(next_++), p = watched_.table.view().permutation.p(key);
    room_path room;
    if (!watched_.table.find_room_for(p, search_, room)) return;
    for (std::uint64_t n = random_() % 12; n > 0; n--) random_() % 2 != 0 ? insert() : erase();
    std::uint32_t entry = value_of_key(key) << simd::fib_value_shift;
    bool added = watched_.table.add_at(room, p, entry, counts_);
    if (added) keys_.push_back(key);
    ++(added ? n_added : n_refused);
  }
  /// Every key with its value, and no slot that belongs to none.
  void check() {
    for (std::uint64_t key : keys_) {
      coua_fib_record record;
      EXPECT_TRUE(watched_.table.find(key, record) && record.value == value_of_key(key)) << key;
    }
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < n_slots; i++) n += watched_.table.view().words[i] != 0;
    EXPECT_EQ(n, keys_.size());
  }

  watched_table<Layout> watched_;
  std::mt19937_64 random_;
  path_search search_{2048};
  fib_counts counts_;
  std::vector<std::uint64_t> keys_;
  std::uint64_t next_ = 0;
};

template <class Layout>
void check_changed_paths(coua_fib_layout layout) {
  unsigned n_added = 0, n_refused = 0;
  for (std::uint64_t seed = 0; seed < 20; seed++) {
    changed_paths<Layout> paths(layout, seed);
    paths.run();
    n_added += paths.n_added;
    n_refused += paths.n_refused;
  }
  EXPECT_GT(n_added, 100u);
  EXPECT_GT(n_refused, 100u);
}

TEST(fib_moves, of_a_changed_path_are_made_only_where_it_holds) {
  check_changed_paths<simd::packed8>(COUA_FIB_LAYOUT_PACKED8);
  check_changed_paths<simd::packed4>(COUA_FIB_LAYOUT_PACKED4);
}

}  // namespace
}  // namespace coua::test
