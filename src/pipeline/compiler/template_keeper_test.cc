// SPDX-License-Identifier: Apache-2.0
//
// What a table is, through changes of its rules.
#include "pipeline/compiler/choose_template.h"

#include <gtest/gtest.h>

#include <random>

#include "pipeline/compiler/test_template_rules.h"

namespace coua::pipeline {
namespace {

using namespace test;

/// A table through changes of its rules.
class kept_table {
 public:
  explicit kept_table(const template_limits& limits = no_mixed_tables) : keeper_(limits) {}

  bool add(const rule& one) {
    shape_.add(one);
    return follow();
  }
  bool remove(const rule& one) {
    shape_.remove(one);
    return follow();
  }
  const template_choice& now() const { return keeper_.now(); }
  std::vector<std::string> why_not_cheaper() const {
    std::vector<std::string> made;
    for (const refused_template& each : keeper_.why_not_cheaper(shape_))
      made.push_back(to_string(each.which) + (": " + each.reason));
    return made;
  }
  const table_shape& shape() const { return shape_; }
  const match* find_main() const { return keeper_.find_main(shape_); }

  using parts = std::shared_ptr<const decomposition>;
  decompose_answer answer{nullptr, "no"};
  std::vector<parts> asked;  // what it was told each time

 private:
  bool follow() {
    return keeper_.follow(shape_, {}, [this](const parts& has) {
      asked.push_back(has);
      return answer;
    });
  }

  table_shape shape_;
  template_keeper keeper_;
};

TEST(template_keeper, falls_back_at_once_and_comes_back_when_it_held_for_a_while) {
  kept_table table;
  int n_built = 0;
  for (std::uint64_t mac = 0; mac < 400; ++mac) n_built += table.add(mac_rule(mac));
  EXPECT_EQ(n_built, 1);  // direct, then exact
  EXPECT_EQ(table.now().which, table_template::exact);

  const rule odd = rule_of(where({exact(field::eth_src, 5)}));
  EXPECT_TRUE(table.add(odd));
  EXPECT_EQ(table.now().which, table_template::classifier);
  EXPECT_FALSE(table.remove(odd));
  EXPECT_EQ(table.now().which, table_template::classifier);
  // Comes and goes: nothing is built.
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(table.add(odd));
    EXPECT_FALSE(table.remove(odd));
  }
  int n_changes = 0;
  for (std::uint64_t mac = 1000; table.now().which != table_template::exact; ++mac) {
    ASSERT_LT(++n_changes, 200);
    table.add(mac_rule(mac));
  }
  EXPECT_GT(n_changes, 90);
}

TEST(template_keeper, asks_again_whether_a_table_is_still_to_be_split) {
  kept_table table;
  std::uint64_t n = 0;
  const auto add = [&] {
    ++n;
    return table.add(n % 2 == 0 ? mac_rule(n) : rule_of(where({exact(field::eth_src, n)})));
  };
  const auto first = std::make_shared<const decomposition>(),
             second = std::make_shared<const decomposition>();
  table.answer = {first, ""};
  while (n <= direct_rules_max) add();
  EXPECT_EQ(table.now().which, table_template::decomposed);
  EXPECT_EQ(table.now().parts, first);
  EXPECT_EQ(table.asked, std::vector<kept_table::parts>{nullptr});
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(add());
  EXPECT_EQ(table.asked, (std::vector<kept_table::parts>{nullptr, first}));
  // 16 changes after that there is another split, and so on.
  table.answer = {second, ""};
  for (int i = 0; i < 11; ++i) EXPECT_FALSE(add());
  EXPECT_TRUE(add());
  EXPECT_EQ(table.now().which, table_template::decomposed);
  EXPECT_EQ(table.now().parts, second);
  table.answer = {nullptr, "too dear"};
  for (int i = 0; i < 15; ++i) EXPECT_FALSE(add());
  EXPECT_TRUE(add());
  EXPECT_EQ(table.now().which, table_template::classifier);
  EXPECT_EQ(table.why_not_cheaper().back(), "decomposed: too dear");
  EXPECT_EQ(table.asked, (std::vector<kept_table::parts>{nullptr, first, first, second}));
}

TEST(template_keeper, a_table_around_the_limit_of_direct_is_not_built_again_and_again) {
  kept_table table;
  for (std::uint64_t mac = 0; mac <= direct_rules_max; ++mac) table.add(mac_rule(mac));
  EXPECT_EQ(table.now().which, table_template::exact);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(table.remove(mac_rule(16)));
    EXPECT_FALSE(table.add(mac_rule(16)));
  }
  for (std::uint64_t mac = direct_rules_max; mac >= 9; --mac)
    EXPECT_FALSE(table.remove(mac_rule(mac)));
  EXPECT_TRUE(table.remove(mac_rule(8)));
  EXPECT_EQ(table.now().which, table_template::direct);
}

TEST(template_keeper, what_does_not_serve_any_more_is_never_kept) {
  kept_table table;
  for (std::uint64_t mac = 0; mac < 40; ++mac) table.add(mac_rule(mac));
  for (std::uint64_t mac = 12; mac < 40; ++mac) table.remove(mac_rule(mac));
  EXPECT_EQ(table.now().which, table_template::exact);  // 12 rules: not few enough to go back
  EXPECT_TRUE(table.add(rule_of(where({exact(field::eth_src, 5)}))));
  EXPECT_EQ(table.now().which, table_template::direct);
}

using reasons = std::vector<std::string>;

TEST(template_keeper, a_long_direct_table_comes_and_goes_in_time) {
  kept_table table(long_ones);
  for (std::uint64_t n = 0; n < direct_long_max; ++n) EXPECT_FALSE(table.add(mixed_rule(n)));
  EXPECT_EQ(table.now().which, table_template::direct);
  EXPECT_EQ(table.why_not_cheaper(), (reasons{"exact: rules take 2 different sets of bits",
                                              "lpm: no rule matches an IP address"}));
  EXPECT_TRUE(table.add(mixed_rule(99)));
  EXPECT_EQ(table.now().which, table_template::classifier);
  EXPECT_EQ(table.why_not_cheaper().front(), "direct: more than 48 rules (49)");
  // A rule that comes and goes has nothing built.
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(table.remove(mixed_rule(99)));
    EXPECT_FALSE(table.add(mixed_rule(99)));
  }
  EXPECT_FALSE(table.remove(mixed_rule(99)));
  EXPECT_EQ(table.why_not_cheaper(),
            reasons{"direct: would serve; it is built when no more than 24 rules are left"});
  for (std::uint64_t n = direct_long_max - 1; n > 24; --n)
    EXPECT_FALSE(table.remove(mixed_rule(n)));
  EXPECT_TRUE(table.remove(mixed_rule(24)));
  EXPECT_EQ(table.now().which, table_template::direct);
}

TEST(template_keeper, an_odd_rule_does_not_swing_a_long_direct_table) {
  kept_table table(long_ones);
  const rule odd = rule_of(where({exact(field::eth_src, 5)}));
  for (std::uint64_t mac = 0; mac < 30; ++mac) table.add(mac_rule(mac));
  EXPECT_EQ(table.now().which, table_template::exact);
  EXPECT_TRUE(table.add(odd));
  EXPECT_EQ(table.now().which, table_template::direct);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(table.remove(odd));
    EXPECT_FALSE(table.add(odd));
  }
  EXPECT_FALSE(table.remove(odd));
  EXPECT_EQ(table.why_not_cheaper(),
            reasons{"exact: would serve; 15 more changes of rules until it is built"});
  for (std::uint64_t mac = 30; mac < 44; ++mac) EXPECT_FALSE(table.add(mac_rule(mac)));
  EXPECT_TRUE(table.add(mac_rule(44)));
  EXPECT_EQ(table.now().which, table_template::exact);
  // Nor is it direct for longer than it serves.
  EXPECT_TRUE(table.add(odd));
  EXPECT_EQ(table.now().which, table_template::direct);
  table.remove(odd);
  for (std::uint64_t mac = 45; mac < 48; ++mac) EXPECT_FALSE(table.add(mac_rule(mac)));
  EXPECT_TRUE(table.add(mac_rule(48)));
  EXPECT_EQ(table.now().which, table_template::exact);
}

// A short one that grows is exact at once, whatever it was before.
TEST(template_keeper, a_direct_table_that_was_long_is_a_short_one_again) {
  kept_table table(long_ones);
  for (std::uint64_t n = 0; n < 20; ++n) table.add(mixed_rule(n));
  for (std::uint64_t n = 1; n < 20; n += 2) table.remove(mixed_rule(n));
  EXPECT_EQ(table.now().which, table_template::direct);
  for (std::uint64_t mac = 100; mac < 106; ++mac) EXPECT_FALSE(table.add(mac_rule(mac)));
  EXPECT_TRUE(table.add(mac_rule(106)));
  EXPECT_EQ(table.now().which, table_template::exact);
}

TEST(template_keeper, says_why_not_direct_of_the_rules_that_are_left) {
  kept_table table;
  for (std::uint64_t mac = 0; mac < 17; ++mac) table.add(mac_rule(mac));
  EXPECT_EQ(table.why_not_cheaper(), reasons{"direct: more than 16 rules (17)"});
  for (std::uint64_t mac = 0; mac < 8; ++mac) table.remove(mac_rule(mac));
  EXPECT_EQ(table.now().which, table_template::exact);
  EXPECT_EQ(table.why_not_cheaper(),
            reasons{"direct: would serve; it is built when no more than 8 rules are left"});
}

TEST(template_keeper, says_of_a_cheaper_one_when_it_is_built) {
  kept_table table;
  for (std::uint64_t mac = 0; mac < 1000; ++mac) table.add(mac_rule(mac));
  const rule odd = rule_of(where({exact(field::eth_src, 5)}));
  table.add(odd);
  EXPECT_EQ(
      table.why_not_cheaper(),
      (reasons{"direct: more than 16 rules (1001)", "exact: rules take 2 different sets of bits",
               "lpm: no rule matches an IP address", "decomposed: no"}));
  table.remove(odd);  // the first change after which exact serves
  for (std::uint64_t mac = 1000; mac < 1249; ++mac) table.add(mac_rule(mac));
  EXPECT_EQ(table.now().which, table_template::classifier);
  EXPECT_EQ(table.why_not_cheaper(),
            (reasons{"direct: more than 16 rules (1249)",
                     "exact: would serve; 62 more changes of rules until it is built"}));
  for (std::uint64_t mac = 0; mac < 49; ++mac) table.remove(mac_rule(mac));
  EXPECT_EQ(table.why_not_cheaper().back(),
            "exact: would serve; 1 more change of rules until it is built");
  EXPECT_TRUE(table.remove(mac_rule(49)));
  EXPECT_EQ(table.now().which, table_template::exact);
}

TEST(template_keeper, says_when_it_asked_about_parts) {
  kept_table table;
  for (std::uint64_t n = 0; n < 17; ++n)
    table.add(n % 2 == 0 ? mac_rule(n) : rule_of(where({exact(field::eth_src, n)})));
  EXPECT_EQ(table.why_not_cheaper().back(), "decomposed: no");
  table.answer.why_not = "still not";
  table.add(mac_rule(77));
  EXPECT_EQ(table.why_not_cheaper().front(), "direct: more than 16 rules (18)");
  EXPECT_EQ(table.why_not_cheaper().back(), "decomposed: no (when last asked)");
}

TEST(template_keeper, says_why_a_cheaper_one_could_not_be_built) {
  table_shape shape;
  for (std::uint64_t n = 0; n < 17; ++n)
    shape.add(n % 2 == 0 ? mac_rule(n) : rule_of(where({exact(field::eth_src, n)})));
  template_keeper keeper(no_mixed_tables);
  decompose_answer answer{nullptr, "no"};
  const auto decompose = [&](const auto&) { return answer; };
  keeper.follow(shape, {}, decompose);
  const template_keeper before = keeper;
  answer = {std::make_shared<const decomposition>(), ""};
  ASSERT_TRUE(keeper.follow(shape, {.n = 16}, decompose));
  keeper.stay(before, "no memory");
  EXPECT_EQ(keeper.now().which, table_template::classifier);
  EXPECT_EQ(keeper.why_not_cheaper(shape).back().reason, "no memory");
  ASSERT_FALSE(keeper.follow(shape, {}, decompose));
  EXPECT_EQ(keeper.why_not_cheaper(shape).back().reason, "no (when last asked)");
}

// Red when each change asks again for what could not be built.
TEST(template_keeper, waits_after_what_could_not_be_built) {
  table_shape shape;
  for (std::uint64_t n = 0; n < 17; ++n)
    shape.add(n % 2 == 0 ? mac_rule(n) : rule_of(where({exact(field::eth_src, n)})));
  template_keeper keeper(no_mixed_tables);
  unsigned n_asked = 0;
  decompose_answer answer{nullptr, "no"};
  const auto decompose = [&](const auto&) { return ++n_asked, answer; };
  keeper.follow(shape, {}, decompose);
  keeper.follow(shape, {.n = 15}, decompose);
  ASSERT_EQ(n_asked, 1U);
  const template_keeper before = keeper;
  answer = {std::make_shared<const decomposition>(), ""};
  ASSERT_TRUE(keeper.follow(shape, {}, decompose));
  keeper.stay(before, "no memory");
  for (int i = 0; i < 15; ++i) EXPECT_FALSE(keeper.follow(shape, {}, decompose));
  EXPECT_EQ(n_asked, 2U);
  EXPECT_TRUE(keeper.follow(shape, {}, decompose));
}

TEST(template_keeper, rules_apart_come_and_go_and_nothing_is_built) {
  kept_table table{template_limits()};
  for (std::uint64_t mac = 0; mac < 200; ++mac) table.add(mac_rule(mac));
  for (std::uint32_t n = 0; n < 32; ++n) {
    EXPECT_FALSE(table.add(route(n << 24, 8, 5))) << n;
    EXPECT_EQ(table.now().which, table_template::exact);
    EXPECT_TRUE(table.now().has_apart);
  }
  EXPECT_TRUE(table.asked.empty()) << "whether it decomposes is asked of tables that need it";
  EXPECT_TRUE(table.add(route(33U << 24, 8, 5)));
  EXPECT_EQ(table.now().which, table_template::classifier);
  EXPECT_EQ(table.why_not_cheaper()[1],
            "exact: more than 16 rows of rules that take other bits than most (33)");
  // It comes back when so few have been apart for long.
  EXPECT_FALSE(table.remove(route(33U << 24, 8, 5)));
  for (std::uint32_t n = 31; n >= 16; --n) EXPECT_FALSE(table.remove(route(n << 24, 8, 5)));
  EXPECT_EQ(table.why_not_cheaper()[1],
            "exact: would serve; 53 more changes of rules until it is built");
  for (std::uint64_t mac = 200; mac < 300 && table.now().which != table_template::exact; ++mac)
    table.add(mac_rule(mac));
  EXPECT_TRUE(table.now().has_apart);
  for (std::uint32_t n = 0; n < 16; ++n) EXPECT_FALSE(table.remove(route(n << 24, 8, 5)));
  EXPECT_FALSE(table.now().has_apart);
}

/// As of an exact one; and one of a few routes is not made exact by what is apart.
TEST(template_keeper, rules_beside_prefixes_come_and_go_and_nothing_is_built) {
  kept_table table{template_limits()};
  for (const rule& each : routes(200)) table.add(each);
  const auto odd = [](std::uint64_t n) { return rule_of(to_tcp_port(n), 300); };
  for (std::uint64_t n = 0; n < 32; ++n) {
    EXPECT_FALSE(table.add(odd(n))) << n;
    EXPECT_EQ(table.now().which, table_template::lpm);
    EXPECT_TRUE(table.now().has_apart);
  }
  EXPECT_TRUE(table.asked.empty());
  EXPECT_TRUE(table.add(odd(32)));
  EXPECT_EQ(table.now().which, table_template::classifier);
  EXPECT_EQ(
      table.why_not_cheaper()[2],
      "lpm: more than 16 rows of rules (33) that are no prefixes of nw_dst or differ in more");
  for (std::uint64_t n = 32; n >= 16; --n) EXPECT_FALSE(table.remove(odd(n)));
  EXPECT_EQ(table.why_not_cheaper()[2],
            "lpm: would serve; 53 more changes of rules until it is built");
  for (std::uint64_t n = 0; n < 16; ++n) table.remove(odd(n));
  for (int i = 0; i < 60; ++i) {
    table.remove(routes(1).front());
    table.add(routes(1).front());
  }
  EXPECT_EQ(table.now().which, table_template::lpm);
  EXPECT_FALSE(table.now().has_apart);
}

/// Red where a table leaves what serves it for something that costs more.
TEST(template_keeper, an_exact_table_with_rules_apart_is_not_made_lpm_with_such) {
  kept_table table{template_limits()};
  for (std::uint32_t n = 0; n < 200; ++n) table.add(route(n, 32, 32));
  ASSERT_EQ(table.now().which, table_template::exact);
  EXPECT_FALSE(table.add(rule_of(to_tcp_port(1), 300)));
  for (std::uint32_t n = 0; n < 25; ++n) EXPECT_FALSE(table.add(route(n << 8, 24, 24)));
  ASSERT_EQ(choose_template(table.shape()).which, table_template::lpm);
  EXPECT_EQ(table.now().which, table_template::exact);
  EXPECT_TRUE(table.now().has_apart);
  EXPECT_EQ(table.why_not_cheaper().back(), "lpm: rules differ in more than nw_dst");
}

/// Exact with rules apart would cost more than what these have.
TEST(template_keeper, says_why_a_table_is_not_exact_where_it_needs_none_apart) {
  kept_table routes{template_limits()}, few{template_limits()};
  for (std::uint32_t n = 0; n < 60; ++n) routes.add(route(n << 24, 8, 8));
  routes.add(route(1, 16, 16));
  for (std::uint32_t n = 100; n < 120; ++n) routes.add(route(n << 24, 8, 8));
  ASSERT_EQ(routes.now().which, table_template::lpm);
  EXPECT_EQ(routes.why_not_cheaper().back(), "exact: rules take 2 different sets of bits");
  for (std::uint64_t n = 0; n < 20; ++n) few.add(mixed_rule(n));
  ASSERT_TRUE(few.now().is_long);
  EXPECT_EQ(few.why_not_cheaper(), (reasons{"exact: rules take 2 different sets of bits",
                                            "lpm: no rule matches an IP address"}));
}

/// An exact table of few rules is not made a long direct one by each that is apart.
TEST(template_keeper, an_odd_rule_does_not_swing_a_small_exact_table) {
  kept_table table{template_limits()};
  for (std::uint64_t mac = 0; mac < 30; ++mac) table.add(mac_rule(mac));
  EXPECT_EQ(table.now().which, table_template::exact);
  EXPECT_FALSE(table.add(route(0, 8, 5)));
  EXPECT_EQ(table.why_not_cheaper(),
            reasons{"direct: would serve; it is built when no more than 24 rules are left"});
  for (std::uint64_t mac = 29; mac > 23; --mac) EXPECT_FALSE(table.remove(mac_rule(mac)));
  EXPECT_TRUE(table.remove(mac_rule(23)));
  EXPECT_EQ(table.now().which, table_template::direct);
}

/// Any changes: what a table has always serves its rules, and what is counted is what there is.
TEST(template_keeper, through_random_changes_serves_what_is_there) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const template_limits limits = round % 3 == 0   ? no_mixed_tables
                                   : round % 3 == 1 ? long_ones
                                                    : template_limits();
    kept_table table(limits);
    std::vector<rule> rules;
    for (int i = 0; i < 300; ++i) {
      if (!rules.empty() && random() % 5 < (i < 150 ? 1U : 3U)) {
        const std::size_t at = random() % rules.size();
        table.remove(rules[at]);
        rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const auto length = static_cast<unsigned>(16 + random() % 3);
        rule one = random() % 16 == 0 ? catch_all(static_cast<std::uint16_t>(random() % 3))
                   : random() % 60 == 0
                       ? mac_rule(random() % 9)
                       : route(static_cast<std::uint32_t>(random()), length,
                               static_cast<std::uint16_t>(length + random() % 120 / 119));
        rules.push_back(one);
        table.add(one);
      }
      const template_choice fresh = choice_of(rules, limits);
      const template_choice& has = table.now();
      ASSERT_EQ(table.shape().n_rules(), rules.size());
      if (!has.is_long && !fresh.is_long) {
        ASSERT_GE(has.which, fresh.which);
      }
      if (has.which == table_template::direct) {
        ASSERT_LE(rules.size(), has.is_long ? limits.direct_long : direct_rules_max);
      } else if (has.has_apart) {
        const match* main = table.find_main();
        ASSERT_NE(main, nullptr);
        const auto n_apart = std::count_if(rules.begin(), rules.end(), [&](const rule& each) {
          if (each.match.is_any()) return false;
          return has.which == table_template::exact
                     ? !same_mask()(*main, each.match)
                     : !same_but_for{*has.prefix_field}(*main, each.match);
        });
        ASSERT_LE(n_apart, limits.most_apart()) << "each is one row";
        ASSERT_TRUE(table.shape().catch_alls_are_last());
      } else {
        ASSERT_EQ(why_not(has.which, table.shape(), limits), "");
      }
    }
  }
}

}  // namespace
}  // namespace coua::pipeline
