// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/shared_records.h"

#include <gtest/gtest.h>

namespace coua::pipeline {
namespace {

using effect = shared_records::effect;

const action_shape to_port{false, false, false, {{op_code::output}}};
const action_shape apart{true, false, false, {{op_code::output}}};

action_record record_to(std::uint32_t port) {
  action_record made{};
  made.shape = &to_port;
  made.traits = {no_table, false, 100};
  made.own[0] = op();
  made.own[0].number = port;
  return made;
}

TEST(shared_records, are_worth_it_for_a_second_rule) {
  shared_records all;
  const effect one(record_to(1));
  EXPECT_EQ(all.join(one), 0U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(all.is_worth_it(one, 5));
  EXPECT_TRUE(all.is_worth_it(one, 6));
  all.add(one, 7);
  EXPECT_EQ(all.join(one), 7U);
  EXPECT_EQ(all.join(effect(record_to(2))), 0U);
}

TEST(shared_records, are_there_as_long_as_a_rule_has_them) {
  shared_records all;
  const effect one(record_to(1));
  all.add(one, 7);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all.join(one), 7U);
  EXPECT_FALSE(all.leave(one, 1));
  EXPECT_FALSE(all.leave(one, 2));
  EXPECT_EQ(all.size(), 1U);
  EXPECT_TRUE(all.leave(one, 1));
  EXPECT_EQ(all.size(), 0U);
  EXPECT_EQ(all.join(one), 0U);
}

TEST(shared_records, differ_by_all_that_happens_to_a_packet) {
  const action_record of = record_to(1);
  EXPECT_EQ(effect(of), effect(of));
  const auto differs = [&](auto change) {
    action_record other = of;
    change(other);
    return effect(of) != effect(other);
  };
  EXPECT_TRUE(differs([](action_record& r) { r.own[0].number = 2; }));
  EXPECT_TRUE(differs([](action_record& r) { r.own[0].value = 2; }));
  EXPECT_TRUE(differs([](action_record& r) { r.own[0].small = 2; }));
  EXPECT_TRUE(differs([](action_record& r) { r.own[0].which = 2; }));
  EXPECT_TRUE(differs([](action_record& r) { r.own[0].code = op_code::flood; }));
  EXPECT_TRUE(differs([](action_record& r) { r.traits.next_table = 1; }));
  EXPECT_TRUE(differs([](action_record& r) { r.traits.priority = 1; }));
  EXPECT_TRUE(differs([](action_record& r) { r.traits.is_metered = true; }));
  static const action_shape other_shape{false, true, false, {{op_code::output}}};
  EXPECT_TRUE(differs([](action_record& r) { r.shape = &other_shape; }));
  // Not by which rule it is, nor by what was behind its ops before.
  EXPECT_FALSE(differs([](action_record& r) { r.rule = 9; }));
  EXPECT_FALSE(differs([](action_record& r) { r.counters = 9; }));
  EXPECT_FALSE(differs([](action_record& r) { r.from = 9; }));
  EXPECT_FALSE(differs([](action_record& r) { r.previous = 9; }));
  EXPECT_FALSE(differs([](action_record& r) { r.own[1].value = 9; }));
}

TEST(shared_records, differ_by_the_list_of_ops) {
  const op lists[2]{};
  action_record one = record_to(1);
  one.shape = &apart;
  one.shared = &lists[0];
  action_record other = one;
  other.own[1].value = 9;  // what was there before
  EXPECT_EQ(effect(one), effect(other));
  other.shared = &lists[1];
  EXPECT_NE(effect(one), effect(other));
}

TEST(rule_head, is_what_it_was_after_each_kind_of_word) {
  constexpr std::uint32_t most = rule_head::numbers_max - 1;
  for (const rule_head one : {rule_head{}, rule_head{most, 0}, rule_head{0, most},
                              rule_head{most, most}, rule_head{5, 7}}) {
    EXPECT_EQ(rule_head::of(one.word()), one);
    EXPECT_EQ(rule_head::of_short(one.short_word()), one);
    EXPECT_LT(one.short_word(), std::uint64_t{1} << 56);
  }
}

TEST(shared_records, are_bounded) {
  shared_records all;
  for (std::uint32_t i = 0; i < shared_records::n_max; ++i) all.add(effect(record_to(i)), i + 1);
  const effect more(record_to(shared_records::n_max));
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_FALSE(all.is_worth_it(more, i));
  EXPECT_TRUE(all.leave(effect(record_to(0)), 1));
  EXPECT_FALSE(all.is_worth_it(more, 5));
  EXPECT_TRUE(all.is_worth_it(more, 6));
}

}  // namespace
}  // namespace coua::pipeline
