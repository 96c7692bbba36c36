// SPDX-License-Identifier: Apache-2.0
//
// Random operation lists on small tables, checked against a map; a failing list is shrunk.
// RC_PARAMS="seed=... max_success=1000" repeats or lengthens a run.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "checked_fib.h"

namespace coua::test {
namespace {

struct model_case {
  table_shape shape;
  std::size_t n_keys;  // of the universe
};

// Tables that overflow (more keys than slots) and tables that only get crowded; each layout with
// the fewest buckets that it can have, and with bucket counts that are no power of two.
const model_case cases[] = {
    {{"packed8_min", COUA_FIB_LAYOUT_PACKED8, 8, 1}, 90},
    {{"packed8_odd", COUA_FIB_LAYOUT_PACKED8, 37, 3}, 310},
    {{"packed8_mid", COUA_FIB_LAYOUT_PACKED8, 300, 6}, 2300},
    {{"packed4_min", COUA_FIB_LAYOUT_PACKED4, 8, 1}, 48},
    {{"packed4_odd", COUA_FIB_LAYOUT_PACKED4, 67, 4}, 280},
    {{"packed4_mid", COUA_FIB_LAYOUT_PACKED4, 515, 7}, 2000},
    {{"wide8_one", COUA_FIB_LAYOUT_WIDE8, 1, 24}, 20},
    {{"wide8_two", COUA_FIB_LAYOUT_WIDE8, 2, 16}, 24},
    {{"wide8_odd", COUA_FIB_LAYOUT_WIDE8, 9, 24}, 90},
    {{"wide8_mid", COUA_FIB_LAYOUT_WIDE8, 300, 16}, 2300},
};

void PrintTo(const model_case& c, std::ostream* out) { *out << c.shape.name; }

rc::Gen<fib_op> arbitrary_op() {
  using k = op_kind;
  auto kind = rc::gen::weightedElement<op_kind>({
      {6, k::lookup},         {8, k::insert},
      {14, k::insert_batch},  {1, k::insert_invalid},
      {6, k::erase},          {6, k::erase_batch},
      {3, k::refresh},        {4, k::lookup_batch},
      {4, k::lookup_ahead},   {3, k::lookup_ahead_wrong},
      {5, k::lookup_refresh}, {8, k::pipeline},
      {2, k::pipeline_drain}, {6, k::sweep},
      {5, k::next_epoch},     {4, k::age_all},
      {4, k::cursor_open},    {10, k::cursor_next},
      {1, k::cursor_close},   {3, k::bulk_load},
  });
  return rc::gen::build<fib_op>(
      rc::gen::set(&fib_op::kind, kind), rc::gen::set(&fib_op::key), rc::gen::set(&fib_op::count),
      rc::gen::set(&fib_op::arg, rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>())));
}

/// Offers records for `percent` of the slots.
bool prefill(checked_fib& fib, unsigned percent) {
  std::size_t left = fib.slots() * percent / 100;
  while (left > 0) {
    std::uint16_t count = left >= 100 ? 100 : left >= 10 ? 10 : 1;
    fib_op op{op_kind::insert_batch, static_cast<std::uint16_t>(fib.slots() * percent / 100 - left),
              count, 0};
    if (!fib.apply(op)) return false;
    left -= batch_size(count);
  }
  return true;
}

class fib_model : public testing::TestWithParam<model_case> {};

TEST_P(fib_model, any_operation_list_behaves_as_a_map) {
  const model_case& c = GetParam();
  EXPECT_TRUE(rc::check(c.shape.name, [&](std::uint64_t seed) {
    // With the kernels for tables in the second-level cache, or with those for tables beyond it.
    setenv("COUA_L2_BYTES", *rc::gen::arbitrary<bool>() ? "0" : "1048576", 1);
    auto ops = *rc::gen::scale(4.0, rc::gen::container<std::vector<fib_op>>(arbitrary_op()));
    checked_fib fib(c.shape, seed, c.n_keys);
    if (!prefill(fib, *rc::gen::element(0u, 50u, 95u, 120u))) RC_FAIL(fib.failure());
    for (const fib_op& op : ops) {
      if (!fib.apply(op)) RC_FAIL(fib.failure());
    }
    if (!fib.finish()) RC_FAIL(fib.failure());
  }));
}

TEST_P(fib_model, half_of_the_lists_meet_a_full_table) {
  // Where no table is full, neither moves nor refusals are tested.
  const model_case& c = GetParam();
  for (const unsigned percent : {95u, 120u}) {
    checked_fib fib(c.shape, 1, c.n_keys);
    ASSERT_TRUE(prefill(fib, percent)) << fib.failure();
    EXPECT_GT(fib.load(), 0.85) << percent << " %";
  }
}

TEST_P(fib_model, entries_moved_behind_the_sweep_expire_all_the_same) {
  // A full table whose entries all expire in this epoch; between steps of the sweep, new entries
  // push old ones into buckets that it has left behind.
  const model_case& c = GetParam();
  for (std::uint64_t seed = 0; seed < 2 + 2000 / c.n_keys; seed++) {
    checked_fib fib(c.shape, seed, c.n_keys);
    ASSERT_TRUE(prefill(fib, 94)) << fib.failure();
    for (int i = 0; i < 6; i++) {
      ASSERT_TRUE(fib.apply({op_kind::sweep, 0, 0, 0})) << fib.failure();
      ASSERT_TRUE(fib.apply({op_kind::next_epoch, 0, 0, 0})) << fib.failure();
    }
    for (std::uint16_t key = 0; key < c.n_keys; key++) {
      // The far end of the universe holds the keys that the table does not have yet.
      std::uint16_t fresh = static_cast<std::uint16_t>(c.n_keys - 1 - key % (c.n_keys / 5));
      ASSERT_TRUE(fib.apply({op_kind::insert, fresh, 0, 2})) << fib.failure();
      if (key % 4 != 0) continue;
      ASSERT_TRUE(fib.apply({op_kind::sweep, 0, 1, 1})) << fib.failure();
    }
    ASSERT_TRUE(fib.apply({op_kind::sweep, 0, 0, 0})) << fib.failure();
    ASSERT_TRUE(fib.finish()) << fib.failure();
  }
}

INSTANTIATE_TEST_SUITE_P(layouts, fib_model, testing::ValuesIn(cases),
                         [](const auto& c) { return c.param.shape.name; });

}  // namespace
}  // namespace coua::test
