// SPDX-License-Identifier: Apache-2.0
//
// Packets that have the Ethernet type of IP and no address, as their header is cut off or damaged:
// rules that name the type alone are for them, too, also where the table is one of prefixes. Beside
// the oracle.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "net/ethernet.h"
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

constexpr std::size_t header = net::ethernet_header_bytes;

struct kind {
  const char* name;
  bool is_v6;
  bool asks_port;  // of all rules
};
void PrintTo(const kind& one, std::ostream* out) { *out << one.name; }

class cut_headers : public ::testing::TestWithParam<kind> {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 4; ++i) must({pipeline::test::add_port(i)});
    must({rule({}, 100, 2)});
    for (unsigned i = 0; i < 20; ++i) {
      const unsigned length = 8 + i % 3 * 8;
      const value128 mask = ones(n_bits()) & ~ones(n_bits() - length);
      const value128 address = value128{i} << (n_bits() - 8);
      must({rule({{address_field(), address & mask, mask}},
                 static_cast<std::uint16_t>(100 + length), 3)});
    }
    ASSERT_EQ(in_.bridge().compiler().form(0)->kind(), table_template::lpm);
  }
  static unsigned n_bits() { return GetParam().is_v6 ? 128 : 32; }
  static field address_field() { return GetParam().is_v6 ? field::ipv6_dst : field::ipv4_dst; }
  static rule_mod rule(std::vector<match_term> terms, std::uint16_t priority, port_no to) {
    terms.push_back(GetParam().is_v6 ? ipv6() : ipv4());
    if (GetParam().asks_port) terms.push_back(exact(field::in_port, 1));
    return add_rule(0, priority, where(std::move(terms)), pipeline::test::apply({output(to)}));
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  void see(const std::vector<packet>& burst) {
    in_.receive(burst);
    in_.check_counters();
  }

  /// Of one type, whole and not.
  static std::vector<packet> packets(std::uint16_t type) {
    packet whole;
    for (const pipeline::test::bytes& frame : pipeline::test::frames()) {
      if (net::load_be16(frame.data() + 12) == type && whole.bytes.size() < frame.size())
        whole = pipeline::test::from_port_1(frame);
    }
    std::vector<packet> made{whole};
    for (std::size_t n = header; n < header + 42 && n < whole.bytes.size(); n += 3) {
      packet cut = whole;
      cut.bytes.resize(n);
      made.push_back(cut);
    }
    packet damaged = whole;
    damaged.bytes[header] = 0x10;  // the version
    made.push_back(damaged);
    damaged.in_port = 2;
    made.push_back(damaged);
    return made;
  }
  static std::vector<packet> all() {
    std::vector<packet> made;
    for (const std::uint16_t type :
         {net::ethertype_ipv4, net::ethertype_ipv6, net::ethertype_arp}) {
      for (packet& one : packets(type)) made.push_back(std::move(one));
    }
    return made;
  }

  checked_pipeline in_;
};

TEST_P(cut_headers, rules_of_the_type_alone_are_met) {
  for (const packet& one : all()) see({one});
  EXPECT_GT(in_.n_outputs, 10U);
  std::vector<packet> burst = all();
  burst.resize(std::min<std::size_t>(burst.size(), executor::burst_max));
  see(burst);
  std::reverse(burst.begin(), burst.end());
  see(burst);
  must({pipeline::test::change_rules(rule_command::remove_strict, 0, 100, rule({}, 0, 0).match)});
  see(burst);
  must({add_rule(0, 1, {}, pipeline::test::apply({output(4)}))});
  see(burst);
  in_.check_nothing_stays();
}

/// One of them is looked up for all, if none is of another type.
TEST_P(cut_headers, in_trains) {
  const std::vector<packet> some = all();
  for (const packet& one : some) {
    std::vector<packet> train(executor::burst_max, one);
    see(train);
    for (std::size_t i = 0; i < some.size(); i += 5) {
      train[7] = some[i];
      see(train);
    }
  }
  in_.check_nothing_stays();
}

/// Headers that are not there are alike, whatever the type.
TEST_P(cut_headers, a_train_of_two_types_is_none) {
  for (const std::uint16_t type : {net::ethertype_ipv4, net::ethertype_ipv6}) {
    packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
    one.bytes.resize(header + 2);
    net::store_be16(one.bytes.data() + 12, type);
    packet other = one;
    net::store_be16(other.bytes.data() + 12, 0x9999);
    std::vector<packet> train(executor::burst_max, one);
    train[9] = other;
    see(train);
    std::fill(train.begin(), train.end(), other);
    train[9] = one;
    see(train);
  }
}

INSTANTIATE_TEST_SUITE_P(all, cut_headers,
                         ::testing::Values(kind{"ipv4", false, false}, kind{"ipv6", true, false},
                                           kind{"ipv4_and_port", false, true},
                                           kind{"ipv6_and_port", true, true}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace coua::test
