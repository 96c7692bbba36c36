// SPDX-License-Identifier: Apache-2.0
//
// Values at the edge of what fits, in all places of all texts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/packet_text.h"
#include "ctl/ofp/test_flow_text.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;
using pipeline::rule_command;
using test::read_actions;
using test::read_match;
using test::read_rule;

struct number_field {
  const char* match;
  const char* name;
  unsigned bits;
  bool takes_mask;
  bool is_set;  // by set_field
};
constexpr number_field number_fields[] = {
    {"", "metadata", 64, true, false},
    {"", "tun_id", 64, true, true},
    {"", "tunnel_id", 64, true, true},
    {"", "reg0", 32, true, true},
    {"", "reg15", 32, true, true},
    {"", "xreg0", 64, true, true},
    {"", "xxreg0", 128, true, true},
    {"", "conj_id", 32, false, false},
    {"", "dl_type", 16, false, false},
    {"", "eth_type", 16, false, false},
    {"", "vlan_tci", 16, true, false},
    {"", "dl_vlan", 12, false, false},
    {"", "dl_vlan_pcp", 3, false, false},
    {"", "vlan_vid", 13, true, false},
    {"dl_vlan=5,", "vlan_pcp", 3, false, true},
    {"mpls,", "mpls_label", 20, false, true},
    {"mpls,", "mpls_tc", 3, false, true},
    {"mpls,", "mpls_bos", 1, false, false},
    {"mpls,", "mpls_ttl", 8, false, true},
    {"ip,", "nw_proto", 8, false, false},
    {"ipv6,", "ip_proto", 8, false, false},
    {"ip,", "nw_tos", 8, false, false},
    {"ip,", "ip_dscp", 6, false, true},
    {"ip,", "nw_ecn", 2, false, true},
    {"ip,", "ip_ecn", 2, false, true},
    {"ip,", "nw_ttl", 8, false, true},
    {"ipv6,", "ipv6_label", 20, true, true},
    {"arp,", "arp_op", 8, false, false},
    {"tcp,", "tp_src", 16, true, true},
    {"tcp,", "tcp_dst", 16, true, true},
    {"tcp,", "tcp_flags", 12, true, false},
    {"udp,", "tp_dst", 16, true, false},
    {"udp6,", "udp_src", 16, true, true},
    {"sctp,", "sctp_dst", 16, true, true},
    {"icmp,", "icmp_type", 8, false, true},
    {"icmp,", "icmp_code", 8, false, true},
    {"icmp6,", "icmpv6_type", 8, false, false},
    {"icmp6,", "icmpv6_code", 8, false, false},
};

/// 2^bits, or one less.
std::string power(unsigned bits) {
  return "0x" + std::string(1, "1248"[bits % 4]) + std::string(bits / 4, '0');
}
std::string below_power(unsigned bits) {
  return "0x" + std::string(1, "0137"[bits % 4]) + std::string(bits / 4, 'f');
}

bool is_refused(const std::string& said, const std::string& name) {
  return said.starts_with("error: " + name + ": ") &&
         said.find(" is not a number from 0 to ") != std::string::npos;
}

TEST(value_text, fits_its_field) {
  for (const number_field& of : number_fields) {
    const std::string before = std::string(of.match) + of.name + "=";
    const std::string last = of.name == std::string("vlan_vid") ? "0x1fff" : below_power(of.bits);
    const std::string taken = read_match(before + last);
    EXPECT_FALSE(taken.starts_with("error: ")) << before << last << " " << taken;
    for (const std::string& wrong :
         {power(of.bits), std::string("-1"), "0x" + std::string(40, 'f'), std::string("+1"),
          std::string("18446744073709551616"
                      "18446744073709551616"),
          std::string("0x"), last + "/" + power(of.bits)}) {
      const std::string said = read_match(before + wrong);
      // "+1" and "-1" are flags, if not of TCP.
      const bool is_flags = of.name == std::string("tcp_flags") && std::isdigit(wrong[0]) == 0;
      EXPECT_TRUE(is_flags ? said.starts_with("error: ") : is_refused(said, of.name))
          << before << wrong << " " << said;
    }
  }
}

TEST(value_text, fits_the_field_that_an_action_sets) {
  for (const number_field& of : number_fields) {
    if (!of.is_set) continue;
    const std::string to = std::string("->") + of.name;
    EXPECT_FALSE(
        read_actions("set_field:" + below_power(of.bits) + to, of.match).starts_with("error: "))
        << to;
    for (const std::string& wrong : {power(of.bits), std::string("-1"), std::string("1x")}) {
      EXPECT_TRUE(is_refused(read_actions("set_field:" + wrong + to, of.match), of.name)) << to;
      EXPECT_TRUE(is_refused(read_actions("load:" + wrong + to + "[]", of.match),
                             std::string(of.name) + "[]"))
          << to;
      EXPECT_TRUE(is_refused(read_actions("learn(load:" + wrong + to + "[])", of.match),
                             std::string(of.name) + "[]"))
          << to;
    }
    EXPECT_TRUE(is_refused(
        read_actions(std::string("learn(") + of.name + "=" + power(of.bits) + ")", of.match),
        of.name))
        << to;
  }
}

TEST(value_text, is_an_address) {
  const struct {
    const char* said;
    const char* meant;
  } cases[] = {
      {"ip,nw_src=300.0.0.0",
       "nw_src: \"300.0.0.0\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"ip,nw_src=-1.2.3.4",
       "nw_src: \"-1.2.3.4\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"ip,nw_dst=1.2.3", "nw_dst: \"1.2.3\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"ip,nw_dst=1.2.3.4.5",
       "nw_dst: \"1.2.3.4.5\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"ip,nw_dst=1.2.3.4/33",
       "nw_dst: the mask \"33\" is not an IPv4 address (four numbers from 0 to 255), nor a number "
       "from 0 to 32"},
      {"ip,nw_dst=1.2.3.4/4294967304",
       "nw_dst: the mask \"4294967304\" is not an IPv4 address (four numbers from 0 to 255), nor a "
       "number from 0 to 32"},
      {"ip,nw_dst=1.2.3.4/300.0.0.0",
       "nw_dst: the mask \"300.0.0.0\" is not an IPv4 address (four numbers from 0 to 255), nor a "
       "number from 0 to 32"},
      {"arp,arp_spa=4294967297.0.0.1",
       "arp_spa: \"4294967297.0.0.1\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"ipv6,ipv6_src=fe80::12345", "ipv6_src: \"fe80::12345\" is not an IPv6 address"},
      {"ipv6,ipv6_src=fe80::1/129",
       "ipv6_src: the mask \"129\" is not an IPv6 address, nor a number from 0 to 128"},
      {"ipv6,ipv6_src=fe80::1/4294967304",
       "ipv6_src: the mask \"4294967304\" is not an IPv6 address, nor a number from 0 to 128"},
      {"dl_src=1:2:3:4:5:600",
       "dl_src: \"1:2:3:4:5:600\" is not an Ethernet address (01:23:45:67:89:ab)"},
      {"dl_dst=-1:2:3:4:5:6",
       "dl_dst: \"-1:2:3:4:5:6\" is not an Ethernet address (01:23:45:67:89:ab)"},
      {"dl_dst=1:2:3:4:5", "dl_dst: \"1:2:3:4:5\" is not an Ethernet address (01:23:45:67:89:ab)"},
      {"dl_dst=1:2:3:4:5:6/1:2:3:4:5:fff",
       "dl_dst: the mask \"1:2:3:4:5:fff\" is not an Ethernet address (01:23:45:67:89:ab)"},
      {"icmp6,icmp_type=136,icmp_code=0,nd_tll=1:2:3:4:5:600",
       "nd_tll: \"1:2:3:4:5:600\" is not an Ethernet address (01:23:45:67:89:ab)"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(read_match(one.said), std::string("error: ") + one.meant);
    // A filter of a dump, a removal and a packet to trace are read by the same eyes.
    EXPECT_EQ(read_rule(one.said, rule_command::remove), std::string("error: ") + one.meant);
    EXPECT_EQ(parse_filter(one.said).error().message(), one.meant);
    EXPECT_EQ(parse_packet(one.said).error().message(), one.meant);
  }
}

TEST(value_text, names_the_value_and_the_bound) {
  const struct {
    const char* said;
    const char* meant;
  } cases[] = {
      {"dl_vlan=5000 actions=1", "dl_vlan: \"5000\" is not a number from 0 to 4095"},
      {"tcp,tp_dst=80/0x10000 actions=1",
       "tp_dst: the mask \"0x10000\" is not a number from 0 to 65535"},
      {"metadata=-1 actions=1", "metadata: \"-1\" is not a number from 0 to 2^64 - 1"},
      {"table=255 actions=1", "table: \"255\" is not a number from 0 to 254"},
      {"priority=65536 actions=1", "priority: \"65536\" is not a number from 0 to 65535"},
      {"idle_timeout=65536 actions=1", "idle_timeout: \"65536\" is not a number from 0 to 65535"},
      {"hard_timeout=-1 actions=1", "hard_timeout: \"-1\" is not a number from 0 to 65535"},
      {"cookie=-2 actions=1", "cookie: \"-2\" is not a number from 0 to 2^64 - 1"},
      {"actions=controller(reason=action,max_len=65536)",
       "max_len: \"65536\" is not a number from 0 to 65535"},
      {"reg0[0..3]=16 actions=1", "reg0[0..3]: \"16\" is not a number from 0 to 15"},
      {"reg0[0..4294967296]=1 actions=1",
       "reg0[0..4294967296]: \"4294967296\" is not a number from 0 to 1023"},
      {"actions=output:reg0[-4294967296]",
       "reg0[-4294967296]: \"-4294967296\" is not a number from 0 to 1023"},
      {"actions=move:reg0[0..4294967296]->reg1[0]",
       "reg0[0..4294967296]: \"4294967296\" is not a number from 0 to 1023"},
      {"actions=set_queue:99999999999",
       "set_queue: \"99999999999\" is not a number from 0 to 4294967295"},
      {"actions=group:4294967296", "group: \"4294967296\" is not a number from 0 to 4294967295"},
      {"actions=meter:-1", "meter: \"-1\" is not a number from 0 to 4294967295"},
      {"actions=write_actions(group:4294967297)",
       "group: \"4294967297\" is not a number from 0 to 4294967295"},
      {"actions=set_tunnel:-1", "set_tunnel: \"-1\" is not a number from 0 to 2^64 - 1"},
      {"actions=write_metadata:-1", "write_metadata: \"-1\" is not a number from 0 to 2^64 - 1"},
      {"actions=controller:65536", "controller: \"65536\" is not a number from 0 to 65535"},
      {"actions=controller(max_len=65536)", "max_len: \"65536\" is not a number from 0 to 65535"},
      {"actions=mod_vlan_vid:4096", "mod_vlan_vid: \"4096\" is not a number from 0 to 4095"},
      {"actions=MOD_VLAN_PCP:8", "MOD_VLAN_PCP: \"8\" is not a number from 0 to 7"},
      {"ip actions=mod_nw_ecn:4", "mod_nw_ecn: \"4\" is not a number from 0 to 3"},
      {"ip actions=mod_nw_src:1.2.3.400",
       "mod_nw_src: \"1.2.3.400\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"actions=mod_dl_src:1:2:3:4:5:6/1:2:3:4:5:6",
       "mod_dl_src: \"1:2:3:4:5:6/1:2:3:4:5:6\" is not an Ethernet address (01:23:45:67:89:ab)"},
      {"ip actions=set_field:300.1.1.1->ip_src",
       "ip_src: \"300.1.1.1\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"actions=conjunction(4294967296,1/2)",
       "conjunction: \"4294967296\" is not a number from 0 to 4294967295"},
      {"actions=conjunction(1,257/258)", "conjunction: \"257\" is not a number from 0 to 255"},
      {"actions=goto_table:255", "goto_table: \"255\" is not a number from 0 to 254"},
      {"actions=resubmit(,256)", "resubmit: \"256\" is not a number from 0 to 255"},
      {"actions=learn(priority=65536)", "priority: \"65536\" is not a number from 0 to 65535"},
      {"actions=learn(priority=0x10)", "priority: \"0x10\" is not a number from 0 to 65535"},
      {"actions=learn(priority=1,priority=2)", "priority: it is said twice"},
      {"actions=normal:7", "normal: it takes no value"},
      {"actions=in_port:5", "in_port: it takes no value"},
      {"actions=learn(idle_timeout=-1)", "idle_timeout: \"-1\" is not a number from 0 to 65535"},
      {"actions=learn(limit=4294967296)",
       "limit: \"4294967296\" is not a number from 0 to 4294967295"},
      {"ip actions=learn(eth_type=0x800,ip_dst=1.2.3.400)",
       "ip_dst: \"1.2.3.400\" is not an IPv4 address (four numbers from 0 to 255)"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(read_rule(one.said), std::string("error: ") + one.meant) << one.said;
  EXPECT_EQ(read_rule("table=255 actions=1", rule_command::modify),
            "error: table: \"255\" is not a number from 0 to 254");
  EXPECT_EQ(read_rule("table=256", rule_command::remove),
            "error: table: \"256\" is not a number from 0 to 255");
}

TEST(value_text, fits_in_groups_and_meters) {
  const struct {
    const char* said;
    const char* meant;
  } groups[] = {
      {"group_id=4294967296,type=all",
       "group_id: \"4294967296\" is not a number from 0 to 4294967295"},
      {"group_id=1,group_id=2,type=all", "group_id: it is said twice"},
      {"group_id=1,type=all,type=select", "type: it is said twice"},
      {"group_id=-1,type=all", "group_id: \"-1\" is not a number from 0 to 4294967295"},
      {"group_id=1,type=select,bucket=weight:65536,1",
       "weight: \"65536\" is not a number from 0 to 65535"},
      {"group_id=1,type=all,bucket=watch_group:4294967297,1",
       "watch_group: \"4294967297\" is not a number from 0 to 4294967295"},
      {"group_id=1,type=all,bucket=actions=set_field:300.1.1.1->ip_src",
       "ip_src: \"300.1.1.1\" is not an IPv4 address (four numbers from 0 to 255)"},
      {"group_id=1,type=all,bucket=set_queue:99999999999",
       "set_queue: \"99999999999\" is not a number from 0 to 4294967295"},
      {"group_id=1,type=all,bucket=resubmit(1,2", "a bracket is opened and not closed"},
  };
  for (const auto& one : groups) {
    const auto made = parse_group(one.said, mod_command::add);
    EXPECT_EQ(made ? "taken" : made.error().message(), one.meant) << one.said;
  }
  const struct {
    const char* said;
    const char* meant;
  } meters[] = {
      {"meter=1,kbps,band=type=drop,rate=5000000000",
       "rate: \"5000000000\" is not a number from 0 to 4294967295"},
      {"meter=1,kbps,band=type=drop,rate=-1", "rate: \"-1\" is not a number from 0 to 4294967295"},
      {"meter=1 kbps burst bands= type=drop rate=1 burst_size=5000000000",
       "burst_size: \"5000000000\" is not a number from 0 to 4294967295"},
      {"meter=1,kbps,band=type=dscp_remark,rate=1,prec_level=256",
       "prec_level: \"256\" is not a number from 0 to 255"},
      {"meter=4294967297,kbps,band=type=drop,rate=1",
       "meter: \"4294967297\" is not a number from 0 to 4294967295"},
      {"meter=1,meter=2,kbps,band=type=drop,rate=1", "meter: it is said twice"},
      {"meter=1,kbps,band=type=drop,rate=1,rate=2", "rate: it is said twice"},
  };
  for (const auto& one : meters) {
    const auto made = parse_meter(one.said, mod_command::add);
    EXPECT_EQ(made ? "taken" : made.error().message(), one.meant) << one.said;
  }
}

TEST(value_text, is_there_where_it_must_be) {
  const struct {
    const char* said;
    const char* meant;
  } cases[] = {
      {"tcp,tp_dst actions=1", "tp_dst: it has no value"},
      {"tcp=5 actions=1", "tcp: it takes no value"},
      {"send_flow_rem=no actions=1", "send_flow_rem: it takes no value"},
      {"actions=drop:5", "drop: it takes no value"},
      {"actions=pop_vlan:7", "pop_vlan: it takes no value"},
      {"actions=write_actions(output:1", "a bracket is opened and not closed"},
      {"actions=output:1)", "a bracket is closed and not opened"},
      {"tun_id(5 actions=1", "a bracket is opened and not closed"},
      {"priority=1,priority=2 actions=1", "priority: it is said twice"},
      {"table=1,table=1 actions=1", "table: it is said twice"},
      {"cookie=1,cookie=1 actions=1", "cookie: it is said twice"},
  };
  for (const auto& one : cases)
    EXPECT_EQ(read_rule(one.said), std::string("error: ") + one.meant) << one.said;
}

// What ovs-ofctl(8), ovs-fields(7) and ovs-actions(7) have as examples or describe.
TEST(value_text, is_taken_in_every_form_of_the_manual) {
  for (const char* text : {
           "tcp,tp_src=123,actions=flood",
           "in_port=LOCAL dl_vlan=9 dl_src=00:0A:E4:25:6B:B0 actions=drop",
           "in_port=local\tdl_vlan=9\tactions=drop",
           "in_port=\"p0\" actions=output:p0",
           "in_port=p0,actions=\"p0\"",
           "udp dl_vlan_pcp=7 idle_timeout=5 actions=strip_vlan output:0",
           "tcp,nw_src=192.168.0.3,tp_dst=80 actions=set_queue:37,output:1",
           "cookie=0x123456789abcdef hard_timeout=10 priority=60000 actions=controller",
           "ip,actions=set_field:10.4.3.77->ip_src,mod_nw_ecn:2",
           "ip,nw_proto=2 actions=drop",
           "in_port=0 actions=resubmit:0",
           "actions=in_port,output:in_port",
           "cookie=0x0, duration=3.250s, table=1, n_packets=3, n_bytes=180, idle_timeout=60, "
           "idle_age=5, hard_age=6, priority=10,tcp,nw_dst=10.0.0.0/8,tp_dst=80 actions=drop",
           "ip,nw_src=192.168.0.0/24 actions=drop",
           "ip,nw_src=192.0.168.0/255.0.255.0 actions=drop",
           "ip,nw_src=10.0.0.1/32 actions=drop",
           "ip,nw_src=0.0.0.0/0 actions=drop",
           "ip,nw_src=* actions=drop",
           "dl_src=* actions=drop",
           "dl_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=drop",
           "dl_dst=0:1:2:a:B:cC actions=drop",
           "dl_vlan=0xffff actions=drop",
           "dl_vlan=010 actions=drop",
           "vlan_tci=0x1123/0x1fff actions=drop",
           "vlan_tci=0/0xfff actions=drop",
           "vlan_vid=0x1000/0x1000 actions=drop",
           "ip,nw_tos=0xf0 actions=drop",
           "ipv6,ipv6_src=::1 actions=drop",
           "ipv6,ipv6_src=0:0:0:0:0:0:0:1/::1 actions=drop",
           "ipv6,ipv6_dst=2001:db8::/32 actions=drop",
           "ipv6,ipv6_dst=::ffff:1.2.3.4/128 actions=drop",
           "ipv6,ipv6_label=5/1 actions=drop",
           "ip,ip_frag=not_later actions=drop",
           "arp,arp_op=2,arp_spa=1.2.3.4/0.0.0.1 actions=drop",
           "arp,nw_src=1.2.3.4,nw_proto=1 actions=drop",
           "tcp,tcp_src=0x1000/0x1000 actions=drop",
           "tcp,tcp_flags=+syn-ack actions=drop",
           "tcp,tcp_flags=syn|ack actions=drop",
           "tcp,tcp_flags=0x2/0x12 actions=drop",
           "tcp,tcp_flags=0x10|0x2 actions=drop",
           "tcp,tcp_flags=2 actions=drop",
           "udp6,udp_dst[12]=1 actions=drop",
           "reg3[]=3 actions=drop",
           "xxreg3[126..127]=3 actions=drop",
           "xxreg0=0x123456789abcdef0123456789abcdef0 actions=drop",
           "NXM_NX_REG0[0..7]=0xff actions=drop",
           "metadata=1/-1 actions=drop",
           "cookie=-1 actions=drop",
           "nw_src=* actions=drop",
           "nw_src=0.0.0.0/0 actions=drop",
           "tp_dst=*,tp_src=0/0 actions=drop",
           "arp,ip_src=1.2.3.4,ip_proto=1 actions=drop",
           "icmp,tp_src=8,tp_dst=0 actions=drop",
           "vlan_vid=0x1005/0xffff actions=drop",
           "actions=controller(max_len=128,id=0)",
           "actions=controller(reason=action, max_len=128)",
           "tun_id=0x1/0xffffffffffffffff actions=drop",
           "eth,tcp actions=drop",
           "tcp,ip actions=drop",
           "ip,nw_proto=6,tcp,tp_dst=80,tp_dst=80 actions=drop",
           "reg0[0..3]=1,reg0[4..7]=2 actions=drop",
           "tp_dst=80,tcp actions=drop",
           "actions=",
           "action=1",
           "actions=output(1),output:2,3",
           "actions=conjunction(1, 1/2)",
           "actions=resubmit(,1),resubmit(1,),resubmit(LOCAL,2)",
           "actions=load:0xff->NXM_NX_REG0[0..7],load:1->reg1[]",
           "actions=set_field:0x5/0xf->reg0",
           "actions=set_field:01:02:03:04:05:06/ff:ff:ff:00:00:00->eth_dst",
           "actions=move:NXM_NX_REG0[0..15]->NXM_NX_REG1[16..31]",
           "actions=dec_ttl()",
           "actions=write_metadata:0x5/-1",
           "actions=set_tunnel:0xffffffff,set_tunnel64:0xffffffffffffffff",
           "actions=learn(table=1,hard_timeout=60,NXM_OF_VLAN_TCI[0..11],"
           "NXM_OF_ETH_DST[]=NXM_OF_ETH_SRC[],output:NXM_OF_IN_PORT[])",
           "actions=learn(table=2,cookie=0x5,limit=10,eth_type=0x800,nw_proto=6,"
           "NXM_OF_IP_DST[]=NXM_OF_IP_SRC[],reg0[0..3]=5,load:0x1f->NXM_NX_REG1[0..4],"
           "load:NXM_OF_IN_PORT[]->NXM_NX_REG0[0..15])",
           "actions=meter:1,clear_actions,write_actions(group:1,output:2),goto_table:254",
       }) {
    const auto made = parse_rule(text, rule_command::add, {{1, "p0"}});
    const std::string said = made ? "" : made.error().message();
    EXPECT_TRUE(made.has_value()) << text << ": " << said;
  }
  for (const char* text : {"table=255", "cookie=0x1/-1", "cookie=-1/-1", "cookie=1/0xff,tcp",
                           "out_port=LOCAL", "out_group=7,out_port=1", "out_group=any"}) {
    EXPECT_TRUE(parse_rule(text, rule_command::remove).has_value()) << text;
    EXPECT_TRUE(parse_filter(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace coua::ofp
