// SPDX-License-Identifier: Apache-2.0
//
// The oracle on any bytes: the parser reads nothing beyond the packet and says what the bytes say;
// what is sent without actions is what came; what is pushed and popped, or written and written
// back, is as before. The first byte picks a pipeline, the second a port and a time.
#include <algorithm>

#include "every_write.h"
#include "fuzz.h"
#include "net/ethernet.h"
#include "pipeline/model/test_model.h"
#include "pipeline/oracle/oracle.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/rewrite.h"

namespace coua::pipeline {
namespace {

using namespace test;

constexpr std::uint8_t n_pipelines = 6;

bridge make_pipeline(std::uint8_t number) {
  bridge made = make_bridge({.n_tables = 4});
  for (port_no port = 1; port <= 3; ++port) must(made, add_port(port));
  switch (number) {
    case 0: must(made, add_rule(0, 0, {}, apply({output(2)}))); break;
    case 1:
      must(made, add_group(1, group_type::indirect, {to(write_everything())}));
      must(made, add_rule(0, 0, {}, apply({act::group{1}})));
      break;
    case 2:
      must(made, add_group(1, group_type::all, {to(tags_and_ttls()), to(write_everything())}));
      must(made, add_rule(0, 0, {}, write({act::group{1}})));
      break;
    case 3:
      must(made, add_group(1, group_type::select, {to({output(2)}, 1), to({output(3)}, 2)}));
      must(made, add_rule(0, 0, {}, apply({output(port_flood), act::group{1}})));
      break;
    case 4: {  // rewrites between tables
      instructions labelled = apply({act::dec_ip_ttl{}, act::push_mpls{0x8847}});
      labelled.goto_table = 1;
      instructions bare = apply({act::copy_ttl_in{}, act::pop_mpls{0x0800}});
      bare.goto_table = 2;
      must(made, add_rule(0, 1, where({ipv4()}), labelled));
      must(made, add_rule(0, 0, {}, go(2)));
      must(made, add_rule(1, 0, where({mpls()}), bare));
      must(made, add_rule(2, 5, where({tagged()}), apply({act::pop_vlan{}, output(2)})));
      must(made, add_rule(2, 0, {}, apply({output(3), output(port_controller)})));
      break;
    }
    default: {
      meter_mod meter = add_meter(1, meter_unit::kbps, {{band_type::dscp_remark, 1, 1, 1}});
      meter.what.bands.push_back({band_type::drop, 5, 2, 0});
      meter.what.has_burst = true;
      must(made, meter);
      instructions metered = apply({output(port_all), output(port_in_port)});
      metered.meter = 1;
      must(made, add_rule(0, 0, {}, metered));
    }
  }
  return made;
}

/// What is there has its width, stands in the packet, and its headers say that it may be there.
void check_fields(const packet& one, const parsed& got) {
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    const bits_at& at = got.at[i];
    COUA_CHECK((got.get(which) & ~full_mask(which)) == 0);
    COUA_CHECK(got.has(which) || (got.get(which) == 0 && at.n_bytes == 0));
    if (at.n_bytes == 0) continue;
    COUA_CHECK(at.offset + at.n_bytes <= one.bytes.size());
    const value128 present = which == field::vlan_vid ? vlan_present : 0;
    COUA_CHECK((read_bits(one, at) | present) == got.get(which));
  }
  const auto implies = [&](field which, field other, value128 value) {
    COUA_CHECK(!got.has(which) || (got.has(other) && got.get(other) == value));
  };
  implies(field::ipv4_src, field::eth_type, 0x0800);
  implies(field::ipv6_exthdr, field::eth_type, 0x86dd);
  implies(field::arp_tha, field::eth_type, 0x0806);
  implies(field::tcp_dst, field::ip_proto, 6);
  implies(field::udp_dst, field::ip_proto, 17);
  implies(field::sctp_dst, field::ip_proto, 132);
  implies(field::icmpv4_type, field::ip_proto, 1);
  implies(field::icmpv6_type, field::ip_proto, 58);
  implies(field::nd_sll, field::icmpv6_type, 135);
  implies(field::nd_tll, field::icmpv6_type, 136);
  const bool later = (got.get(field::ip_frag) & frag_later) != 0;
  COUA_CHECK(!later || got.l4 == l4_kind::none);
  COUA_CHECK(got.l3_end <= one.bytes.size());
}

packet written(packet one, field which, value128 value) {
  COUA_CHECK(write_field(one, which, value, full_mask(which)) == rewrite_result::done);
  return one;
}

/// A value that is written is there; the old one written back gives what writing it at once gives
/// (which may differ from the packet in which of the two zeros a checksum has).
void check_writes(const packet& one, const parsed& got) {
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    if (!info(which).writable || got.at[i].n_bytes == 0) continue;
    const value128 old = got.get(which);
    const value128 other = which == field::vlan_vid ? old ^ 5 : old ^ full_mask(which);
    const packet changed = written(one, which, other);
    COUA_CHECK(changed.bytes.size() == one.bytes.size());
    const packet same = written(one, which, old);
    COUA_CHECK(written(same, which, old) == same);
    // Another type of ICMPv6 may be one whose target is written elsewhere: its own place stays.
    COUA_CHECK(parse(changed).get(which) == other);
    COUA_CHECK(written(changed, which, old) == same);
  }
}

void check_tags(const packet& one, const parsed& got) {
  packet copy = one;
  if (*rewrite(copy, act::push_vlan{}) == rewrite_result::done) {
    COUA_CHECK(copy.bytes.size() == one.bytes.size() + 4);
    COUA_CHECK(*rewrite(copy, act::pop_vlan{}) == rewrite_result::done);
  }
  COUA_CHECK(copy == one);
  if (*rewrite(copy, act::push_mpls{}) != rewrite_result::done) return;
  const std::uint16_t type = net::load_be16(&one.bytes[*got.type_at]);
  COUA_CHECK(*rewrite(copy, act::pop_mpls{type}) == rewrite_result::done);
  COUA_CHECK(copy == one);
}

void run_pipeline(std::uint8_t number, const packet& one, std::uint8_t seconds) {
  static const auto bridges = [] {
    std::vector<bridge> made;
    for (std::uint8_t i = 0; i < n_pipelines; ++i) made.push_back(make_pipeline(i));
    return made;
  }();
  const bridge& model = bridges[number];
  oracle plain(model), tracing(model);
  for (time_ns now : {time_ns{0}, seconds * ns_per_s / 16}) {
    const verdict got = plain.receive(one, now);
    const verdict traced = tracing.receive(one, now, trace_mode::on);
    COUA_CHECK(got.trace.empty() && !traced.trace.empty());
    COUA_CHECK(got.outputs == traced.outputs && got.packet_ins == traced.packet_ins);
    COUA_CHECK(got.counts == traced.counts);
    COUA_CHECK(got.counts.tables.at(0).lookups == 1);
    for (const sent& copy : got.outputs) COUA_CHECK(model.find_port(copy.port) != nullptr);
    if (number == 0) {
      COUA_CHECK(got.outputs.size() == (one.in_port == 2 ? 0 : 1));
      COUA_CHECK(got.outputs.empty() || got.outputs[0].bytes == one.bytes);
    }
  }
}

}  // namespace
}  // namespace coua::pipeline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coua::pipeline;
  coua::fuzz::input in(data, size);
  const auto number = static_cast<std::uint8_t>(in.take<std::uint8_t>() % n_pipelines);
  const auto port_and_time = in.take<std::uint8_t>();
  packet one;
  one.in_port = 1U + (port_and_time & 1U);
  // A block of exactly this size, so that the sanitizer sees a read beyond the packet.
  one.bytes.assign(data + (size - in.left()), data + size);
  const parsed got = parse(one);
  check_fields(one, got);
  check_writes(one, got);
  check_tags(one, got);
  run_pipeline(number, one, port_and_time >> 1);
  return 0;
}
