// SPDX-License-Identifier: Apache-2.0
//
// Random operations of the model, for tests and fuzzing: valid by themselves, of everything that
// ovs-ofctl's syntax can say, and nothing that it cannot (in_phy_port, ipv6_exthdr, copy_ttl, ports
// from 0xff00 on).
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "pipeline/model/action_check.h"
#include "pipeline/model/conjunction.h"
#include "pipeline/model/operation.h"
#include "pipeline/model/test_model.h"

namespace coua::ofp::test {

using namespace coua::pipeline;

class random_operations {
 public:
  /// `draw()` gives any 64 bits.
  explicit random_operations(std::function<std::uint64_t()> draw) : draw_(std::move(draw)) {}

  rule_mod rule() {
    rule_mod made;
    made.command = static_cast<rule_command>(below(5));
    made.table = static_cast<table_id>(below(255));
    made.match = match();
    if (made.command == rule_command::add) {
      made.cookie = draw_() >> below(64);
    } else if (coin()) {
      made.cookie_mask = draw_();
      made.cookie = draw_() & made.cookie_mask;
    }
    const bool removal =
        made.command == rule_command::remove || made.command == rule_command::remove_strict;
    if (made.command != rule_command::remove) {
      made.priority = static_cast<std::uint16_t>(draw_());
    }
    if (removal) {
      if (coin()) made.out_port = port();
      if (coin()) made.out_group = below(group_max);
      return made;
    }
    made.idle_timeout_s = coin() ? static_cast<std::uint16_t>(draw_()) : 0;
    made.hard_timeout_s = coin() ? static_cast<std::uint16_t>(draw_()) : 0;
    made.flags = static_cast<std::uint16_t>(below(32));
    made.instructions = instructions(made.match, made.table);
    return made;
  }

  group_mod group() {
    group_mod made;
    made.command = static_cast<mod_command>(below(3));
    made.what.id = below(group_max + 1U);
    if (made.command == mod_command::remove) return made;
    made.what.type = static_cast<group_type>(below(4));
    for (std::uint64_t left = below(made.what.type == group_type::indirect ? 2 : 5); left > 0;
         --left) {
      bucket one;
      one.weight = static_cast<std::uint16_t>(made.what.type == group_type::select ? draw_() : 0);
      if (coin()) one.watch_port = coin() ? port_local : 1 + static_cast<port_no>(below(0xfeff));
      if (coin()) one.watch_group = below(group_max);
      packet_knowledge known;
      one.actions = actions(action_place::bucket, known);
      made.what.buckets.push_back(std::move(one));
    }
    return made;
  }

  meter_mod meter() {
    meter_mod made;
    made.command = static_cast<mod_command>(below(3));
    made.what.id = 1 + static_cast<meter_id>(below(meter_max));
    if (made.command == mod_command::remove) return made;
    made.what.unit = coin() ? meter_unit::kbps : meter_unit::pktps;
    made.what.has_burst = coin();
    made.what.has_stats = coin();
    for (std::uint64_t left = 1 + below(4); left > 0; --left) {
      meter_band one;
      one.rate = 1 + static_cast<std::uint32_t>(below(0xffff'ffff));
      if (made.what.has_burst) one.burst_size = 1 + static_cast<std::uint32_t>(below(0xffff'ffff));
      if (coin()) {
        one.type = band_type::dscp_remark;
        one.prec_level = static_cast<std::uint8_t>(1 + below(255));
      }
      made.what.bands.push_back(one);
    }
    return made;
  }

  class match match() {
    std::vector<match_term> terms = protocol();
    for (std::size_t i = 0; i < n_fields; ++i) {
      const auto which = static_cast<field>(i);
      if (!is_sayable(which) || below(4) != 0) continue;
      auto more = terms;
      std::erase_if(more, [which](const match_term& term) { return term.which == which; });
      more.push_back(term(which));
      if (more.size() > terms.size() && match::make(more)) terms = std::move(more);
    }
    return pipeline::test::where(std::move(terms));
  }

  struct instructions instructions(const class match& seen, table_id table) {
    struct instructions made;
    if (below(12) == 0) {
      made.apply = clauses();
      return made;
    }
    packet_knowledge known(seen);
    if (coin()) made.meter = 1 + static_cast<meter_id>(below(meter_max));
    if (coin()) made.apply = actions(action_place::rule, known);
    // An empty list is as good as none, and a text has no way to tell them apart.
    if (made.apply && made.apply->empty()) made.apply.reset();
    made.clear_actions = coin();
    if (coin()) made.write = actions(action_place::write_actions, known);
    if (coin()) {
      made.metadata = metadata_write{0, draw_() | 1};
      made.metadata->value = draw_() & made.metadata->mask;
    }
    if (coin() && table < table_max) {
      made.goto_table = static_cast<table_id>(table + 1 + below(table_max - table));
    }
    return made;
  }

 private:
  bool coin() { return (draw_() & 1) != 0; }
  std::uint64_t below(std::uint64_t end) { return draw_() % end; }
  value128 bits() { return value128{draw_()} << 64 | draw_(); }
  port_no port() {
    constexpr std::array reserved = {port_in_port, port_normal,     port_flood,
                                     port_all,     port_controller, port_local};
    return below(3) == 0 ? reserved[below(reserved.size())]
                         : 1 + static_cast<port_no>(below(0xfeff));
  }
  static bool is_sayable(field which) {
    return which != field::in_phy_port && which != field::ipv6_exthdr;
  }

  std::vector<match_term> protocol() {
    constexpr std::array<std::uint16_t, 8> types = {0x0800, 0x86dd, 0x0806, 0x8847,
                                                    0x8848, 0x05ff, 0x1234, 0x0800};
    constexpr std::array<std::uint8_t, 6> protocols = {6, 17, 132, 1, 58, 99};
    std::vector<match_term> terms;
    if (coin()) terms.push_back(pipeline::test::tagged());
    if (below(8) == 0) return terms;
    const std::uint16_t type = types[below(types.size())];
    terms.push_back(exact(field::eth_type, type));
    if ((type == 0x0800 || type == 0x86dd) && below(4) != 0) {
      const std::uint8_t protocol = protocols[below(protocols.size())];
      terms.push_back(exact(field::ip_proto, protocol));
      if (type == 0x86dd && protocol == 58 && coin()) {
        terms.push_back(exact(field::icmpv6_type, coin() ? 135 : 136));
      }
    }
    return terms;
  }

  match_term term(field which) {
    const field_info& about = info(which);
    value128 mask = full_mask(which);
    if (about.maskable && below(3) == 0) mask &= bits();
    // The library takes an IPv6 mask that begins with a decimal digit for a number of bits.
    if (about.format == field_format::ipv6) mask |= value128{0xa} << 124;
    value128 value = bits() & mask;
    if (which == field::in_port) value = coin() ? value128{port_local} : 1 + below(0xfeff);
    if (which == field::arp_op) value &= 0xff;
    if (which == field::vlan_vid) {
      mask |= vlan_present;
      value |= vlan_present;
    }
    if (which == field::ip_frag) {  // a later fragment has no ports, and "no" means both bits
      mask = full_mask(which);
      value &= ~value128{frag_later};
    }
    if (which == field::icmpv6_code) value = 0;  // as ND has it
    return {which, value, mask};
  }

  action any_action() {
    constexpr std::array<std::uint16_t, 4> below_labels = {0x0800, 0x86dd, 0x8847, 0x1234};
    switch (below(16)) {
      case 15: return any_learn();
      case 14: return any_resubmit();
      case 12: return any_move();
      case 13: return act::output_bits{any_bits(1 + below(128))};
      case 0: {
        act::output made{port()};
        if (made.port == port_controller) made.max_len = static_cast<std::uint16_t>(draw_());
        return made;
      }
      case 1: return act::group{static_cast<group_id>(below(group_max))};
      case 2: return act::set_queue{static_cast<std::uint32_t>(draw_())};
      case 3: return act::push_vlan{static_cast<std::uint16_t>(coin() ? 0x8100 : 0x88a8)};
      case 4: return act::pop_vlan{};
      case 5: return act::push_mpls{static_cast<std::uint16_t>(coin() ? 0x8847 : 0x8848)};
      case 6: return act::pop_mpls{below_labels[below(below_labels.size())]};
      case 7: return act::set_ip_ttl{static_cast<std::uint8_t>(draw_())};
      case 8: return act::dec_ip_ttl{};
      case 9: return act::set_mpls_ttl{static_cast<std::uint8_t>(draw_())};
      case 10: return act::dec_mpls_ttl{};
      default: return any_set();
    }
  }
  /// Of any field, at most `n_max`.
  field_bits any_bits(std::uint64_t n_max) {
    std::size_t at = below(n_fields);
    while (!is_sayable(static_cast<field>(at))) at = (at + 1) % n_fields;
    const unsigned width = info(static_cast<field>(at)).n_bits;
    const std::uint64_t n = std::min<std::uint64_t>(n_max, width);
    return {static_cast<field>(at), static_cast<std::uint8_t>(below(width - n + 1)),
            static_cast<std::uint8_t>(n)};
  }
  action_list clauses() {
    action_list made;
    for (std::uint64_t left = 1 + below(3); left > 0; --left) {
      const std::uint64_t n = clauses_min + below(clauses_max - clauses_min + 1);
      made.push_back(act::conjunction{static_cast<std::uint32_t>(draw_()),
                                      static_cast<std::uint8_t>(below(n)),
                                      static_cast<std::uint8_t>(n)});
    }
    return made;
  }
  action any_resubmit() {
    act::resubmit made{coin() ? port_in_port : 1 + static_cast<port_no>(below(0xfeff)), {}};
    if (made.in_port == port_in_port || coin()) made.table = static_cast<table_id>(below(255));
    return made;
  }
  action any_learn() {
    act::learn made;
    made.table = static_cast<table_id>(below(255));
    made.priority = static_cast<std::uint16_t>(draw_());
    made.idle_timeout_s = static_cast<std::uint16_t>(coin() ? draw_() : 0);
    made.hard_timeout_s = static_cast<std::uint16_t>(coin() ? draw_() : 0);
    made.cookie = coin() ? draw_() : 0;
    made.limit = static_cast<std::uint32_t>(coin() ? draw_() : 0);
    made.send_removed = coin();
    made.takes_along = coin();
    using role = act::learn::part::role;
    for (std::uint64_t left = below(4); left > 0; --left) {
      if (below(3) == 0) {
        made.parts.push_back({role::output, any_bits(1 + below(32)), 0, {}});
        continue;
      }
      act::learn::part one{coin() ? role::match : role::load, {}, 0, any_bits(1 + below(128))};
      if (coin()) {
        one.from = any_bits(one.to.n_bits);
        one.to.n_bits = one.from->n_bits;
      } else {
        one.value = bits() & ones(one.to.n_bits);
      }
      made.parts.push_back(one);
    }
    return made;
  }
  action any_move() {
    act::move made{any_bits(1 + below(128)), {}};
    made.to = any_bits(made.from.n_bits);
    made.from.n_bits = made.to.n_bits;
    return made;
  }
  action any_set() {
    std::size_t at = below(n_fields);
    while (!info(static_cast<field>(at)).writable) at = (at + 1) % n_fields;
    const match_term to = term(static_cast<field>(at));
    return act::set_field{to.which, to.value, to.mask};
  }

  action_list actions(action_place place, packet_knowledge& known) {
    action_list made;
    for (std::uint64_t left = below(6); left > 0; --left) {
      const action one = any_action();
      packet_knowledge after = known;
      if (!check_action(one, place, after)) continue;
      known = after;
      made.push_back(one);
    }
    return made;
  }

  std::function<std::uint64_t()> draw_;
};

}  // namespace coua::ofp::test
