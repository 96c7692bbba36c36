// SPDX-License-Identifier: Apache-2.0
#include "pipeline/compiler/decompose.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "pipeline/compiler/table_shape.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

// What the model of costs goes by, on any machine.
const int cache_is_of_1_mib = setenv("COUA_L2_BYTES", "1048576", 1);

using test::ipv4;
using test::where;

match_term source(std::uint32_t address, unsigned length) {
  const value128 mask = ones(32) & ~ones(32 - length);
  return {field::ipv4_src, address & mask, mask};
}
std::vector<match_term> service(std::uint32_t address, std::uint16_t port) {
  return {ipv4(), exact(field::ip_proto, 6), exact(field::ipv4_dst, address),
          exact(field::tcp_dst, port)};
}
std::vector<match_term> with(std::vector<match_term> terms, const match_term& more) {
  terms.push_back(more);
  return terms;
}

class rules_of_a_table {
 public:
  void add(std::vector<match_term> terms, std::uint16_t priority = 100) {
    auto made = std::make_shared<rule>();
    made->id = ++last_;
    made->priority = priority;
    made->match = where(std::move(terms));
    shape_.add(*made);
    rules_.insert(std::move(made), {});
  }
  decompose_answer ask(std::shared_ptr<const decomposition> has = nullptr) const {
    return decompose(rules_, shape_.n_masks(), std::move(has));
  }

 private:
  rule_table rules_;
  table_shape shape_;
  rule_id last_ = 0;
};

/// Services with their clients in halves: the load balancer of ESWITCH as one table.
rules_of_a_table load_balancer(unsigned n_services) {
  rules_of_a_table made;
  for (port_no each : {2U, 3U}) made.add({exact(field::in_port, each)});
  for (unsigned i = 0; i < n_services; ++i) {
    for (const std::uint32_t half : {0U, 0x8000'0000U}) {
      made.add(with(service(0x0c00'0000 + i, 80), source(half, 1)));
    }
  }
  return made;
}

TEST(decompose, takes_the_columns_that_all_but_a_few_rules_ask_for) {
  const decompose_answer answer = load_balancer(100).ask();
  ASSERT_NE(answer.found, nullptr) << answer.why_not;
  // The first bit of the source is one mask, so it is a column, too: every set has one rule.
  EXPECT_EQ(answer.found->to_string(), "nw_src, nw_dst, tcp_dst");
  EXPECT_TRUE(answer.found->values_of(where(with(service(9, 80), source(0, 1)))));
  EXPECT_FALSE(answer.found->values_of(where(with(service(9, 80), source(0, 2)))));
  EXPECT_FALSE(answer.found->values_of(where({exact(field::in_port, 2)})));
}

TEST(decompose, leaves_masks_that_differ_to_the_sets) {
  rules_of_a_table rules;
  for (unsigned i = 0; i < 50; ++i) {
    for (unsigned k = 0; k < 5; ++k) {
      rules.add(with(service(i, 80), source(i << 20, 8 + 4 * k)), static_cast<std::uint16_t>(k));
    }
  }
  const decompose_answer answer = rules.ask();
  ASSERT_NE(answer.found, nullptr) << answer.why_not;
  EXPECT_EQ(answer.found->to_string(), "nw_dst, tcp_dst");
}

TEST(decompose, wants_few_rules_apart) {
  rules_of_a_table rules;
  for (unsigned i = 0; i < 200; ++i) {
    rules.add(with(service(i / 4, 80), source(i, 20 + i % 4)));
    if (i < 16) rules.add({exact(field::in_port, i)});
  }
  EXPECT_NE(rules.ask().found, nullptr);
  rules.add({exact(field::in_port, 77)});
  EXPECT_EQ(rules.ask().found, nullptr);
  EXPECT_EQ(rules.ask().why_not, "no field has the same mask in all but 16 rules");
}

TEST(decompose, of_few_rules_wants_fewer_apart) {
  for (const unsigned n_apart : {5U, 6U}) {
    rules_of_a_table rules;
    for (unsigned i = 0; i < 36; ++i) rules.add(with(service(i / 4, 80), source(i, 20 + i % 4)));
    for (unsigned i = 0; i < n_apart; ++i) rules.add({exact(field::in_port, i)});
    EXPECT_EQ(rules.ask().found != nullptr, n_apart == 5);
  }
}

TEST(decompose, wants_small_sets) {
  rules_of_a_table rules;
  for (unsigned i = 0; i < 16; ++i) {
    rules.add(with(service(1, 80), source(i << 28, 8 + i % 8)), static_cast<std::uint16_t>(i));
    rules.add(with(service(2, 80), source(i << 28, 8 + i % 8)), static_cast<std::uint16_t>(i));
  }
  EXPECT_NE(rules.ask().found, nullptr);
  rules.add(with(service(1, 80), source(0x0a00'0000, 9)));
  EXPECT_EQ(rules.ask().found, nullptr);
  EXPECT_EQ(
      rules.ask().why_not,
      "17 rules have the same nw_dst, tcp_dst, and a rule of priority 8 for a /8 of nw_src is "
      "not below one of priority 1 for a /9");
  // No prefixes, and more of them than may be apart.
  for (unsigned i = 1; i <= 5; ++i)
    rules.add(with(with(service(1, 80), source(0x0a00'0000, 9)), exact(field::in_port, i)));
  EXPECT_EQ(rules.ask().why_not, "22 rules have the same nw_dst, tcp_dst");
}

TEST(decompose, rules_whose_values_stand_elsewhere_are_apart) {
  rules_of_a_table rules;
  for (unsigned i = 0; i < 48; ++i) {
    rules.add({i % 8 == 0 ? test::ipv6() : ipv4(), exact(field::ip_dscp, i % 8),
               exact(field::in_port, i)});
  }
  const decompose_answer answer = rules.ask();
  ASSERT_NE(answer.found, nullptr) << answer.why_not;
  for (unsigned i = 0; i < 40; ++i) {
    rules.add({i % 2 == 0 ? test::ipv6() : ipv4(), exact(field::ip_dscp, i % 8),
               exact(field::in_port, 100 + i)});
  }
  EXPECT_EQ(rules.ask().why_not, "26 rules are apart of in_port, ip_dscp");
}

/// Sets of 16 rules, by service.
rules_of_a_table full_sets(unsigned n_sets, unsigned n_masks) {
  rules_of_a_table rules;
  for (unsigned i = 0; i < n_sets; ++i) {
    for (unsigned k = 0; k < 16; ++k) {
      rules.add(with(service(i, 80), source((k << 24) + (i << 10), 20 + k % n_masks)));
    }
  }
  return rules;
}

/// What the model says, within a cache and beyond.
TEST(decompose, is_refused_where_the_classifier_is_faster) {
  ASSERT_EQ(cache_is_of_1_mib, 0);
  EXPECT_NE(full_sets(100, 2).ask().found, nullptr);
  EXPECT_NE(full_sets(6000, 8).ask().found, nullptr);
  const decompose_answer refused = full_sets(6000, 2).ask();
  EXPECT_EQ(refused.found, nullptr);
  EXPECT_EQ(refused.why_not, "at 141 ns a packet it would not be faster than at 125");
}

TEST(decompose, what_is_split_stays_so_until_it_loses_by_an_eighth) {
  const std::shared_ptr<const decomposition> has = full_sets(100, 4).ask().found;
  ASSERT_NE(has, nullptr);
  const rules_of_a_table a_little = full_sets(6000, 3);
  EXPECT_EQ(a_little.ask().why_not, "at 141 ns a packet it would not be faster than at 140");
  EXPECT_EQ(a_little.ask(has).found, has);
  EXPECT_EQ(full_sets(6000, 2).ask(has).found, nullptr);
}

TEST(decompose, of_no_field_in_common) {
  rules_of_a_table rules;
  EXPECT_EQ(rules.ask().found, nullptr);
  for (unsigned i = 0; i < 20; ++i) {
    rules.add({exact(field::eth_dst, i)});
    rules.add({exact(field::in_port, i)});
  }
  EXPECT_EQ(rules.ask().why_not, "no field has the same mask in all but 5 rules");
}

match_term destination(unsigned number, unsigned length) {
  const value128 mask = ones(32) & ~ones(32 - length);
  return {field::ipv4_dst, (0x0a00'0000U + (number << 8)) & mask, mask};
}
match_term destination_v6(unsigned number, unsigned length) {
  const value128 mask = ones(128) & ~ones(128 - length);
  return {field::ipv6_dst, (value128{0x2001'0db8'0000'0000U + number} << 64) & mask, mask};
}
/// Routes of 20 to 24 bits, or of 40 to 64, of a router.
void add_routes(rules_of_a_table& to, unsigned router, bool is_v6, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    const unsigned length = is_v6 ? 40 + 6 * (i % 5) : 20 + i % 5;
    to.add({is_v6 ? test::ipv6() : ipv4(), exact(field::metadata, router),
            is_v6 ? destination_v6(i << 24, length) : destination(i << 4, length)},
           static_cast<std::uint16_t>(100 + length));
  }
}

TEST(decompose, large_sets_may_be_prefixes) {
  rules_of_a_table rules;
  for (unsigned router = 1; router <= 3; ++router) add_routes(rules, router, false, 40);
  decompose_answer answer = rules.ask();
  ASSERT_NE(answer.found, nullptr) << answer.why_not;
  EXPECT_EQ(answer.found->to_string(), "metadata, dl_type");
  EXPECT_EQ(answer.found->prefixes, std::vector{field::ipv4_dst});
  // Of the other version there are few.
  add_routes(rules, 4, true, 6);
  answer = rules.ask();
  ASSERT_NE(answer.found, nullptr) << answer.why_not;
  EXPECT_EQ(answer.found->prefixes, (std::vector{field::ipv4_dst, field::ipv6_dst}));
  const decomposition& by = *answer.found;
  const auto prefix_of = [&](std::vector<match_term> terms) { return by.prefix_of(where(terms)); };
  EXPECT_EQ(prefix_of({ipv4(), exact(field::metadata, 9), destination(1, 32)}), field::ipv4_dst);
  EXPECT_EQ(prefix_of({ipv4(), exact(field::metadata, 9)}), field::ipv4_dst);
  EXPECT_EQ(prefix_of({test::ipv6(), exact(field::metadata, 9)}), field::ipv6_dst);
  EXPECT_EQ(prefix_of({ipv4(), exact(field::metadata, 9), source(1, 32)}), std::nullopt);
  EXPECT_EQ(prefix_of({ipv4(), exact(field::metadata, 9), {field::ipv4_dst, 1, 0xff}}),
            std::nullopt);
  EXPECT_EQ(prefix_of({exact(field::eth_type, 0x0806), exact(field::metadata, 9)}), std::nullopt);
}

TEST(decompose, large_sets_of_prefixes_are_in_order) {
  rules_of_a_table rules;
  for (unsigned router = 1; router <= 3; ++router) add_routes(rules, router, false, 40);
  rules.add({ipv4(), exact(field::metadata, 2), destination(3, 16)}, 122);
  EXPECT_EQ(rules.ask().why_not,
            "41 rules have the same metadata, dl_type, and a rule of priority 122 for a /16 of "
            "nw_dst is not below one of priority 120 for a /20");
}

TEST(decompose, a_few_rules_of_large_sets_may_be_no_prefixes) {
  rules_of_a_table rules;
  for (unsigned router = 1; router <= 3; ++router) add_routes(rules, router, false, 40);
  for (unsigned i = 0; i < 15; ++i) {
    rules.add({ipv4(), exact(field::metadata, 2), destination(i, 24), exact(field::in_port, i)}, 9);
  }
  EXPECT_NE(rules.ask().found, nullptr) << rules.ask().why_not;
  for (unsigned i = 15; i < 17; ++i) {
    rules.add({ipv4(), exact(field::metadata, 2), destination(i, 24), exact(field::in_port, i)}, 9);
  }
  EXPECT_EQ(rules.ask().why_not, "57 rules have the same metadata, dl_type");
}

/// What is compared with has no order to keep.
TEST(decompose, small_sets_beside_prefixes_may_be_anything) {
  rules_of_a_table rules;
  for (unsigned router = 1; router <= 3; ++router) add_routes(rules, router, false, 40);
  for (unsigned i = 0; i < 10; ++i) {
    rules.add({ipv4(), exact(field::metadata, 4), destination(i, 24 - i), source(i, 8)}, 10);
  }
  EXPECT_NE(rules.ask().found, nullptr) << rules.ask().why_not;
}

TEST(decompose, by_types_alone_is_nothing) {
  rules_of_a_table rules;
  for (unsigned i = 0; i < 20; ++i) {
    rules.add({test::ipv4(), exact(field::ipv4_dst, i)});
    rules.add({exact(field::eth_type, 0x0806), exact(field::arp_tpa, i)});
  }
  EXPECT_EQ(rules.ask().why_not, "no field but dl_type has the same mask in all but 5 rules");
}

}  // namespace
}  // namespace coua::pipeline
