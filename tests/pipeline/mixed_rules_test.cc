// SPDX-License-Identifier: Apache-2.0
//
// A table whose rules ask for all kinds of packets: their key has more words than that of a flow
// table.
#include <gtest/gtest.h>

#include "base/sanitizer.h"
#include "checked_pipeline.h"
#include "net/ip_protocol.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::ipv4;
using pipeline::test::ipv6;
using pipeline::test::output;
using pipeline::test::where;

match_term proto(std::uint8_t number) { return exact(field::ip_proto, number); }
/// Of half of the values, where the field takes masks.
match_term any_bit(field which) {
  return {which, 0, info(which).maskable ? value128{1} : full_mask(which)};
}

/// Of hosts' protocols, each with what a controller matches on.
std::vector<match> all_kinds() {
  const match_term arp = exact(field::eth_type, 0x0806);
  return {
      where({exact(field::in_port, 1), any_bit(field::eth_src)}),
      where({any_bit(field::eth_dst), pipeline::test::tagged(), exact(field::vlan_pcp, 0)}),
      where({ipv4(), proto(6), any_bit(field::ipv4_src), any_bit(field::ipv4_dst),
             any_bit(field::tcp_src), any_bit(field::tcp_dst)}),
      where({ipv4(), proto(17), any_bit(field::udp_src), any_bit(field::udp_dst)}),
      where({ipv4(), proto(1), any_bit(field::icmpv4_type), any_bit(field::icmpv4_code)}),
      where({ipv6(), proto(6), any_bit(field::ipv6_src), any_bit(field::ipv6_dst),
             any_bit(field::tcp_dst)}),
      where({ipv6(), proto(17), any_bit(field::udp_dst)}),
      where({ipv6(), proto(58), exact(field::icmpv6_type, 135), any_bit(field::nd_target),
             any_bit(field::nd_sll)}),
      where({ipv6(), proto(58), exact(field::icmpv6_type, 136), any_bit(field::nd_target),
             any_bit(field::nd_tll)}),
      where({arp, any_bit(field::arp_spa), any_bit(field::arp_tpa), any_bit(field::arp_sha),
             any_bit(field::arp_tha), exact(field::arp_op, 1)}),
      where({ipv4(), proto(132), any_bit(field::sctp_dst)}),
      where({pipeline::test::mpls(), any_bit(field::mpls_label)}),
      where({ipv4(), {field::ip_frag, frag_later, frag_later}}),
      where({ipv4(), any_bit(field::ip_dscp), any_bit(field::ip_ttl)}),
      where({ipv6(), any_bit(field::ipv6_flabel), any_bit(field::ipv6_exthdr)}),
      where({any_bit(field::tunnel_id), any_bit(field::metadata), any_bit(reg(1)), any_bit(reg(3)),
             any_bit(reg(5)), any_bit(reg(7)), any_bit(reg(9))}),
  };
}

class mixed_rules : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<operation> ports;
    for (port_no i = 1; i <= 4; ++i) ports.emplace_back(pipeline::test::add_port(i));
    ASSERT_TRUE(in_.apply(ports));
  }
  void add(std::uint16_t priority, const match& what) {
    const auto to = static_cast<port_no>(2 + priority % 3);
    ASSERT_TRUE(in_.apply({add_rule(0, priority, what, pipeline::test::apply({output(to)}))}));
  }
  /// So many that no other template takes them.
  void add_many() {
    port_no from = 1;
    for (const match& each : all_kinds()) {
      add(static_cast<std::uint16_t>(100 + from), each);
      std::vector<match_term> terms{exact(field::eth_dst, from), exact(field::in_port, from)};
      add(static_cast<std::uint16_t>(200 + from++), where(std::move(terms)));
    }
    ASSERT_EQ(kind(), table_template::classifier);
  }
  void send_all() {
    std::vector<packet> burst;
    for (const auto& frame : pipeline::test::frames()) {
      burst.push_back(pipeline::test::with_state(frame));
      burst.back().in_port = 1;
      if (burst.size() == executor::burst_max) in_.receive(std::exchange(burst, {}));
    }
    in_.receive(burst);
    in_.check_counters();
  }
  table_template kind() { return in_.bridge().compiler().form(0)->stage().kind; }

  checked_pipeline in_;
};

TEST_F(mixed_rules, are_compared_one_by_one) {
  const std::vector<match> all = all_kinds();
  ASSERT_GT(key_layout::of(all).n_words(), exact_store::words_max);
  // Each of them decides for some packet: the later ones are above the others.
  for (std::size_t i = 0; i < all.size(); ++i) {
    add(static_cast<std::uint16_t>(100 + i), all[i]);
    send_all();
  }
  EXPECT_EQ(kind(), table_template::direct);
}

TEST_F(mixed_rules, are_a_classifier_s) {
  add_many();
  send_all();
}

/// More than the keys of its subtables have: it is refused alone, by name, and the others stay.
TEST_F(mixed_rules, that_take_too_much_are_refused_in_a_classifier) {
  add_many();
  std::vector<match_term> terms;
  terms.push_back(exact(field::metadata, 1));
  terms.push_back(exact(field::tunnel_id, 1));
  for (unsigned i = 0; i < n_registers; ++i) terms.push_back(exact(reg(i), 1));
  for (const match_term& each :
       {ipv6(), proto(58), exact(field::icmpv6_type, 135), exact(field::nd_target, 1),
        exact(field::ipv6_src, 1), exact(field::ipv6_dst, 1), exact(field::eth_src, 1)}) {
    terms.push_back(each);
  }
  const auto asked = add_rule(0, 7, where(std::move(terms)), pipeline::test::apply({output(2)}));
  // The model of a test refuses nothing for want of room.
  of_result<change_list> done = in_.bridge().apply(asked, 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, of_error::flow_mod_table_full);
  EXPECT_NE(done.error().message().find("nd_target"), std::string::npos) << done.error().message();
  EXPECT_NE(done.error().message().find("16 words"), std::string::npos) << done.error().message();
  add(9, where({exact(field::eth_dst, 99)}));
  send_all();
}

// Red when the classifier of clauses has keys without a word.
TEST_F(mixed_rules, may_be_a_clause_that_takes_every_packet) {
  const auto clause = [](std::uint8_t number) {
    return pipeline::test::apply({act::conjunction{1, number, 2}});
  };
  ASSERT_TRUE(in_.apply({add_rule(0, 9, {}, clause(0))}));
  ASSERT_TRUE(in_.apply(
      {add_rule(0, 9, where({exact(field::in_port, 1)}), clause(1)),
       add_rule(0, 5, where({exact(field::conj_id, 1)}), pipeline::test::apply({output(2)}))}));
  send_all();
  EXPECT_GT(in_.n_conjunctions, 0U);
}

/// What rules ask of keys is kept from change to change, but not for ever.
TEST_F(mixed_rules, that_are_compared_have_short_keys_again_when_long_ones_are_gone) {
  const auto n_words = [this] {
    return in_.bridge().compiler().form(0)->stage().direct.load()->rows.n_words;
  };
  const auto remove = [this](std::uint16_t priority, const match& what) {
    rule_mod gone = add_rule(0, priority, what, {});
    gone.command = rule_command::remove_strict;
    ASSERT_TRUE(in_.apply({gone}));
    in_.receive({});
    in_.receive({});
  };
  const match wide = where({ipv6(), any_bit(field::ipv6_src), any_bit(field::ipv6_dst)});
  for (port_no port = 1; port <= 12; ++port)
    add(static_cast<std::uint16_t>(port), where({exact(field::in_port, port)}));
  ASSERT_EQ(n_words(), 1U);
  add(20, wide);
  const unsigned n_with_wide = n_words();
  EXPECT_GT(n_with_wide, 2U);
  send_all();
  remove(20, wide);
  EXPECT_EQ(n_words(), n_with_wide);
  send_all();
  for (port_no port = 12; port > 8; --port)
    remove(static_cast<std::uint16_t>(port), where({exact(field::in_port, port)}));
  EXPECT_EQ(n_words(), 1U);
  send_all();
  add(20, wide);
  EXPECT_EQ(n_words(), n_with_wide);
  send_all();
}

/// After as many additions of one priority as have ranks of their own.
TEST(many_additions, leave_one_of_two_rules_when_the_other_goes) {
  checked_pipeline in;
  const auto must = [&in](const std::vector<operation>& bundle) { ASSERT_TRUE(in.apply(bundle)); };
  for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
  const auto rule = [](field which, unsigned value, port_no port) {
    return add_rule(0, 10, where({exact(which, value)}), pipeline::test::apply({output(port)}));
  };
  must({add_rule(0, 1, {}, pipeline::test::apply({output(4)}))});
  const auto all = [&](rule_command command, unsigned n) {
    std::vector<operation> bundle;
    for (unsigned i = 1; i <= n; ++i) {
      rule_mod one = rule(i % 2 == 0 ? field::eth_dst : field::eth_src, i, 3);
      one.command = command;
      bundle.emplace_back(one);
    }
    return bundle;
  };
  must(all(rule_command::add, 20));
  ASSERT_EQ(in.bridge().compiler().form(0)->kind(), table_template::classifier);
  // As many as a counter of 16 bits has, but under a sanitizer.
  constexpr unsigned n_added = COUA_HAS_SHADOW ? 6'000 : 65'536;
  for (unsigned n = 0; n <= n_added; n += 2'000) {
    std::vector<operation> some;
    for (operation& each : all(rule_command::add, 2'020)) some.push_back(std::move(each));
    some.erase(some.begin(), some.begin() + 20);
    must(some);
    for (operation& each : some) std::get<rule_mod>(each).command = rule_command::remove_strict;
    must(some);
    in.receive({});
    in.receive({});
  }
  ASSERT_EQ(in.bridge().compiler().form(0)->kind(), table_template::classifier);
  packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
  one.bytes[0] = one.bytes[6] = 0;
  net::store_be32(&one.bytes[2], 77'777);
  net::store_be32(&one.bytes[8], 77'777);
  const rule_mod to = rule(field::eth_dst, 77'777, 2), from = rule(field::eth_src, 77'777, 3);
  for (const rule_mod& gone : {to, from}) {
    must({to, from});
    rule_mod going = gone;
    going.command = rule_command::remove_strict;
    must({going});
    EXPECT_NO_THROW(in.receive({one}));  // it is not buried yet
    in.receive({one});
  }
}

}  // namespace
}  // namespace coua::test
