// SPDX-License-Identifier: Apache-2.0
//
// Tables that are split by the values of some fields, beside the oracle: what stands in sets and
// apart, and changes that the split takes, or that break it.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"
#include "spoiled_table.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::change_rules;
using pipeline::test::ipv4;
using pipeline::test::output;
using pipeline::test::where;

constexpr std::uint32_t first_service = 0x0c00'0000, first_client = 0x0a00'0000;
constexpr port_no n_ports = 6;
constexpr unsigned n_services = 12;

match_term source(std::uint32_t address, unsigned length) {
  const value128 mask = ones(32) & ~ones(32 - length);
  return {field::ipv4_src, address & mask, mask};
}

/// Rules of services: the longer the prefix of the client, the higher the priority.
match clients_of(unsigned service, unsigned length) {
  std::vector<match_term> terms{ipv4(), exact(field::ip_proto, 6),
                                exact(field::ipv4_dst, first_service + service),
                                exact(field::tcp_dst, 80)};
  if (length != 0) terms.push_back(source(first_client + (service << 4), length));
  return where(std::move(terms));
}
rule_mod rule_of(unsigned service, unsigned length, port_no to, std::uint16_t priority) {
  return add_rule(0, priority, clients_of(service, length), pipeline::test::apply({output(to)}));
}
rule_mod rule_of(unsigned service, unsigned length, port_no to) {
  return rule_of(service, length, to, static_cast<std::uint16_t>(100 + length));
}
rule_mod apart(port_no from, port_no to, std::uint16_t priority) {
  return add_rule(0, priority, where({exact(field::in_port, from)}),
                  pipeline::test::apply({output(to)}));
}
rule_mod from_a_port(rule_mod of) {
  std::vector<match_term> terms = of.match.terms();
  terms.push_back(exact(field::in_port, of.priority));
  of.match = where(std::move(terms));
  return of;
}
rule_mod removal(rule_mod of) {
  return change_rules(rule_command::remove_strict, of.table, of.priority, of.match);
}

class decomposed : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= n_ports; ++i) must({pipeline::test::add_port(i)});
    for (unsigned i = 0; i < n_services; ++i) {
      for (const unsigned length : {0U, 24U, 29U}) must({rule_of(i, length, 1 + length % n_ports)});
    }
    ASSERT_EQ(kind(), table_template::decomposed);
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  table_template kind() { return in_.bridge().compiler().form(0)->kind(); }
  /// From each port, to each service and one that is not there, from clients near and far.
  void see() {
    std::vector<packet> all;
    for (unsigned i = 0; i < 4 * n_ports * (n_services + 1); ++i) {
      packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);  // TCP in IPv4
      const unsigned service = i / n_ports % (n_services + 1);
      const unsigned near[] = {0, 9, 0x900, 0x90000};
      one.in_port = 1 + i % n_ports;
      net::store_be32(one.bytes.data() + 26,
                      first_client + ((service << 4) ^ near[i / n_ports / (n_services + 1)]));
      net::store_be32(one.bytes.data() + 30, first_service + service);
      net::store_be16(one.bytes.data() + 36, 80);
      all.push_back(std::move(one));
    }
    EXPECT_GT(in_.receive_all(all), 0U);
  }

  checked_pipeline in_;
};

TEST_F(decomposed, says_by_what) {
  EXPECT_EQ(in_.bridge().compiler().form(0)->by(), "nw_dst, tcp_dst: exact to 12 direct tables");
  EXPECT_GT(in_.bridge().compiler().form(0)->bytes(), 12U * 128);
}

TEST_F(decomposed, rules_of_a_set_come_change_and_go) {
  see();
  must({rule_of(3, 26, 5)});
  see();
  must({rule_of(3, 26, 6)});  // the same rule again
  see();
  must({removal(rule_of(3, 29, 0)), rule_of(4, 27, 2), rule_of(n_services, 0, 4)});
  see();
  must({removal(rule_of(n_services, 0, 4))});
  for (const unsigned length : {0U, 24U, 26U}) must({removal(rule_of(3, length, 0))});
  see();
  see();  // what was buried
  EXPECT_EQ(kind(), table_template::decomposed);
  EXPECT_EQ(in_.bridge().compiler().form(0)->by(), "nw_dst, tcp_dst: exact to 11 direct tables");
  in_.check_nothing_stays();
}

/// For packets of all sets and of none: above, between and below the rules of sets.
TEST_F(decomposed, rules_apart_count_for_all_packets) {
  must({apart(2, 6, 1000)});
  must({apart(3, 6, 110)});
  must({apart(4, 6, 1)});
  must({add_rule(0, 0, {}, pipeline::test::apply({output(5)}))});
  see();
  must({removal(apart(3, 6, 110))});
  must({removal(apart(2, 6, 1000)), apart(2, 4, 999)});
  see();
  must({removal(apart(4, 6, 1)), removal(apart(2, 4, 999)),
        removal(add_rule(0, 0, {}, pipeline::test::apply({output(5)})))});
  see();
  EXPECT_EQ(kind(), table_template::decomposed);
  in_.check_nothing_stays();
}

/// Of one priority the older one counts, whether it is in a set or apart.
TEST_F(decomposed, age_decides_between_sets_and_apart) {
  must({apart(2, 6, 129)});                               // younger than those of /29
  must({removal(rule_of(5, 29, 0)), rule_of(5, 29, 3)});  // now this one is
  must({rule_of(6, 28, 2, 129)});                         // youngest of three
  see();
  must({removal(apart(2, 6, 129)), apart(2, 6, 129)});
  see();
  EXPECT_EQ(kind(), table_template::decomposed);
}

TEST_F(decomposed, other_masks_of_the_same_fields_need_nothing_anew) {
  const table_form* before = in_.bridge().compiler().form(0);
  for (const unsigned length : {8U, 13U, 31U, 32U}) must({rule_of(2, length, 4)});
  see();
  EXPECT_EQ(in_.bridge().compiler().form(0), before);
}

TEST_F(decomposed, another_field_is_taken_in) {
  const table_form* before = in_.bridge().compiler().form(0);
  std::vector<match_term> terms = clients_of(2, 24).terms();
  terms.push_back(exact(field::in_port, 3));
  must({add_rule(0, 500, where(terms), pipeline::test::apply({output(6)}))});
  see();
  EXPECT_EQ(kind(), table_template::decomposed);
  EXPECT_NE(in_.bridge().compiler().form(0), before);
}

TEST_F(decomposed, a_set_that_grows_too_large_breaks_it) {
  // So that it is none of prefixes.
  for (std::uint16_t port = 1; port <= 10; ++port) must({from_a_port(rule_of(7, 24, 5, port))});
  for (unsigned length = 1; length <= 16; ++length) must({rule_of(7, length, 1 + length % 6)});
  see();
  EXPECT_EQ(kind(), table_template::decomposed);  // 29 of 32
  std::vector<operation> more;
  for (std::uint16_t priority = 1; priority <= 4; ++priority) {
    more.emplace_back(rule_of(7, 24, 1 + priority % 6, priority));
  }
  must(more);
  EXPECT_EQ(kind(), table_template::classifier);
  see();
  // It comes back, but not at once.
  for (const operation& each : more) must({removal(std::get<rule_mod>(each))});
  for (unsigned length = 1; length <= 16; ++length) must({removal(rule_of(7, length, 0))});
  EXPECT_EQ(kind(), table_template::classifier);
  see();
  for (unsigned i = 0; i < 64; ++i) must({rule_of(i % n_services, 30, 1 + i % 6)});
  EXPECT_EQ(kind(), table_template::decomposed);
  see();
  in_.check_nothing_stays();
}

TEST_F(decomposed, too_many_rules_apart_break_it) {
  for (std::uint16_t priority = 1; priority <= 64; ++priority) {
    must({apart(1 + priority % n_ports, 1 + priority % 5, priority)});
    EXPECT_EQ(kind(), table_template::decomposed);
  }
  see();
  must({apart(1, 2, 65)});
  EXPECT_EQ(kind(), table_template::classifier);
  see();
  in_.check_nothing_stays();
}

/// A version that cannot be completed leaves the split as it was: table 0 is built anew by it.
TEST_F(decomposed, failed_versions_leave_it) {
  constexpr table_id spoiled = 1;
  must({apart(2, 6, 1000)});
  must(table_to_spoil(spoiled));
  std::vector<operation> bundle{rule_of(1, 20, 2), removal(rule_of(2, 24, 0)), apart(3, 2, 999)};
  for (unsigned length = 1; length <= 20; ++length) bundle.emplace_back(rule_of(7, length, 3));
  for (unsigned k = 1; k < 18; ++k) bundle.emplace_back(apart(4, 2, static_cast<std::uint16_t>(k)));
  spoil(bundle, spoiled);
  const table_form* const before = in_.bridge().compiler().form(0);
  EXPECT_FALSE(in_.apply(bundle));
  EXPECT_EQ(in_.n_full, 1U);
  EXPECT_NE(in_.bridge().compiler().form(0), before);
  EXPECT_EQ(kind(), table_template::decomposed);
  see();
  must({rule_of(1, 20, 2), removal(rule_of(2, 24, 0)), apart(3, 2, 999)});
  EXPECT_EQ(kind(), table_template::decomposed);
  see();
  in_.check_nothing_stays();
}

/// Rules of a service, that take two different sets of many bits besides.
rule_mod wide_rule(unsigned service, unsigned number) {
  std::vector<match_term> terms{pipeline::test::ipv6(),
                                exact(field::eth_dst, 0x0200'0000'0000 + service)};
  const auto some = [&](field which) {
    const value128 mask = full_mask(which) & ~value128{number % 2};
    terms.push_back({which, number * value128{0x0101'0101'0101} & mask, mask});
  };
  for (const field each : {field::ipv6_src, field::ipv6_dst, field::eth_src, field::metadata}) {
    some(each);
  }
  for (unsigned i = 0; i < 8; ++i) some(reg(i));
  return add_rule(0, static_cast<std::uint16_t>(number), where(terms),
                  pipeline::test::apply({output(1)}));
}

/// What serves a table is decided by its rules, not by how they came: here the classifier is faster
/// once sets have more than 8 rules.
TEST(decomposed_load, rule_by_rule_ends_as_one_bundle_does) {
  checked_pipeline one_by_one, at_once;
  const auto kind = [](checked_pipeline& of) { return of.bridge().compiler().form(0)->kind(); };
  std::vector<operation> all;
  for (unsigned number = 0; number < 16; ++number) {
    for (unsigned service = 0; service < 20; ++service) {
      all.emplace_back(wide_rule(service, number));
      ASSERT_TRUE(one_by_one.apply({all.back()}));
    }
    if (number == 2) {
      ASSERT_EQ(kind(one_by_one), table_template::decomposed);
    }
  }
  ASSERT_TRUE(at_once.apply(all));
  EXPECT_EQ(kind(at_once), table_template::classifier);
  EXPECT_EQ(kind(one_by_one), kind(at_once));
  for (checked_pipeline* each : {&one_by_one, &at_once}) each->check_nothing_stays();
}

/// Of more words than the keys of a classifier's subtables have.
rule_mod too_wide_rule(unsigned service, unsigned number) {
  rule_mod made = wide_rule(service, number);
  std::vector<match_term> terms = made.match.terms();
  terms.push_back(exact(field::tunnel_id, 0));
  terms.push_back(exact(field::ipv6_flabel, 0));
  terms.push_back(exact(field::vlan_vid, 0));
  for (unsigned i = 8; i < n_registers; ++i) terms.push_back(exact(reg(i), 0));
  made.match = where(std::move(terms));
  return made;
}

/// The classifier is asked for as above, and cannot be built: sets serve on, and rules can go.
TEST(decomposed_load, stays_where_a_classifier_has_no_room) {
  constexpr unsigned n_services = 20;
  checked_pipeline in;
  for (port_no i = 1; i <= 2; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  const auto kind = [&in] { return in.bridge().compiler().form(0)->kind(); };
  for (unsigned number = 0; number < 16; ++number) {
    for (unsigned service = 0; service < n_services; ++service)
      ASSERT_TRUE(in.apply({too_wide_rule(service, number)}));
  }
  EXPECT_EQ(kind(), table_template::decomposed);
  // To each service and some that are not there, with all that rule 0 of each asks: zeros.
  constexpr std::size_t addresses = 32, before_addresses = 8;
  std::vector<packet> burst;
  for (const auto& frame : pipeline::test::frames()) {
    if (net::load_be16(frame.data() + 12) != net::ethertype_ipv6 || !burst.empty()) continue;
    packet one = pipeline::test::from_port_1(frame);
    one.in_port = 2;
    std::fill_n(one.bytes.data() + 6, 6, 0);
    std::fill_n(one.bytes.data() + net::ethernet_header_bytes + before_addresses, addresses, 0);
    for (unsigned service = 0; service < n_services + 4; ++service) {
      net::store_mac(one.bytes.data(), 0x0200'0000'0000 + service);
      burst.push_back(one);
    }
  }
  in.receive(burst);
  EXPECT_EQ(in.n_outputs, n_services);
  for (unsigned number = 1; number < 16; ++number) {
    for (unsigned service = 0; service < n_services; ++service)
      ASSERT_TRUE(in.apply({removal(too_wide_rule(service, number))}));
  }
  in.receive(burst);
  in.check_counters();
  in.check_nothing_stays();
}

/// One bundle after which sets are large, but would be small by one field more.
TEST(decomposed_load, is_split_anew_where_that_is_better) {
  checked_pipeline in;
  const auto by = [&] { return in.bridge().compiler().form(0)->by(); };
  std::vector<operation> first, second;
  for (unsigned service = 0; service < 20; ++service) {
    for (const unsigned number : {0U, 1U}) {
      first.emplace_back(wide_rule(service, number));
      second.emplace_back(removal(wide_rule(service, number)));
    }
    first.emplace_back(from_a_port(wide_rule(service, 2)));
    for (unsigned number = 3; number < 16; ++number) {
      second.emplace_back(from_a_port(wide_rule(service, number)));
    }
  }
  ASSERT_TRUE(in.apply(first));
  EXPECT_EQ(by(), "dl_dst, dl_type: exact to 20 direct tables");
  ASSERT_TRUE(in.apply(second));
  EXPECT_EQ(by(), "in_port, dl_dst, dl_type: exact to 280 direct tables");
  in.check_nothing_stays();
}

}  // namespace
}  // namespace coua::test
