// SPDX-License-Identifier: Apache-2.0
//
// Random operation lists on small flow tables, checked against a map, with time; a failing list is
// shrunk. RC_PARAMS="seed=... max_success=1000" repeats or lengthens a run.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "checked_flow.h"

namespace coua::test {
namespace {

struct model_case {
  flow_shape shape;
  std::size_t n_keys;  // of the universe
};

constexpr auto bloom = COUA_FLOW_BLOOM;
constexpr auto optimistic = COUA_FLOW_OPTIMISTIC;
constexpr auto pessimistic = COUA_FLOW_PESSIMISTIC;
constexpr auto horton = COUA_FLOW_HORTON;
constexpr auto single = COUA_FLOW_SINGLE;
constexpr auto one_writer = COUA_FLOW_ONE_WRITER;

// Every combination of policies and every shape of keys and values; tables that overflow and tables
// that only get crowded; bucket counts from one, and smaller buckets.
const model_case cases[] = {
    {{"bloom_single", bloom, single, false, 37, 16, 16}, 310},
    {{"bloom_single_timed", bloom, single, true, 37, 13, 4}, 310},
    {{"bloom_writer", bloom, one_writer, false, 37, 16, 16}, 310},
    {{"bloom_writer_word", bloom, one_writer, false, 37, 16, 8}, 310},
    {{"bloom_single_word", bloom, single, false, 37, 16, 8}, 310},
    {{"bloom_writer_timed", bloom, one_writer, true, 37, 16, 8}, 310},
    {{"bloom_writer_timed_wide", bloom, one_writer, true, 23, 37, 24}, 200},
    {{"bloom_one_bucket", bloom, single, true, 1, 4, 0}, 12},
    {{"bloom_two_buckets", bloom, one_writer, true, 2, 7, 3}, 24},
    {{"bloom_mid", bloom, single, true, 300, 16, 16}, 2400},
    {{"bloom_slots_4", bloom, single, true, 64, 40, 8, 4}, 270},
    {{"bloom_slots_2", bloom, one_writer, true, 64, 8, 8, 2}, 140},
    {{"bloom_slots_1", bloom, single, false, 64, 6, 1, 1}, 70},
    {{"bloom_long", bloom, one_writer, true, 9, 128, 64}, 80},
    {{"bloom_wrapping", bloom, single, true, 37, 16, 8, 8, 65'000 * 10}, 310},
    {{"optimistic_single", optimistic, single, false, 37, 16, 16}, 310},
    {{"optimistic_single_timed", optimistic, single, true, 37, 12, 8}, 310},
    {{"optimistic_writer", optimistic, one_writer, false, 37, 20, 12}, 310},
    {{"optimistic_writer_timed", optimistic, one_writer, true, 37, 16, 16}, 310},
    {{"pessimistic_single", pessimistic, single, false, 37, 16, 16}, 310},
    {{"pessimistic_single_timed", pessimistic, single, true, 37, 37, 8}, 310},
    {{"pessimistic_writer", pessimistic, one_writer, false, 37, 13, 64}, 310},
    {{"pessimistic_writer_timed", pessimistic, one_writer, true, 37, 16, 16}, 310},
    {{"horton_single", horton, single, false, 37, 16, 16}, 310},
    {{"horton_single_timed", horton, single, true, 37, 13, 8}, 310},
    {{"horton_writer", horton, one_writer, false, 37, 16, 16}, 310},
    {{"horton_writer_timed", horton, one_writer, true, 150, 16, 16}, 1250},
    {{"horton_one_bucket", horton, single, true, 1, 16, 8}, 12},
    {{"horton_few_buckets", horton, one_writer, true, 5, 16, 16}, 45},
    {{"bloom_ring", bloom, single, true, 37, 16, 8, 8, 65'000 * 10, 16}, 310},
    {{"bloom_writer_ring", bloom, one_writer, true, 37, 13, 16, 8, 7, 64}, 310},
    {{"horton_ring", horton, single, true, 5, 16, 16, 8, 7, 1}, 45},
};

void PrintTo(const model_case& c, std::ostream* out) { *out << c.shape.name; }

rc::Gen<flow_op> arbitrary_op() {
  using k = flow_op_kind;
  auto kind = rc::gen::weightedElement<flow_op_kind>({
      {8, k::insert},        {12, k::insert_batch},  {3, k::add},
      {3, k::add_batch},     {4, k::find_or_add},    {3, k::find_or_add_batch},
      {6, k::erase},         {5, k::erase_batch},    {3, k::refresh},
      {1, k::invalid},       {4, k::lookup},         {4, k::lookup_batch},
      {2, k::lookup_hashed}, {4, k::lookup_ahead},   {4, k::lookup_refresh},
      {8, k::pipeline},      {2, k::pipeline_drain}, {8, k::tick},
      {2, k::jump},          {4, k::sweep},          {4, k::drain},
      {3, k::cursor_open},   {8, k::cursor_next},    {1, k::cursor_close},
  });
  auto count = rc::gen::weightedOneOf<std::uint16_t>({
      {3, rc::gen::inRange<std::uint16_t>(0, 9)},
      {3, rc::gen::inRange<std::uint16_t>(28, 70)},
      {1, rc::gen::inRange<std::uint16_t>(70, 300)},
  });
  return rc::gen::build<flow_op>(
      rc::gen::set(&flow_op::kind, kind), rc::gen::set(&flow_op::key),
      rc::gen::set(&flow_op::count, count),
      rc::gen::set(&flow_op::arg, rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>())));
}

bool fill(checked_flow& flow, unsigned percent) {
  const auto n = static_cast<std::uint16_t>(percent * flow.slots() / 100);
  return flow.apply({flow_op_kind::insert_batch, 0, n, 7});
}

class flow_model : public testing::TestWithParam<model_case> {};

TEST_P(flow_model, any_operation_list_behaves_as_a_map) {
  const model_case& c = GetParam();
  EXPECT_TRUE(rc::check(c.shape.name, [&](std::uint64_t seed) {
    auto ops = *rc::gen::scale(4.0, rc::gen::container<std::vector<flow_op>>(arbitrary_op()));
    checked_flow flow(c.shape, seed, c.n_keys);
    if (!fill(flow, *rc::gen::element(0u, 50u, 95u, 120u))) RC_FAIL(flow.failure());
    for (const flow_op& op : ops) {
      if (!flow.apply(op)) RC_FAIL(flow.failure());
    }
    if (!flow.finish()) RC_FAIL(flow.failure());
  }));
}

TEST_P(flow_model, half_of_the_lists_meet_a_full_table) {
  // Where no table is full, neither moves nor refusals are tested.
  const model_case& c = GetParam();
  for (const unsigned percent : {95u, 120u}) {
    checked_flow flow(c.shape, 1, c.n_keys);
    ASSERT_TRUE(fill(flow, percent)) << flow.failure();
    EXPECT_GT(flow.load(), c.shape.bucket_slots == 1 ? 0.7 : 0.85) << percent << " %";
  }
}

INSTANTIATE_TEST_SUITE_P(kinds, flow_model, testing::ValuesIn(cases),
                         [](const auto& c) { return c.param.shape.name; });

}  // namespace
}  // namespace coua::test
