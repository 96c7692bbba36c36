// SPDX-License-Identifier: Apache-2.0
//
// Memory ends at each place of a change, one after the other: then nothing has changed, and the
// change can be made when there is memory again. A program of its own: operator new is replaced.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/test_little_memory.h"
#include "setsep/builder.h"
#include "setsep/replica.h"
#include "setsep/test_keys.h"

namespace coua::setsep {
namespace {

struct changed_pair {
  explicit changed_pair(const layout& shape)
      : keys(random_keys(3'000, shape.value_bits)),
        from(std::move(
            *builder::create(keys, {.shape = shape, .keys_room = 40'000}, hash_key{1, 2, 3}))),
        to({.keys_room = 40'000}) {
    std::vector<std::uint8_t> snapshot(from->snapshot_bytes());
    EXPECT_TRUE(from->snapshot(snapshot));
    EXPECT_TRUE(to.load(snapshot));
  }

  void expect_unchanged(const builder_counts& counts, std::size_t n_pending) const {
    ASSERT_EQ(count_wrong(from->table(), keys), 0U);
    for (const keyed_value& each : keys) ASSERT_EQ(from->value_of(each.hash), each.value);
    ASSERT_EQ(from->n_keys(), keys.size());
    ASSERT_EQ(from->pending_bytes(), n_pending);
    ASSERT_EQ(from->counts(), counts);
  }
  template <class Change>
  unsigned change(const Change& change) {
    const builder_counts counts = from->counts();
    const std::size_t n_pending = from->pending_bytes();
    return with_too_little_memory(change, [&] { expect_unchanged(counts, n_pending); });
  }
  /// The replica takes the delta.
  unsigned follow() {
    const auto made = from->take_delta();
    const std::vector<std::uint8_t> delta(made.begin(), made.end());
    const std::vector<std::uint8_t> blocks(to.table()->blocks().begin(),
                                           to.table()->blocks().end());
    const auto entries = to.table()->fallback().entries();
    const unsigned n =
        with_too_little_memory([&] { ASSERT_EQ(to.apply(delta).value(), delta_outcome::applied); },
                               [&] {
                                 ASSERT_TRUE(std::ranges::equal(to.table()->blocks(), blocks));
                                 ASSERT_EQ(to.table()->fallback().entries(), entries);
                               });
    EXPECT_EQ(to.version(), from->version());
    EXPECT_EQ(to.table()->fallback().entries(), from->table().fallback().entries());
    EXPECT_EQ(count_wrong(*to.table(), keys), 0U);
    return n;
  }

  std::vector<keyed_value> keys;
  std::unique_ptr<builder> from;
  replica to;
};

// The second has so few functions that groups fail where blocks are full: their keys are held in
// full.
TEST(setsep_out_of_memory, changes_nothing) {
  for (const layout shape : {layout{2, 2, 1}, layout{2, 1, 1}}) {
    changed_pair both(shape);
    std::mt19937_64 random(7);
    unsigned n_put = 0, n_removed = 0, n_grown = 0, n_followed = 0;
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      keyed_value fresh{{random(), random()}, 1};
      n_put += both.change([&] { ASSERT_EQ(both.from->put(fresh), put_result::added); });
      both.keys.push_back(fresh);
      keyed_value& other = both.keys[random() % both.keys.size()];
      keyed_value changed = other;
      changed.value ^= 1;
      n_put += both.change([&] { ASSERT_EQ(both.from->put(changed), put_result::updated); });
      other = changed;
      const std::size_t gone = random() % both.keys.size();
      n_removed += both.change([&] { ASSERT_TRUE(*both.from->remove(both.keys[gone].hash)); });
      both.keys[gone] = both.keys.back();
      both.keys.pop_back();
      if (i % 20 == 19) n_grown += both.change([&] { ASSERT_TRUE(both.from->grow()); });
      if (i % 4 == 3) n_followed += both.follow();
    }
    EXPECT_GT(n_put, 60U);
    EXPECT_GT(n_removed, 0U);
    EXPECT_GT(n_grown, 20U);
    EXPECT_GT(n_followed, 0U);

    const std::uint64_t n_before = both.from->table().fallback().size();
    for (int i = 0; i < 20 && !HasFatalFailure(); ++i) {
      for (int k = 0; k < 200; ++k) {
        both.keys.push_back({{random(), random()}, 1});
        ASSERT_TRUE(both.from->put(both.keys.back()));
      }
      both.follow();
    }
    if (shape.index_bytes == 1) {
      EXPECT_GT(both.from->table().fallback().size(), n_before + 100);
    }
  }
}

}  // namespace
}  // namespace coua::setsep
