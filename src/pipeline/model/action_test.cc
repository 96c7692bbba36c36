// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/action.h"

#include <gtest/gtest.h>

#include "pipeline/model/action_check.h"
#include "pipeline/model/action_set.h"
#include "pipeline/model/test_model.h"

namespace coua::pipeline {
namespace {

using test::ipv4;
using test::ipv6;
using test::mpls;
using test::tagged;
using test::where;

std::optional<of_error> check(const match& what, const action_list& list,
                              action_place place = action_place::rule) {
  packet_knowledge known(what);
  const auto good = check_actions(list, place, known, 3, [](group_id id) { return id == 1; });
  if (good) return std::nullopt;
  return good.error().code;
}
const std::optional<of_error> fine;

TEST(action_check, outputs_go_to_ports_and_where_packets_can_go) {
  for (const port_no to : {1U, port_max, port_local, port_in_port, port_normal, port_flood,
                           port_all, port_controller}) {
    EXPECT_EQ(check({}, {act::output{to}}), fine) << port_name(to);
  }
  for (const port_no to : {0U, port_any, port_table, port_max + 1}) {
    EXPECT_EQ(check({}, {act::output{to}}), of_error::bad_action_out_port) << port_name(to);
  }
  EXPECT_EQ(check({}, {act::output{port_table}}, action_place::packet_out), fine);
}

TEST(action_check, groups_must_exist) {
  EXPECT_EQ(check({}, {act::group{1}}), fine);
  EXPECT_EQ(check({}, {act::group{2}}), of_error::bad_action_out_group);
  EXPECT_EQ(check({}, {act::group{group_any}}), of_error::bad_action_out_group);
}

TEST(action_check, tags_have_the_types_of_the_specification) {
  EXPECT_EQ(check({}, {act::push_vlan{0x8100}}), fine);
  EXPECT_EQ(check({}, {act::push_vlan{0x88a8}}), fine);
  EXPECT_EQ(check({}, {act::push_vlan{0x9100}}), of_error::bad_action_argument);
  EXPECT_EQ(check({}, {act::push_mpls{0x8847}}), fine);
  EXPECT_EQ(check({}, {act::push_mpls{0x8848}}), fine);
  EXPECT_EQ(check({}, {act::push_mpls{0x0800}}), of_error::bad_action_argument);
  EXPECT_EQ(check(where({mpls()}), {act::pop_mpls{0x0800}}), fine);
  EXPECT_EQ(check(where({mpls()}), {act::pop_mpls{0x8100}}), of_error::bad_action_argument);
  EXPECT_EQ(check(where({mpls()}), {act::pop_mpls{46}}), of_error::bad_action_argument);
}

TEST(action_check, what_changes_must_be_known_to_be_there) {
  const struct {
    action one;
    match_term needed;
  } cases[] = {
      {act::pop_vlan{}, tagged()},
      {act::set(field::vlan_pcp, 1), tagged()},
      {act::set(field::vlan_vid, vlan_present | 1), tagged()},
      {act::pop_mpls{0x0800}, mpls()},
      {act::set(field::mpls_label, 1), mpls()},
      {act::set_mpls_ttl{1}, mpls()},
      {act::dec_mpls_ttl{}, mpls()},
      {act::copy_ttl_in{}, mpls()},
      {act::copy_ttl_out{}, mpls()},
      {act::set_ip_ttl{1}, ipv4()},
      {act::dec_ip_ttl{}, ipv6()},
      {act::set(field::ipv4_dst, 1), ipv4()},
      {act::set(field::ipv6_dst, 1), ipv6()},
      {act::set(field::arp_op, 1), exact(field::eth_type, 0x0806)},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(check(where({one.needed}), {one.one}), fine) << to_string(one.one);
    EXPECT_EQ(check({}, {one.one}), of_error::bad_action_match_inconsistent) << to_string(one.one);
    EXPECT_EQ(check({}, {one.one}, action_place::bucket), fine) << to_string(one.one);
  }
}

TEST(action_check, actions_before_count) {
  const action set_vid = act::set(field::vlan_vid, vlan_present | 7);
  EXPECT_EQ(check({}, {act::push_vlan{}, set_vid, act::pop_vlan{}}), fine);
  EXPECT_EQ(check(where({ipv4()}), {act::push_mpls{}, act::dec_ip_ttl{}}),
            of_error::bad_action_match_inconsistent);
  EXPECT_EQ(check(where({ipv4()}), {act::push_mpls{}, act::dec_mpls_ttl{}}), fine);
  EXPECT_EQ(check(where({mpls()}), {act::pop_mpls{0x0800}, act::dec_ip_ttl{}}), fine);
  // What is above IP is not known after labels have gone.
  EXPECT_EQ(check(where({mpls()}), {act::pop_mpls{0x0800}, act::set(field::tcp_dst, 1)}),
            of_error::bad_action_match_inconsistent);
  // Two tags may be there.
  EXPECT_EQ(check(where({tagged()}), {act::pop_vlan{}, act::pop_vlan{}}), fine);
  const match solicitation =
      where({ipv6(), exact(field::ip_proto, 58), exact(field::icmpv6_type, 135)});
  EXPECT_EQ(check(solicitation, {act::set(field::icmpv6_type, 136), act::set(field::nd_tll, 1)}),
            fine);
  EXPECT_EQ(check(solicitation, {act::set(field::icmpv6_type, 136), act::set(field::nd_sll, 1)}),
            of_error::bad_action_match_inconsistent);
}

TEST(action_check, fields_are_written_only_where_that_makes_sense) {
  for (const field which : {field::in_port, field::in_phy_port, field::metadata, field::eth_type,
                            field::ip_proto, field::mpls_bos, field::tcp_flags}) {
    EXPECT_EQ(check({}, {act::set(which, 0)}), of_error::bad_action_set_type) << info(which).name;
  }
  EXPECT_EQ(check({}, {act::set(field::eth_dst, value128{1} << 48)}),
            of_error::bad_action_set_argument);
  EXPECT_EQ(check({}, {act::set_field{field::eth_dst, 3, 1}}), of_error::bad_action_set_argument);
  EXPECT_EQ(check({}, {act::set_field{field::eth_dst, 1, 3}}), fine);
  EXPECT_EQ(check({}, {act::set_field{field::reg0, 0, 0}}), of_error::bad_action_set_argument);
  EXPECT_EQ(check(where({tagged()}), {act::set(field::vlan_vid, 7)}),
            of_error::bad_action_set_argument);
}

TEST(action_check, moves_are_of_bits_that_are_there_to_bits_that_can_be_written) {
  const field_bits whole = {field::reg0, 0, 32}, low = {field::reg1, 0, 16};
  EXPECT_EQ(check({}, {act::move{whole, {field::reg5, 0, 32}}}), fine);
  EXPECT_EQ(check({}, {act::move{low, {field::metadata, 48, 16}}}), fine);
  EXPECT_EQ(check({}, {act::move{{field::in_port, 0, 16}, low}}), fine);
  EXPECT_EQ(check({}, {act::move{whole, low}}), of_error::bad_action_set_argument);
  EXPECT_EQ(check({}, {act::move{{field::reg0, 17, 16}, low}}), of_error::bad_action_set_argument);
  EXPECT_EQ(check({}, {act::move{{field::reg0, 0, 0}, {field::reg1, 0, 0}}}),
            of_error::bad_action_set_argument);
  EXPECT_EQ(check({}, {act::move{low, {field::eth_type, 0, 16}}}), of_error::bad_action_set_type);
  EXPECT_EQ(check({}, {act::move{low, {field::in_port, 0, 16}}}), of_error::bad_action_set_type);
  const action from_ip = act::move{{field::ipv4_src, 0, 32}, whole};
  const action to_ip = act::move{whole, {field::ipv4_src, 0, 32}};
  const action to_vid = act::move{{field::reg0, 0, 12}, {field::vlan_vid, 0, 12}};
  for (const action& one : {from_ip, to_ip, to_vid}) {
    EXPECT_EQ(check({}, {one}), of_error::bad_action_match_inconsistent) << to_string(one);
    EXPECT_EQ(check({}, {one}, action_place::bucket), fine);
  }
  EXPECT_EQ(check(where({ipv4()}), {from_ip, to_ip}), fine);
  EXPECT_EQ(check(where({tagged()}), {to_vid}), fine);
  EXPECT_EQ(check(where({tagged()}), {act::move{{field::reg0, 0, 13}, {field::vlan_vid, 0, 13}}}),
            of_error::bad_action_set_argument);
}

TEST(action_check, a_port_may_be_read_from_a_field) {
  EXPECT_EQ(check({}, {act::output_bits{{field::reg0, 0, 32}}}), fine);
  EXPECT_EQ(check({}, {act::output_bits{{field::reg0, 1, 32}}}), of_error::bad_action_set_argument);
  EXPECT_EQ(check({}, {act::output_bits{{field::tcp_dst, 0, 16}}}),
            of_error::bad_action_match_inconsistent);
}

TEST(action_check, resubmits_go_to_tables_that_are_there) {
  EXPECT_EQ(check({}, {act::resubmit{port_in_port, 2}}), fine);
  EXPECT_EQ(check({}, {act::resubmit{7, {}}}), fine);
  EXPECT_EQ(check({}, {act::resubmit{port_in_port, 3}}), of_error::bad_action_argument);
  EXPECT_EQ(check({}, {act::resubmit{port_flood, 2}}), of_error::bad_action_argument);
  EXPECT_EQ(check({}, {act::resubmit{port_in_port, 2}}, action_place::write_actions),
            of_error::bad_action_type);
  EXPECT_EQ(check({}, {act::resubmit{port_in_port, 2}}, action_place::bucket), fine);
  EXPECT_EQ(check({}, {act::resubmit{port_in_port, 2}}, action_place::packet_out), fine);
}

TEST(action_check, a_conjunction_has_2_to_64_clauses_and_is_of_rules) {
  EXPECT_EQ(check({}, {act::conjunction{1, 0, 2}, act::conjunction{2, 63, 64}}), fine);
  EXPECT_EQ(check({}, {act::conjunction{1, 0, 1}}), of_error::nicira_bad_conjunction);
  EXPECT_EQ(check({}, {act::conjunction{1, 0, 65}}), of_error::nicira_bad_conjunction);
  EXPECT_EQ(check({}, {act::conjunction{1, 2, 2}}), of_error::nicira_bad_conjunction);
  for (const action_place place :
       {action_place::write_actions, action_place::bucket, action_place::packet_out}) {
    EXPECT_EQ(check({}, {act::conjunction{1, 0, 2}}, place), of_error::bad_action_type);
  }
}

TEST(action_set, a_resubmit_hides_the_output_and_a_group_hides_it) {
  const action again = act::resubmit{port_in_port, 2};
  EXPECT_EQ(action_set(action_list{act::output{1}, again}).ordered(), (action_list{again}));
  EXPECT_EQ(action_set(action_list{again, act::group{1}}).ordered(), (action_list{act::group{1}}));
}

TEST(action, a_number_is_a_port_as_openflow_1_0_has_it) {
  EXPECT_EQ(port_of_bits(7), 7U);
  EXPECT_EQ(port_of_bits(0xfeff), 0xfeffU);
  EXPECT_EQ(port_of_bits(0xfff8), port_in_port);
  EXPECT_EQ(port_of_bits(0xfffd), port_controller);
  EXPECT_EQ(port_of_bits(0xfffe), port_local);
  for (const unsigned none : {0xff00U, 0xfff9U, 0xffffU, 0x10000U, 0xffff'fffdU}) {
    EXPECT_EQ(port_of_bits(none), std::nullopt) << none;
  }
}

// OpenFlow 1.3.5, section 5.10.
TEST(action_set, runs_in_the_order_of_the_specification) {
  action_set set;
  const action_list written = {
      act::output{1},      act::set_queue{3},    act::set(field::eth_dst, 1),
      act::dec_mpls_ttl{}, act::copy_ttl_out{},  act::push_vlan{},
      act::push_mpls{},    act::pop_mpls{0x800}, act::pop_vlan{},
      act::copy_ttl_in{}};
  set.write(written);
  const action_list order = {
      act::copy_ttl_in{}, act::pop_vlan{},     act::pop_mpls{0x800}, act::push_mpls{},
      act::push_vlan{},   act::copy_ttl_out{}, act::dec_mpls_ttl{},  act::set(field::eth_dst, 1),
      act::set_queue{3},  act::output{1}};
  EXPECT_EQ(set.ordered(), order);
}

TEST(action_set, holds_one_of_a_kind_the_last_written) {
  action_set set;
  set.write(action_list{act::set(field::eth_dst, 1), act::set(field::eth_src, 2),
                        act::set(field::eth_dst, 3), act::output{1}, act::output{2}});
  EXPECT_EQ(set.ordered(), (action_list{act::set(field::eth_dst, 3), act::set(field::eth_src, 2),
                                        act::output{2}}));
  const act::move move = {{field::reg0, 0, 32}, {field::reg1, 0, 32}};
  set.write(action_list{move, act::output_bits{{field::reg1, 0, 32}}});
  EXPECT_EQ(set.ordered(), (action_list{act::set(field::eth_dst, 3), act::set(field::eth_src, 2),
                                        move, act::output_bits{{field::reg1, 0, 32}}}));
  set.write(act::set(field::reg1, 7));
  EXPECT_EQ(set.ordered()[2], action(act::set(field::reg1, 7)));
  set.clear();
  EXPECT_TRUE(set.ordered().empty());
}

TEST(action_set, joins_parts_of_one_field) {
  constexpr value128 low = 0xffff, middle = 0x00ff'ffff'ff00;
  const auto part = [](value128 value, value128 mask) {
    return act::set_field{field::eth_dst, value & mask, mask};
  };
  action_set set;
  set.write(part(0x1111'2222'3333, low));
  set.write(part(0x4444'5555'6666, middle));
  EXPECT_EQ(set.ordered(), action_list{part(0x4444'5555'6633, low | middle)});
  set.write(act::set(field::eth_dst, 7));
  EXPECT_EQ(set.ordered(), action_list{act::set(field::eth_dst, 7)});
  set.write(part(0xffff'0000'0000, 0xff00'0000'0000));
  EXPECT_EQ(set.ordered(), action_list{act::set(field::eth_dst, 0xff00'0000'0007)});
}

TEST(action_set, a_group_hides_the_output) {
  action_set set(action_list{act::output{1}, act::group{9}});
  EXPECT_EQ(set.ordered(), (action_list{act::group{9}}));
}

TEST(action, reads_like_ovs_ofctl) {
  EXPECT_EQ(to_string(action_list{act::push_vlan{}, act::set(field::vlan_vid, 0x1001),
                                  act::output{2}, act::output{port_controller, 128}}),
            "push_vlan:0x8100,set_field:0x1001->vlan_vid,output:2,CONTROLLER:128");
  EXPECT_EQ(to_string(action_list{}), "drop");
  instructions all = test::apply({act::output{1}});
  all.meter = 4;
  all.clear_actions = true;
  all.write = action_list{act::group{1}};
  all.metadata = metadata_write{1, 3};
  all.goto_table = 9;
  EXPECT_EQ(to_string(all),
            "meter:4,output:1,clear_actions,write_actions(group:1),write_metadata:0x1/0x3,"
            "goto_table:9");
}

}  // namespace
}  // namespace coua::pipeline
