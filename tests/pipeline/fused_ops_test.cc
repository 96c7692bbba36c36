// SPDX-License-Identifier: Apache-2.0
//
// Every row of fused_ops.h, through the compiled datapath and the oracle.
#include "pipeline/datapath/fused_ops.h"

#include <gtest/gtest.h>

#include "checked_pipeline.h"
#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::add_rule;
using pipeline::test::output;
using pipeline::test::where;

TEST(fuse, marks_the_longest_row_from_the_first_op_on) {
  for (std::size_t i = 0; i < fused::n; ++i) {
    const fused_ops& row = fused::all[i];
    std::vector<action_step> steps(row.steps, row.steps + row.n);
    steps.insert(steps.begin(), {op_code::metadata});
    steps.push_back({op_code::normal});
    fuse(steps);
    for (std::size_t at = 0; at < steps.size(); ++at) {
      EXPECT_EQ(steps[at].fused, at == 1 ? i + 1 : 0) << "row " << i << ", op " << at;
    }
  }
}

constexpr std::uint64_t one_mac = 0x0242'4344'4546, other_mac = 0x0657'5859'5a5b;

action action_of(const action_step& step, port_no to) {
  switch (step.code) {
    case op_code::output: return output(to);
    case op_code::push_vlan: return act::push_vlan{};
    case op_code::pop_vlan: return act::pop_vlan{};
    case op_code::dec_ip_ttl: return act::dec_ip_ttl{};
    default: break;
  }
  const auto which = static_cast<field>(step.field);
  if (which == field::vlan_vid) return act::set(which, vlan_present | 0x123U);
  if (which == field::eth_src) return act::set(which, one_mac);
  if (which == field::eth_dst) return act::set(which, other_mac);
  return act::set(which, 0x0a09'0807);
}

/// `source_first`: of two addresses that are written at once.
action_list actions_of(const fused_ops& row, port_no to, bool source_first) {
  action_list made;
  for (std::size_t i = 0; i < row.n; ++i) {
    if (row.steps[i].code != op_code::set_macs) {
      made.push_back(action_of(row.steps[i], to));
      continue;
    }
    made.push_back(act::set(field::eth_dst, other_mac));
    made.insert(made.end() - (source_first ? 1 : 0), act::set(field::eth_src, one_mac));
  }
  return made;
}

std::vector<packet> packets() {
  std::vector<packet> made;
  for (const auto& frame : pipeline::test::frames()) {
    made.push_back(pipeline::test::from_port_1(frame));
    constexpr std::size_t ttl = 22;
    for (const std::uint8_t left : {0, 1}) {
      if (frame.size() <= ttl) continue;
      made.push_back(made.back());
      made.back().bytes[ttl] = left;
    }
  }
  return made;
}

/// One rule whose actions are these, for the packets that it may be for, one kind after another.
unsigned compare(checked_pipeline& in, const action_list& list, bool goes_on) {
  const match matches[] = {{},
                           where({pipeline::test::ipv4()}),
                           where({pipeline::test::ipv6()}),
                           where({pipeline::test::tagged()}),
                           where({pipeline::test::tagged(), pipeline::test::ipv4()})};
  unsigned n_taken = 0;
  for (const match& what : matches) {
    instructions then = pipeline::test::apply(list);
    if (goes_on) then.goto_table = 1;
    if (!in.apply({pipeline::test::change_rules(rule_command::remove, 0, 0, {}),
                   add_rule(0, 1, what, then)})) {
      continue;
    }
    ++n_taken;
    const std::vector<packet> all = packets();
    for (std::size_t at = 0; at < all.size(); at += executor::burst_max) {
      const std::size_t n = std::min<std::size_t>(executor::burst_max, all.size() - at);
      in.receive({all.begin() + static_cast<std::ptrdiff_t>(at),
                  all.begin() + static_cast<std::ptrdiff_t>(at + n)});
    }
    in.check_counters();
  }
  return n_taken;
}

class fused_row : public ::testing::TestWithParam<std::size_t> {};

TEST_P(fused_row, does_what_the_oracle_does) {
  const fused_ops& row = fused::all[GetParam()];
  checked_pipeline in;
  for (port_no i = 1; i <= 3; ++i) ASSERT_TRUE(in.apply({pipeline::test::add_port(i)}));
  ASSERT_TRUE(in.apply({add_rule(1, 1, {}, pipeline::test::apply({output(3)}))}));
  for (const port_no to : {1, 2, 9}) {  // where it came from, another one, and none
    for (const bool source_first : {false, true}) {
      action_list list = actions_of(row, to, source_first);
      EXPECT_GT(compare(in, list, false), 0U);
      EXPECT_GT(compare(in, list, true), 0U);
      // Behind an output, which keeps the frame as it was, and before one that gets a copy.
      list.insert(list.begin(), output(3));
      list.push_back(output(3));
      EXPECT_GT(compare(in, list, false), 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, fused_row, ::testing::Range(std::size_t{0}, fused::n));

}  // namespace
}  // namespace coua::test
