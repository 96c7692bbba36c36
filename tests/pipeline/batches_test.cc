// SPDX-License-Identifier: Apache-2.0
//
// Packets of one burst at several tables whose rules are in one place: they are looked up together,
// find what their own table has, and are counted there.
#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "net/headers.h"
#include "net/wire.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
using pipeline::test::add_rule;
using pipeline::test::go;
using pipeline::test::output;
using pipeline::test::where;

// Far apart: their bits among all tables are in different words.
constexpr table_id low = 1, middle = 70, high = 200;
constexpr unsigned n_rules = 20;  // more than a direct table takes
constexpr unsigned n_values = n_rules + 4;

/// Tells values apart; `which` of a packet may be one that no rule has.
struct kind {
  table_template wanted;
  match (*rule)(unsigned which);
  std::uint16_t (*priority)(unsigned which);
  void (*make)(packet& one, unsigned which);
};
unsigned prefix_length(unsigned which) { return 16 + which % 9; }

constexpr std::uint64_t first_mac = 0x0200'0000'0000;
const kind exact_kind = {
    table_template::exact,
    [](unsigned which) { return where({exact(field::eth_dst, first_mac + which)}); },
    [](unsigned) { return std::uint16_t{10}; },
    [](packet& one, unsigned which) { net::store_mac(one.bytes.data(), first_mac + which); }};
const kind lpm_kind = {
    table_template::lpm,
    [](unsigned which) {
      const std::uint32_t mask = ~std::uint32_t{0} << (32 - prefix_length(which));
      return where(
          {pipeline::test::ipv4(), {field::ipv4_dst, (0x0a00'0000U | which << 16) & mask, mask}});
    },
    [](unsigned which) { return static_cast<std::uint16_t>(prefix_length(which)); },
    [](packet& one, unsigned which) {
      net::store_be32(one.bytes.data() + net::ethernet_header_bytes + net::wire::ipv4::destination,
                      0x0a00'0000U | which << 16);
    }};

class batches : public ::testing::TestWithParam<const kind*> {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 5; ++i) must({pipeline::test::add_port(i)});
    must({add_rule(0, 5, where({exact(field::in_port, 1)}), go(low)),
          add_rule(0, 5, where({exact(field::in_port, 2)}), go(middle)),
          add_rule(0, 5, where({exact(field::in_port, 3)}), go(high))});
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  /// Rules from `first` on.
  void fill(table_id table, unsigned first, const instructions& then) {
    std::vector<operation> bundle;
    for (unsigned i = 0; i < n_rules; ++i)
      bundle.emplace_back(
          add_rule(table, GetParam()->priority(first + i), GetParam()->rule(first + i), then));
    must(bundle);
    ASSERT_EQ(in_.bridge().compiler().form(table)->stage().kind, GetParam()->wanted);
  }
  void send(const std::vector<port_no>& from) {
    std::vector<packet> burst;
    for (unsigned i = 0; i < executor::burst_max; ++i) {
      packet one = pipeline::test::from_port_1(pipeline::test::frames()[3]);
      one.in_port = from[i % from.size()];
      GetParam()->make(one, i * n_values / executor::burst_max);
      burst.push_back(std::move(one));
    }
    in_.receive(burst);
    in_.check_counters();
  }

  checked_pipeline in_{1 << 16, {}, n_tables_max};
};

TEST_P(batches, are_of_tables_that_say_other_things) {
  fill(low, 0, pipeline::test::apply({output(4)}));
  fill(middle, 2, pipeline::test::apply({output(5)}));
  fill(high, 4, pipeline::test::apply({output(4), output(5)}));
  // All of one table, which need not be the first; and mixed, in a row and not.
  for (const std::vector<port_no>& from :
       {std::vector<port_no>{1}, {2}, {3}, {1, 2, 3}, {3, 4, 2, 4}, {2, 4, 4}}) {
    send(from);
  }
}

// Red when tables before the one that was just done are not looked at again.
TEST_P(batches, are_not_left_behind_by_a_way_upwards) {
  fill(low, 0, pipeline::test::apply({output(4)}));
  fill(high, 1, pipeline::test::apply({output(5)}));
  // In no batch: a direct table.
  must({add_rule(middle, 1, {}, go(high))});
  for (const std::vector<port_no>& from : {std::vector<port_no>{2}, {1, 2}, {3, 2, 1}}) send(from);
}

// Red when prefixes of both families are one batch.
TEST(batch, is_of_one_family_of_addresses) {
  checked_pipeline in;
  std::vector<operation> bundle;
  for (port_no i = 1; i <= 3; ++i) bundle.emplace_back(pipeline::test::add_port(i));
  for (port_no i = 1; i <= 2; ++i)
    bundle.emplace_back(
        add_rule(0, 5, where({exact(field::in_port, i)}), go(static_cast<table_id>(i))));
  for (unsigned i = 0; i < n_rules; ++i) {
    const unsigned length = prefix_length(i);
    const auto priority = static_cast<std::uint16_t>(length);
    bundle.emplace_back(
        add_rule(1, priority, lpm_kind.rule(i), pipeline::test::apply({output(3)})));
    const value128 mask = ~value128{0} << (128 - length);
    bundle.emplace_back(add_rule(
        2, priority,
        where({pipeline::test::ipv6(), {field::ipv6_dst, value128{i} << 112 & mask, mask}}),
        pipeline::test::apply({output(i % 2 == 0 ? port_no{3} : port_no{1})})));
  }
  ASSERT_TRUE(in.apply(bundle));
  for (const table_id each : {table_id{1}, table_id{2}})
    ASSERT_EQ(in.bridge().compiler().form(each)->stage().kind, table_template::lpm);
  std::vector<packet> burst;
  for (const auto& frame : pipeline::test::frames()) {
    if (frame.size() < net::ethernet_header_bytes + net::wire::ipv6::header_bytes) continue;
    const bool is_ipv6 = net::load_be16(frame.data() + 12) == net::ethertype_ipv6;
    packet one = pipeline::test::from_port_1(frame);
    one.in_port = is_ipv6 ? 2 : 1;
    if (is_ipv6) {
      net::store_be16(one.bytes.data() + net::ethernet_header_bytes + net::wire::ipv6::destination,
                      static_cast<std::uint16_t>(burst.size() % n_values));
    }
    burst.push_back(std::move(one));
    if (burst.size() == executor::burst_max) break;
  }
  in.receive(burst);
  in.check_counters();
  EXPECT_GT(in.n_outputs, 0U);
}

INSTANTIATE_TEST_SUITE_P(in, batches, ::testing::Values(&exact_kind, &lpm_kind),
                         [](const auto& made) {
                           return made.param == &exact_kind ? "exact" : "lpm";
                         });

}  // namespace
}  // namespace coua::test
