// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/action_check.h"

#include "net/ethernet.h"
#include "pipeline/model/conjunction.h"
#include "pipeline/model/learn.h"

namespace coua::pipeline {
namespace {

bool is_mpls(std::uint16_t ethertype) {
  return ethertype == net::ethertype_mpls || ethertype == net::ethertype_mpls_multicast;
}

/// Visits one action: refuses it, or takes note of what it does.
struct checker {
  const action& one;
  action_place place;
  packet_knowledge& known;

  of_result<void> wrong(of_error code, std::string what) const {
    return refuse(code, to_string(one), std::move(what));
  }
  of_result<void> need(prerequisite needed) const {
    const bool has_match = place == action_place::rule || place == action_place::learned_rule ||
                           place == action_place::write_actions;
    if (!has_match || known.meets(needed)) return {};
    return wrong(of_error::bad_action_match_inconsistent,
                 std::string("neither the match nor an action before says that the packet is, or "
                             "has, ") +
                     to_string(needed));
  }

  of_result<void> operator()(const act::output& a) const {
    if (a.port == port_table && place == action_place::packet_out) return {};
    if (is_standard_port(a.port) || a.port == port_in_port || a.port == port_normal ||
        a.port == port_flood || a.port == port_all || a.port == port_controller) {
      return {};
    }
    return wrong(of_error::bad_action_out_port, "no packet can be sent there");
  }
  of_result<void> operator()(const act::group& a) const {
    if (a.id <= group_max) return {};
    return wrong(of_error::bad_action_out_group, "the number is reserved");
  }
  of_result<void> operator()(const act::set_queue&) const { return {}; }
  of_result<void> operator()(const act::push_vlan& a) const {
    if (a.ethertype != net::ethertype_vlan && a.ethertype != net::ethertype_qinq) {
      return wrong(of_error::bad_action_argument, "a tag is 0x8100 or 0x88a8");
    }
    known.pushed_vlan();
    return {};
  }
  of_result<void> operator()(const act::pop_vlan&) const {
    return place == action_place::learned_rule ? of_result<void>{} : need(prerequisite::vlan);
  }
  of_result<void> operator()(const act::push_mpls& a) const {
    if (!is_mpls(a.ethertype)) {
      return wrong(of_error::bad_action_argument, "an MPLS header is 0x8847 or 0x8848");
    }
    known.changed_eth_type(a.ethertype);
    return {};
  }
  of_result<void> operator()(const act::pop_mpls& a) const {
    if (auto good = need(prerequisite::mpls); !good) return good;
    if (a.ethertype < net::ethertype_min || a.ethertype == net::ethertype_vlan ||
        a.ethertype == net::ethertype_qinq) {
      return wrong(of_error::bad_action_argument, "that is no type of what can follow a label");
    }
    known.changed_eth_type(a.ethertype);
    return {};
  }
  of_result<void> operator()(const act::set_field& a) const {
    const field_info& about = info(a.which);
    if (!about.writable) {
      return wrong(of_error::bad_action_set_type, "the field cannot be written");
    }
    const value128 full = full_mask(a.which);
    if (((a.value | a.mask) & ~full) != 0 || (a.value & ~a.mask) != 0 || a.mask == 0) {
      return wrong(of_error::bad_action_set_argument,
                   "value and mask must be within the field, and the value within the mask");
    }
    if (a.which == field::vlan_vid && (a.value & vlan_present) == 0) {
      return wrong(of_error::bad_action_set_argument,
                   "a VLAN number needs the present bit (0x1000); pop_vlan takes a tag away");
    }
    const prerequisite needed = a.which == field::vlan_vid ? prerequisite::vlan : about.needs;
    if (auto good = need(needed); !good) return good;
    known.wrote(a.which, a.value, a.mask);
    return {};
  }
  of_result<void> operator()(const act::move& a) const {
    if (a.from.n_bits != a.to.n_bits || !is_within(a.from) || !is_within(a.to)) {
      return wrong(of_error::bad_action_set_argument,
                   "bits must be within the fields, and as many");
    }
    if (!info(a.to.which).writable && a.to.which != field::metadata) {
      return wrong(of_error::bad_action_set_type, "the field cannot be written");
    }
    const bool to_vid = a.to.which == field::vlan_vid;
    if (to_vid && (mask_of(a.to) & vlan_present) != 0) {
      return wrong(of_error::bad_action_set_argument,
                   "whether there is a tag is for push_vlan and pop_vlan to say");
    }
    if (auto good = need(info(a.from.which).needs); !good) return good;
    if (auto good = need(to_vid ? prerequisite::vlan : info(a.to.which).needs); !good) return good;
    known.wrote(a.to.which, 0, 0);
    return {};
  }
  of_result<void> operator()(const act::resubmit& a) const {
    if (place == action_place::write_actions) {
      return wrong(of_error::bad_action_type, "it cannot be in an action set");
    }
    if (is_standard_port(a.in_port) || a.in_port == port_in_port || a.in_port == port_controller) {
      return {};
    }
    return wrong(of_error::bad_action_argument, "no packet comes from there");
  }
  of_result<void> operator()(const act::conjunction& a) const {
    if (place != action_place::rule) {
      return wrong(of_error::bad_action_type, "only rules are clauses of a conjunction");
    }
    if (a.n_clauses < clauses_min || a.n_clauses > clauses_max || a.clause >= a.n_clauses) {
      return wrong(of_error::nicira_bad_conjunction, "a conjunction has 2 to 64 clauses");
    }
    return {};
  }
  of_result<void> operator()(const act::learn& a) const {
    if (place == action_place::write_actions || place == action_place::bucket) {
      return wrong(of_error::bad_action_type, "it cannot be in an action set");
    }
    for (const act::learn::part& each : a.parts) {
      if (!each.from) continue;
      if (auto good = need(info(each.from->which).needs); !good) return good;
    }
    return check_learn(a);
  }
  of_result<void> operator()(const act::output_bits& a) const {
    if (!is_within(a.from)) {
      return wrong(of_error::bad_action_set_argument, "bits must be within the field");
    }
    return need(info(a.from.which).needs);
  }
  of_result<void> operator()(const act::set_ip_ttl&) const { return need(prerequisite::ip); }
  of_result<void> operator()(const act::dec_ip_ttl&) const { return need(prerequisite::ip); }
  of_result<void> operator()(const act::set_mpls_ttl&) const { return need(prerequisite::mpls); }
  of_result<void> operator()(const act::dec_mpls_ttl&) const { return need(prerequisite::mpls); }
  of_result<void> operator()(const act::copy_ttl_out&) const { return need(prerequisite::mpls); }
  of_result<void> operator()(const act::copy_ttl_in&) const { return need(prerequisite::mpls); }
};

}  // namespace

of_result<void> check_action(const action& one, action_place place, packet_knowledge& known) {
  return std::visit(checker{one, place, known}, one);
}

}  // namespace coua::pipeline
