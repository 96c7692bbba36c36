// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/rule_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "pipeline/model/conjunction.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

/// Rules come and go; now and then one comes back with its old number, as when its removal is
/// undone.
class changing_table {
 public:
  void change() {
    const std::uint64_t what = random_() % 20;
    if (what < 10 || there_.empty()) {
      add(next_id_++);
    } else if (what == 10 && !gone_.empty()) {
      const rule_id back = *std::next(gone_.begin(), pick(gone_.size()));
      gone_.erase(back);
      add(back);
      table.restore_order();
    } else if (what == 11) {
      rule_ptr& one = there_[static_cast<std::size_t>(pick(there_.size()))];
      rule made = *one;
      made.cookie = random_() % 5;
      made.instructions = some();
      rule_table::entry& at = *table.find(one->priority, one->match);
      one = std::make_shared<const rule>(std::move(made));
      table.replace(at, one);
    } else {
      const auto one = std::next(there_.begin(), pick(there_.size()));
      table.erase(*table.find((*one)->priority, (*one)->match));
      gone_.insert((*one)->id);
      there_.erase(one);
    }
  }
  std::set<rule_id> ids() const {
    std::set<rule_id> made;
    for (const rule_ptr& one : there_) made.insert(one->id);
    return made;
  }

  rule_table table;

 private:
  std::ptrdiff_t pick(std::size_t n) { return static_cast<std::ptrdiff_t>(random_() % n); }
  /// Now and then those of a clause.
  instructions some() {
    if (random_() % 4 != 0) return {};
    return test::apply({act::conjunction{1, 0, 2}});
  }
  void add(rule_id id) {
    rule made;
    made.id = id;
    made.priority = static_cast<std::uint16_t>(id % 3 * 32767);
    made.cookie = random_() % 5;
    made.match = test::where({exact(field::eth_dst, id)});
    made.instructions = some();
    const auto one = std::make_shared<const rule>(std::move(made));
    table.insert(one, {});
    there_.push_back(one);
  }

  std::mt19937_64 random_{7};
  rule_id next_id_ = 1;
  std::vector<rule_ptr> there_;
  std::set<rule_id> gone_;
};

bool in_order(const rule& a, const rule& b) {
  return a.priority > b.priority || (a.priority == b.priority && a.id < b.id);
}

TEST(rule_table, lists_by_priority_and_age) {
  changing_table of;
  for (unsigned i = 0; i < 3000; ++i) {
    of.change();
    if (i % 100 != 0) continue;
    const rule* last = nullptr;
    std::size_t n = 0, n_clauses = 0;
    of.table.each([&](const rule_table::entry& one) {
      n_clauses += is_clause(*one.rule) ? 1 : 0;
      ASSERT_TRUE(last == nullptr || in_order(*last, *one.rule));
      last = one.rule.get();
      ++n;
    });
    ASSERT_EQ(n, of.table.size());
    ASSERT_EQ(n, of.ids().size());
    ASSERT_EQ(n_clauses, of.table.n_clauses());
  }
}

TEST(rule_table, knows_the_rules_of_a_cookie) {
  changing_table of;
  for (unsigned i = 0; i < 3000; ++i) {
    of.change();
    if (i % 50 != 0) continue;
    std::map<std::uint64_t, std::vector<rule_id>> expected;
    of.table.each(
        [&](const rule_table::entry& one) { expected[one.rule->cookie].push_back(one.rule->id); });
    for (std::uint64_t cookie = 0; cookie < 6; ++cookie) {
      std::vector<rule_id> got;
      for (const auto* one : of.table.all_of(cookie)) got.push_back(one->rule->id);
      ASSERT_EQ(got, expected[cookie]);
      ASSERT_EQ(of.table.n_of(cookie), got.size());
    }
  }
}

TEST(rule_table, a_reading_in_pieces_brings_once_what_is_there_all_the_time) {
  for (const unsigned changes : {0U, 1U, 20U, 300U}) {
    changing_table of;
    for (unsigned i = 0; i < 1000; ++i) of.change();
    std::set<rule_id> all_the_time = of.ids();
    rule_table::cursor at;
    std::set<rule_id> read;
    const auto take = [&](const rule_table::entry& one) {
      EXPECT_TRUE(read.insert(one.rule->id).second) << "twice";
    };
    while (of.table.each_from(at, 13, take)) {
      for (unsigned i = 0; i < changes; ++i) {
        of.change();
        const std::set<rule_id> now = of.ids();
        std::erase_if(all_the_time, [&](rule_id id) { return !now.contains(id); });
      }
    }
    for (const rule_id id : all_the_time) EXPECT_TRUE(read.contains(id)) << "missed";
    EXPECT_FALSE(of.table.each_from(at, 13, take));
  }
}

TEST(rule_table, a_reading_takes_no_more_than_it_is_asked_for) {
  changing_table of;
  for (unsigned i = 0; i < 100; ++i) of.change();
  rule_table::cursor at;
  std::size_t n = 0;
  EXPECT_TRUE(of.table.each_from(at, 0, [&](const rule_table::entry&) { ++n; }));
  EXPECT_EQ(n, 0U);
  EXPECT_FALSE(of.table.each_from(at, of.table.size(), [&](const rule_table::entry&) { ++n; }));
  EXPECT_EQ(n, of.table.size());
}

}  // namespace
}  // namespace coua::pipeline
