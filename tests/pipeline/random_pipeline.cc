// SPDX-License-Identifier: Apache-2.0
#include "random_pipeline.h"

#include <random>

#include "pipeline/datapath/test_frames.h"
#include "pipeline/model/test_model.h"
#include "pipeline/oracle/parse.h"
#include "pipeline/oracle/rewrite.h"

namespace coua::test {
namespace {

using namespace pipeline;
namespace act = pipeline::act;
using pipeline::test::frames;
struct source : std::mt19937_64 {
  explicit source(std::uint64_t number, profile is = profile::metered)
      : std::mt19937_64(number), is(is) {}
  profile is;
};

constexpr port_no n_ports = 6;
constexpr group_id n_groups = 6;
constexpr meter_id n_meters = 4;

bool one_in(source& random, unsigned n) { return random() % n == 0; }
std::uint64_t below(source& random, std::uint64_t n) { return random() % n; }
/// Below n, and rather a low one.
std::uint64_t low(source& random, std::uint64_t n) { return below(random, 1 + below(random, n)); }

// The pool: what rules ask for and packets have.
value128 some_mac(source& random) { return 0x0200'0000'0000 + below(random, 64); }
value128 some_ipv4(source& random) {
  return 0x0a00'0000 + (below(random, 4) << 16) + below(random, 48);
}
value128 some_ipv6(source& random) {
  return (value128{0x2001'0db8'0000'0000 + (below(random, 3) << 8)} << 64) + below(random, 24);
}
value128 some_port(source& random) { return 80 + below(random, 6); }

/// A value that packets may have in the field.
value128 some_value(source& random, field which) {
  switch (which) {
    case field::in_port:
    case field::in_phy_port: return 1 + below(random, n_ports);
    case field::eth_src:
    case field::eth_dst:
    case field::arp_sha:
    case field::arp_tha: return some_mac(random);
    case field::vlan_vid: return one_in(random, 3) ? 0 : vlan_present | (1 + below(random, 5));
    case field::ipv4_src:
    case field::ipv4_dst:
    case field::arp_spa:
    case field::arp_tpa: return some_ipv4(random);
    case field::ipv6_src:
    case field::ipv6_dst:
    case field::nd_target: return some_ipv6(random);
    case field::tcp_src:
    case field::tcp_dst:
    case field::udp_src:
    case field::udp_dst:
    case field::sctp_src:
    case field::sctp_dst: return some_port(random);
    case field::ip_dscp:
      if (one_in(random, 2)) return below(random, 4);
      return 8 * (1 + below(random, 4)) + 2 * (1 + below(random, 3));  // assured forwarding
    case field::reg1:
      if (one_in(random, 3)) return 0xfff8 + below(random, 8);  // as a port, a reserved one
      [[fallthrough]];
    default: return below(random, 4) & full_mask(which);
  }
}

/// Terms on some of what one of the packets has; what a term needs comes with it.
std::vector<match_term> terms_of_a_packet(source& random) {
  const parsed fields = parse(random_packet(random()));
  std::vector<match_term> terms;
  for (std::size_t i = 0; i < n_fields; ++i) {
    const auto which = static_cast<field>(i);
    if (!fields.has(which)) continue;
    const bool decides = which == field::eth_type || which == field::ip_proto ||
                         which == field::icmpv6_type || which == field::icmpv4_type;
    if (decides ? one_in(random, 3) : !one_in(random, 10)) continue;
    value128 mask = full_mask(which);
    if (info(which).maskable && one_in(random, 3)) {
      mask &= value128{random()} << 64 | random();
      if (mask == 0) continue;
    }
    terms.push_back({which, fields.get(which) & mask, mask});
  }
  return terms;
}

value128 prefix_mask(unsigned length, unsigned n_bits) {
  return ones(n_bits) & ~ones(n_bits - length);
}

struct placed_match {
  std::vector<match_term> terms;
  std::uint16_t priority;
};

/// The tables have characters: 1 and 2 exact, 3 and 4 prefixes, 5 and 7 fall into sets by few
/// values, of which some become too large, and the same for rules that are apart; 6 one set of
/// fields that stands in two places, 8 prefixes of both IP versions for each of some ports, and
/// seldom a rule that is none, or out of order; 0 anything.
placed_match random_match(source& random, table_id table) {
  const auto priority = static_cast<std::uint16_t>(10 * (1 + below(random, 4)));
  if (one_in(random, 12)) return {{}, static_cast<std::uint16_t>(one_in(random, 8) ? 20 : 0)};
  switch (table) {
    case 1:
      return {{exact(field::eth_dst, some_mac(random))},
              static_cast<std::uint16_t>(one_in(random, 6) ? priority : 10)};
    case 6:
      return {
          {one_in(random, 2) ? pipeline::test::ipv4() : pipeline::test::ipv6(),
           exact(field::ip_dscp, below(random, 4)), exact(field::in_port, 1 + below(random, 6))},
          10};
    case 2:
      return {{pipeline::test::ipv4(), exact(field::ipv4_src, some_ipv4(random)),
               exact(field::ip_proto, 6), exact(field::tcp_dst, some_port(random))},
              10};
    case 3: {
      const auto length = static_cast<unsigned>(16 + below(random, 17));
      // Some for all addresses, and for packets that have the type and no address.
      if (one_in(random, 16)) return {{pipeline::test::ipv4()}, 100};
      const value128 mask = prefix_mask(length, 32);
      return {{pipeline::test::ipv4(), {field::ipv4_dst, some_ipv4(random) & mask, mask}},
              static_cast<std::uint16_t>(100 + length)};
    }
    case 4: {
      const auto length = static_cast<unsigned>(40 + below(random, 89));
      if (one_in(random, 16)) return {{pipeline::test::ipv6()}, 100};
      const value128 mask = prefix_mask(length, 128);
      return {{pipeline::test::ipv6(), {field::ipv6_dst, some_ipv6(random) & mask, mask}},
              static_cast<std::uint16_t>(100 + length)};
    }
    case 5: {
      std::vector<match_term> terms = terms_of_a_packet(random);
      std::erase_if(terms, [](const match_term& one) { return one.which == field::in_port; });
      if (!one_in(random, 10)) terms.push_back(exact(field::in_port, 1 + low(random, n_ports)));
      return {std::move(terms), priority};
    }
    case 7: {
      const auto length = static_cast<unsigned>(below(random, 5) * 8);
      const value128 mask = prefix_mask(length, 32);
      std::vector<match_term> terms = {pipeline::test::ipv4(), exact(field::ip_proto, 6)};
      if (!one_in(random, 10)) terms.push_back(exact(field::tcp_dst, 80 + low(random, 6)));
      if (length != 0) terms.push_back({field::ipv4_src, some_ipv4(random) & mask, mask});
      return {std::move(terms), priority};
    }
    case 8: {
      const bool is_v6 = one_in(random, 3);
      const unsigned n_bits = is_v6 ? 128 : 32;
      const auto length = static_cast<unsigned>(is_v6 ? below(random, 9) * 16 : below(random, 33));
      const value128 mask = prefix_mask(length, n_bits);
      std::vector<match_term> terms = {is_v6 ? pipeline::test::ipv6() : pipeline::test::ipv4()};
      if (!one_in(random, 40)) terms.push_back(exact(field::in_port, 1 + low(random, 4)));
      if (length != 0) {
        const value128 address = is_v6 ? some_ipv6(random) : some_ipv4(random);
        terms.push_back({is_v6 ? field::ipv6_dst : field::ipv4_dst, address & mask, mask});
      }
      if (one_in(random, 60)) terms.push_back(exact(field::ip_dscp, below(random, 4)));
      if (one_in(random, 60)) return {std::move(terms), 120};
      return {std::move(terms), static_cast<std::uint16_t>(100 + length)};
    }
    default: return {terms_of_a_packet(random), priority};
  }
}

constexpr field written_fields[] = {
    field::eth_dst,     field::eth_src,     field::vlan_vid,    field::vlan_pcp,
    field::mpls_label,  field::mpls_tc,     field::ip_dscp,     field::ip_ecn,
    field::ipv4_src,    field::ipv4_dst,    field::ipv6_src,    field::ipv6_dst,
    field::ipv6_flabel, field::arp_op,      field::arp_spa,     field::arp_tpa,
    field::arp_sha,     field::arp_tha,     field::tcp_src,     field::tcp_dst,
    field::udp_src,     field::udp_dst,     field::sctp_src,    field::sctp_dst,
    field::icmpv4_type, field::icmpv4_code, field::icmpv6_type, field::icmpv6_code,
    field::nd_target,   field::nd_sll,      field::nd_tll,      field::tunnel_id,
    field::reg0,        field::reg1,        field::reg2,        field::ip_ttl,
    field::mpls_ttl,
};

action random_set_field(source& random) {
  const field which = written_fields[below(random, std::size(written_fields))];
  value128 value = some_value(random, which), mask = full_mask(which);
  if (which == field::vlan_vid) value |= vlan_present;
  if (which != field::vlan_vid && one_in(random, 3)) {
    mask &= value128{random()} << 64 | random();
    if (mask == 0) mask = full_mask(which);
  }
  return act::set_field{which, value & mask, mask};
}

/// Of any field, of which packets often have the one that is read.
action random_move(source& random) {
  act::move made;
  const parsed there = parse(random_packet(random()));
  do {
    made.from.which = one_in(random, 3) ? reg(static_cast<unsigned>(below(random, 3)))
                                        : static_cast<field>(below(random, n_fields));
  } while (!there.has(made.from.which));
  made.to.which = one_in(random, 3)    ? reg(static_cast<unsigned>(below(random, 3)))
                  : one_in(random, 12) ? field::metadata
                                       : written_fields[below(random, std::size(written_fields))];
  const unsigned from_bits = info(made.from.which).n_bits;
  const unsigned to_bits = made.to.which == field::vlan_vid ? 12 : info(made.to.which).n_bits;
  std::uint64_t n = std::min(from_bits, to_bits);
  if (one_in(random, 3)) n = 1 + below(random, n);
  made.from.n_bits = made.to.n_bits = static_cast<std::uint8_t>(n);
  made.from.first = static_cast<std::uint8_t>(low(random, from_bits - n + 1));
  made.to.first = static_cast<std::uint8_t>(low(random, to_bits - n + 1));
  return made;
}

action random_output_bits(source& random) {
  constexpr field some[] = {field::reg0, field::reg1, field::in_port, field::tcp_dst,
                            field::vlan_vid};
  act::output_bits made{{some[below(random, std::size(some))], 0, 3}, 100};
  if (one_in(random, 2)) made.from.n_bits = info(made.from.which).n_bits;
  made.from.first =
      static_cast<std::uint8_t>(low(random, info(made.from.which).n_bits - made.from.n_bits + 1U));
  return made;
}

action random_output(source& random, bool from_controller) {
  switch (below(random, 12)) {
    case 0: return act::output{port_in_port};
    case 1: return act::output{port_normal};
    case 2: return act::output{port_all};
    case 3: return act::output{port_flood};
    case 4: return act::output{port_controller, static_cast<std::uint16_t>(below(random, 200))};
    case 5:
      if (from_controller) return act::output{port_table};
      [[fallthrough]];
    default: return act::output{static_cast<port_no>(1 + below(random, n_ports + 1))};
  }
}

action random_resubmit(source& random) {
  act::resubmit made;
  if (one_in(random, 3)) made.in_port = static_cast<port_no>(1 + below(random, n_ports + 1));
  if (!one_in(random, 6)) made.table = static_cast<table_id>(low(random, pipeline_tables));
  if (made.table && !one_in(random, 3)) {
    made.table = static_cast<table_id>(pipeline_tables - 1 - *made.table);
  }
  return made;
}

/// Into the tables that are exact, or by a field of any packet.
action random_learn(source& random) {
  act::learn made;
  made.table = static_cast<table_id>(low(random, pipeline_tables));
  made.priority = static_cast<std::uint16_t>(10 * (1 + below(random, 4)));
  made.cookie = below(random, 4);
  if (one_in(random, 3)) made.hard_timeout_s = static_cast<std::uint16_t>(1 + below(random, 3));
  if (one_in(random, 4)) made.idle_timeout_s = static_cast<std::uint16_t>(1 + below(random, 3));
  made.send_removed = one_in(random, 4);
  if (one_in(random, 3)) made.limit = static_cast<std::uint32_t>(1 + below(random, 20));
  made.takes_along = one_in(random, 8);
  using role = act::learn::part::role;
  constexpr field macs[] = {field::eth_src, field::eth_dst};
  if (!one_in(random, 4)) {
    made.parts.push_back(
        {role::match, field_bits{macs[below(random, 2)], 0, 48}, 0, {field::eth_dst, 0, 48}});
  } else {
    const parsed there = parse(random_packet(random()));
    field which;
    do {
      which = static_cast<field>(below(random, n_fields));
    } while (!there.has(which));
    const auto n = static_cast<std::uint8_t>(std::min<unsigned>(info(which).n_bits, 32));
    made.parts.push_back({role::match, field_bits{which, 0, n}, 0, {field::eth_dst, 0, n}});
  }
  if (one_in(random, 3)) {
    made.parts.push_back({role::load, field_bits{field::reg1, 0, 8}, 0, {field::reg2, 4, 8}});
  }
  if (!one_in(random, 5)) {
    made.parts.push_back({role::output, field_bits{field::in_port, 0, 16}, 0, {}});
  }
  return made;
}

action random_action(source& random, bool from_controller) {
  if (one_in(random, 24)) return random_learn(random);
  if (random.is == profile::resubmitting && one_in(random, 8)) return random_resubmit(random);
  switch (below(random, 18)) {
    case 0: return act::group{static_cast<group_id>(1 + below(random, n_groups))};
    case 1: return act::set_queue{static_cast<std::uint32_t>(below(random, 3))};
    case 2: return act::push_vlan{static_cast<std::uint16_t>(one_in(random, 2) ? 0x8100 : 0x88a8)};
    case 3: return act::pop_vlan{};
    case 4: return act::push_mpls{static_cast<std::uint16_t>(one_in(random, 2) ? 0x8847 : 0x8848)};
    case 5: {
      constexpr std::uint16_t types[] = {0x0800, 0x86dd, 0x8847, 0x0806};
      return act::pop_mpls{types[below(random, 4)]};
    }
    case 6: return act::dec_ip_ttl{};
    case 7:
      if (one_in(random, 2)) return act::set_ip_ttl{static_cast<std::uint8_t>(below(random, 3))};
      return act::set_mpls_ttl{static_cast<std::uint8_t>(below(random, 3))};
    case 8:
      if (one_in(random, 2)) return act::dec_mpls_ttl{};
      return one_in(random, 2) ? action(act::copy_ttl_in{}) : action(act::copy_ttl_out{});
    case 9:
    case 10:
    case 11: return random_set_field(random);
    case 12: return random_move(random);
    case 13:
      if (one_in(random, 3)) return random_output_bits(random);
      [[fallthrough]];
    default: return random_output(random, from_controller);
  }
}

action_list random_list(source& random, unsigned longest) {
  action_list list;
  for (std::uint64_t n = below(random, longest + 1); n > 0; --n) {
    list.push_back(random_action(random, false));
  }
  return list;
}

instructions random_instructions(source& random, table_id table) {
  instructions made;
  // A meter is of one table: packets of a burst come to it in the order of the burst, unless they
  // come back from another table.
  if (random.is == profile::metered && one_in(random, 6) && table < n_meters)
    made.meter = table + 1;
  if (!one_in(random, 4)) made.apply = random_list(random, 4);
  made.clear_actions = one_in(random, 10);
  if (one_in(random, 3)) {
    made.write = random_list(random, 3);
    std::erase_if(*made.write, [](const action& one) {
      return std::holds_alternative<act::resubmit>(one) || std::holds_alternative<act::learn>(one);
    });
  }
  if (one_in(random, 8)) {
    const std::uint64_t mask = one_in(random, 2) ? ~std::uint64_t{0} : random();
    made.metadata = metadata_write{random() & mask, mask};
  }
  if (table + 1U < pipeline_tables && !one_in(random, 3)) {
    made.goto_table = static_cast<table_id>(table + 1 + below(random, pipeline_tables - table - 1));
  }
  return made;
}

/// Of few conjunctions, on few fields: clauses, and rules that they lead to.
rule_mod random_conjunctive(source& random) {
  constexpr table_id some[] = {0, 0, 0, 0, 5, 3};
  rule_mod made;
  made.table = some[below(random, std::size(some))];
  made.priority = static_cast<std::uint16_t>(10 * (1 + below(random, 4)));
  made.cookie = below(random, 4);
  std::vector<match_term> terms;
  if (one_in(random, 3)) {
    terms = {exact(field::conj_id, 1 + below(random, 3))};
    if (one_in(random, 4)) terms.push_back(exact(field::in_port, 1 + below(random, n_ports)));
    // Others often match with the priority of clauses, and this is then above them.
    if (one_in(random, 2)) made.priority = 40;
    made.instructions = random_instructions(random, made.table);
  } else {
    const auto clause = static_cast<std::uint8_t>(below(random, 3));
    if (clause == 0) {
      const value128 mask = prefix_mask(static_cast<unsigned>(14 + 2 * below(random, 10)), 32);
      terms = {pipeline::test::ipv4(), {field::ipv4_src, some_ipv4(random) & mask, mask}};
    } else if (clause == 1) {
      terms = {exact(field::in_port, 1 + below(random, n_ports))};
    } else {
      const value128 mask = ones(48) & ~ones(static_cast<unsigned>(3 + below(random, 4)));
      terms = {{field::eth_dst, some_mac(random) & mask, mask}};
    }
    action_list list;
    for (std::uint64_t n = 1 + below(random, 2); n > 0; --n) {
      const auto id = static_cast<std::uint32_t>(1 + below(random, 3));
      const std::uint8_t n_clauses = one_in(random, 12) || id == 1 ? 3 : 2;
      list.push_back(act::conjunction{
          id, static_cast<std::uint8_t>(clause < n_clauses ? clause : 0), n_clauses});
    }
    made.instructions.apply = std::move(list);
    made.priority = static_cast<std::uint16_t>(one_in(random, 4) ? made.priority : 30);
  }
  made.command = one_in(random, 6) ? rule_command::remove_strict : rule_command::add;
  made.match = pipeline::test::where(std::move(terms));
  return made;
}

rule_mod random_rule(source& random) {
  if (one_in(random, 4)) return random_conjunctive(random);
  rule_mod made;
  // Those that are served by large tables get most of the rules.
  constexpr table_id large[] = {1, 2, 3, 4, 5, 7};
  made.table = one_in(random, 3) ? static_cast<table_id>(below(random, pipeline_tables))
                                 : large[below(random, std::size(large))];
  const std::uint64_t what = below(random, 20);
  made.command = what < 15   ? rule_command::add
                 : what < 16 ? rule_command::modify
                 : what < 17 ? rule_command::modify_strict
                 : what < 19 ? rule_command::remove_strict
                             : rule_command::remove;
  const placed_match where = random_match(random, made.table);
  made.priority = where.priority;
  std::vector<match_term> terms = where.terms;
  // What does not go together is left out, one term after the other.
  for (;;) {
    if (auto good = match::make(terms)) {
      made.match = std::move(*good);
      break;
    }
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(below(random, terms.size())));
  }
  // A loose removal of everything would leave little to test.
  if (made.command == rule_command::remove && made.match.is_any()) {
    made.command = rule_command::remove_strict;
  }
  made.instructions = random_instructions(random, made.table);
  made.cookie = below(random, 4);
  made.flags = static_cast<std::uint16_t>(below(random, 16) << 2 & 0x1c);
  if (one_in(random, 10)) made.idle_timeout_s = static_cast<std::uint16_t>(1 + below(random, 5));
  if (one_in(random, 10)) made.hard_timeout_s = static_cast<std::uint16_t>(1 + below(random, 9));
  return made;
}

group_mod random_group(source& random) {
  group_mod made;
  made.command = one_in(random, 5)   ? mod_command::remove
                 : one_in(random, 3) ? mod_command::modify
                                     : mod_command::add;
  made.what.id = static_cast<group_id>(1 + below(random, n_groups));
  made.what.type = static_cast<group_type>(below(random, 4));
  std::uint64_t n = made.what.type == group_type::indirect ? 1 : below(random, 5);
  for (; n > 0; --n) {
    bucket one;
    one.actions = random_list(random, 4);
    std::erase_if(one.actions,
                  [](const action& each) { return std::holds_alternative<act::learn>(each); });
    const bool watches = made.what.type == group_type::fast_failover ||
                         (made.what.type == group_type::select && one_in(random, 4));
    if (watches && one_in(random, 3)) {
      one.watch_group = static_cast<group_id>(1 + below(random, n_groups));
    } else if (watches) {
      one.watch_port = static_cast<port_no>(1 + below(random, n_ports));
    }
    if (made.what.type == group_type::select) {
      one.weight = static_cast<std::uint16_t>(below(random, 4));
    }
    made.what.buckets.push_back(std::move(one));
  }
  return made;
}

meter_mod random_meter(source& random) {
  meter_mod made;
  made.command = one_in(random, 6)   ? mod_command::remove
                 : one_in(random, 3) ? mod_command::modify
                                     : mod_command::add;
  made.what.id = static_cast<meter_id>(1 + below(random, n_meters));
  made.what.unit = one_in(random, 2) ? meter_unit::kbps : meter_unit::pktps;
  made.what.has_burst = true;
  for (std::uint64_t n = 1 + below(random, 3); n > 0; --n) {
    meter_band band;
    band.type = one_in(random, 2) ? band_type::drop : band_type::dscp_remark;
    band.rate = static_cast<std::uint32_t>(1 + below(random, 50));
    band.burst_size = static_cast<std::uint32_t>(1 + below(random, 20));
    if (band.type == band_type::dscp_remark) {
      band.prec_level = static_cast<std::uint8_t>(1 + below(random, 3));
    }
    made.what.bands.push_back(band);
  }
  return made;
}

port_mod random_port(source& random) {
  port_mod made;
  made.command = one_in(random, 8)   ? mod_command::remove
                 : one_in(random, 2) ? mod_command::add
                                     : mod_command::modify;
  made.what.number = static_cast<port_no>(1 + below(random, n_ports));
  made.what.live = !one_in(random, 3);
  made.what.no_recv = one_in(random, 12);
  made.what.no_fwd = one_in(random, 8);
  made.what.no_flood = one_in(random, 4);
  made.what.no_packet_in = one_in(random, 6);
  return made;
}

}  // namespace

std::vector<operation> way_through(profile is) {
  std::vector<operation> all;
  for (port_no i = 1; i <= n_ports; ++i) all.emplace_back(pipeline::test::add_port(i));
  for (meter_id i = 1; i <= n_meters && is == profile::metered; ++i) {
    const auto steps = static_cast<std::uint8_t>(1 + i % 3);
    meter_mod made = pipeline::test::add_meter(i, meter_unit::pktps,
                                               {{band_type::dscp_remark, 1, 2 * i, steps}});
    made.what.has_burst = true;
    all.emplace_back(std::move(made));
  }
  for (unsigned i = 0; i < pipeline_tables; ++i) {
    all.emplace_back(way_through(static_cast<table_id>(i)));
  }
  return all;
}

operation way_through(table_id table) {
  const bool is_last = table + 1U == pipeline_tables;
  return pipeline::test::add_rule(
      table, 0, {},
      is_last ? pipeline::test::apply({pipeline::test::output(3)}) : pipeline::test::go(table + 1));
}

operation random_operation(std::uint64_t number, profile is) {
  source random(number, is);
  switch (below(random, 20)) {
    case 0:
    case 1: return random_group(random);
    case 2: return random_meter(random);
    case 3: return random_port(random);
    default: return random_rule(random);
  }
}

operation random_simple_rule(std::uint64_t number, table_id table) {
  source random(number);
  rule_mod made;
  made.table = table;
  placed_match where = random_match(random, table);
  if (where.terms.empty()) where.priority = 0;
  made.priority = where.priority;
  auto good = match::make(where.terms);
  if (good) made.match = std::move(*good);
  action_list list;
  if (one_in(random, 2)) list.push_back(act::set(field::eth_src, some_mac(random)));
  if (one_in(random, 2)) list.push_back(pipeline::test::output(1 + below(random, n_ports)));
  made.instructions.apply = std::move(list);
  if (table + 1U < pipeline_tables) made.instructions.goto_table = table + 1;
  return made;
}

operation random_thinning(std::uint64_t number) {
  source random(number);
  const auto table = static_cast<table_id>(one_in(random, 3) ? 8 : one_in(random, 2) ? 5 : 7);
  std::vector<match_term> terms;
  if (table != 7) {
    terms = {exact(field::in_port, 1 + low(random, n_ports))};
  } else {
    terms = {pipeline::test::ipv4(), exact(field::ip_proto, 6),
             exact(field::tcp_dst, 80 + low(random, 6))};
  }
  return pipeline::test::change_rules(rule_command::remove, table, 0,
                                      pipeline::test::where(std::move(terms)));
}

action_list random_packet_out(std::uint64_t number, profile is) {
  source random(number, is);
  action_list list;
  for (std::uint64_t n = 1 + below(random, 4); n > 0; --n) {
    list.push_back(random_action(random, true));
  }
  // Seldom do random actions write a register of what then goes to the controller.
  if (one_in(random, 8)) {
    const field which = reg(static_cast<unsigned>(below(random, n_registers)));
    list.push_back(act::set(which, 1 + below(random, 100)));
    list.push_back(act::output{port_controller});
  }
  return list;
}

packet random_packet(std::uint64_t number) {
  source random(number);
  packet one = pipeline::test::from_port_1(frames()[below(random, frames().size())]);
  one.in_port = static_cast<port_no>(1 + below(random, n_ports + 1));
  one.in_phy_port = 0;
  for (const field which : written_fields) {
    const bool is_state = which == field::tunnel_id || is_reg(which);
    if (is_state || one_in(random, 4)) continue;
    value128 value = some_value(random, which);
    if (which == field::icmpv6_type || which == field::icmpv4_type) continue;
    (void)write_field(one, which, value, full_mask(which));
  }
  if (one_in(random, 12)) {
    one.bytes = pipeline::test::damaged_frame(frames(), random);
  } else if (one_in(random, 8)) {
    one.bytes.resize(one.bytes.size() + below(random, 40));
  }
  return one;
}

}  // namespace coua::test
