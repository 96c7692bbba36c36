// SPDX-License-Identifier: Apache-2.0
//
// Action sets into which some bits of a field are written, by one rule or by several.
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

constexpr value128 low = 0x0000'0000'ffff, middle = 0x00ff'ffff'ff00;

act::set_field part(field which, value128 value, value128 mask) {
  return {which, value & mask, mask};
}

class written_parts : public ::testing::Test {
 protected:
  void SetUp() override {
    for (port_no i = 1; i <= 2; ++i) must({pipeline::test::add_port(i)});
  }
  void must(const std::vector<operation>& bundle) { ASSERT_TRUE(in_.apply(bundle)); }
  /// Each list by a table of its own, one after the other.
  void write(const std::vector<action_list>& lists) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      instructions then = pipeline::test::write(lists[i]);
      if (i + 1 < lists.size()) then.goto_table = static_cast<table_id>(i + 1);
      must({add_rule(static_cast<table_id>(i), 1, where({pipeline::test::ipv4()}), then)});
    }
  }
  void see() {
    std::vector<packet> burst;
    for (const auto& frame : pipeline::test::frames()) {
      burst.push_back(pipeline::test::from_port_1(frame));
      if (burst.size() == executor::burst_max) in_.receive(std::exchange(burst, {}));
    }
    in_.receive(burst);
    EXPECT_NE(in_.n_outputs, 0U);
  }

  checked_pipeline in_;
};

TEST_F(written_parts, of_one_list) {
  write({{part(field::eth_dst, 0x1111'2222'3333, low),
          part(field::eth_dst, 0x4444'5555'6666, middle), output(2)}});
  see();
}

TEST_F(written_parts, of_several_tables) {
  write({{part(field::eth_dst, 0x1111'2222'3333, low), output(2)},
         {part(field::eth_dst, 0x4444'5555'6666, middle), part(field::ipv4_dst, 5, 15)},
         {part(field::ipv4_dst, 0x0a000000, 0xff000000)}});
  see();
}

TEST_F(written_parts, before_and_after_the_whole) {
  write({{part(field::eth_dst, 0x1111'2222'3333, low), output(2)},
         {act::set(field::eth_dst, 0x0a0b'0c0d'0e0f)},
         {part(field::eth_dst, 0x4444'5555'6666, middle)}});
  see();
  write({{act::set(field::eth_dst, 0x0a0b'0c0d'0e0f), output(2)},
         {part(field::eth_dst, 0x4444'5555'6666, middle)},
         {act::set(field::eth_dst, 0x0102'0304'0506)}});
  see();
}

TEST_F(written_parts, before_and_after_a_move) {
  const act::move move{{field::eth_src, 0, 16}, {field::eth_dst, 0, 16}};
  write({{part(field::eth_dst, 0x1111'2222'3333, middle), output(2)},
         {move},
         {part(field::eth_dst, 0x4444'5555'6666, low)}});
  see();
  write({{move, output(2)}, {part(field::eth_dst, 0x1111'2222'3333, middle)}, {move}});
  see();
}

TEST_F(written_parts, of_a_field_of_128_bits) {
  const value128 high = value128{0xffff} << 96;
  const match ipv6 = where({pipeline::test::ipv6()});
  instructions first =
      pipeline::test::write({part(field::ipv6_dst, value128{0x2001} << 96, high), output(2)});
  first.goto_table = 1;
  must({add_rule(0, 1, ipv6, first),
        add_rule(1, 1, ipv6, pipeline::test::write({part(field::ipv6_dst, 9, 0xffff)}))});
  see();
}

/// With more tags than are followed, the label is only there when one of them is gone.
TEST_F(written_parts, that_take_away_a_label_and_then_a_tag) {
  instructions first = pipeline::test::apply({act::push_vlan{0x8100}});
  first.write = action_list{act::pop_mpls{0x0800}, output(2)};
  first.goto_table = 1;
  const match tagged = where({pipeline::test::tagged()});
  must({add_rule(0, 1, where({pipeline::test::mpls(), pipeline::test::tagged()}), first),
        add_rule(1, 1, tagged, pipeline::test::write({act::pop_vlan{}}))});
  see();
}

}  // namespace
}  // namespace coua::test
