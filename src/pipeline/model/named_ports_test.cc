// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/named_ports.h"

#include <gtest/gtest.h>

#include "pipeline/model/operation.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using namespace test;
using ports = std::set<port_no>;
using part = act::learn::part;

ports named(const match& what, const instructions& then) {
  return named_ports(to_rule(add_rule(0, 1, what, then)));
}

TEST(named_ports, of_a_rule_are_those_that_it_matches_and_sends_to) {
  EXPECT_EQ(named({}, {}), ports());
  EXPECT_EQ(named(where({exact(field::in_port, 7)}), apply({output(8), output(7)})), (ports{7, 8}));
  EXPECT_EQ(named({}, write({output(0xf0000001)})), (ports{0xf0000001}));
  EXPECT_EQ(named({}, apply({act::resubmit{9, 2}, act::set(field::in_port, 10)})), (ports{9, 10}));
  EXPECT_EQ(named({}, apply({act::set(field::eth_dst, 5), act::set(field::metadata, 6)})), ports());
}

TEST(named_ports, ways_to_say_where_to_are_no_ports) {
  for (const port_no way :
       {port_in_port, port_normal, port_flood, port_all, port_controller, port_local})
    EXPECT_EQ(named(where({exact(field::in_port, port_local)}), apply({output(way)})), ports())
        << way;
}

TEST(named_ports, of_a_rule_that_learns_are_the_constants_of_its_rules) {
  act::learn how;
  how.parts = {{part::role::match, {}, 3, {field::in_port, 0, 16}},
               {part::role::load, {}, 4, {field::in_port, 0, 32}},
               {part::role::load, {}, 5, {field::reg0, 0, 32}},
               {part::role::match, field_bits{field::in_port, 0, 16}, 0, {field::in_port, 0, 16}},
               {part::role::output, {}, 6, {}},
               {part::role::output, {}, 0xfffd, {}},
               {part::role::output, field_bits{field::in_port, 0, 16}, 0, {}}};
  EXPECT_EQ(named({}, apply({how})), (ports{3, 4, 6}));
}

TEST(named_ports, of_a_group_are_those_of_its_buckets_and_those_that_these_watch) {
  const group one = {.id = 1,
                     .type = group_type::fast_failover,
                     .buckets = {to({output(2)}, 0, 3), to({act::group{5}}, 0, port_any)}};
  EXPECT_EQ(named_ports(one), (ports{2, 3}));
}

}  // namespace
}  // namespace coua::pipeline
