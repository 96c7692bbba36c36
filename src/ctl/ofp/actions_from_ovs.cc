// SPDX-License-Identifier: Apache-2.0
#include <endian.h>

#include <tuple>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/bits_convert.h"
#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/learn_convert.h"
#include "net/ethernet.h"
#include "pipeline/model/action_check.h"

namespace coua::ofp {
namespace {

namespace act = pipeline::act;
using pipeline::action_list;
using pipeline::field;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::prerequisite;
using pipeline::refuse;
using pipeline::value128;

of_result<void> unknown(const ofpact& one) {
  return refuse(of_error::bad_action_type, ofpact_name(one.type), "the switch has no such action");
}

std::uint32_t number(ovs_be32 address) { return ntohl(address); }

value128 number(const eth_addr& mac) { return from_ovs_value(mac.ea, sizeof mac.ea); }

of_result<void> add_controller(const ofpact_controller& to, action_list& into) {
  if (to.controller_id != 0 || to.pause || to.userdata_len != 0 || to.reason != OFPR_ACTION ||
      to.meter_id != NX_CTLR_NO_METER) {
    return refuse(of_error::bad_action_argument, "controller", "max_len is the only option");
  }
  into.push_back(act::output{pipeline::port_controller, to.max_len});
  return {};
}

/// What is known of a packet where an action stands.
class place {
 public:
  place() = default;
  explicit place(const pipeline::match& match) : known_(match) {}

  /// Behind a pop there may be another tag; as ovs-ofctl, we take it that there is none.
  bool is_tagged() const { return !popped_ && known_.meets(prerequisite::vlan); }
  bool is(prerequisite protocol) const { return known_.meets(protocol); }

  /// Whether the action is allowed is for the model to say.
  void pass(const pipeline::action& one) {
    std::ignore = check_action(one, pipeline::action_place::rule, known_);
    if (std::holds_alternative<act::pop_vlan>(one)) popped_ = true;
    if (std::holds_alternative<act::push_vlan>(one)) popped_ = false;
  }

 private:
  pipeline::packet_knowledge known_;
  bool popped_ = false;
};

/// In OpenFlow 1.0, setting a part of a tag makes a tag where there is none.
void add_tag_if_needed(bool wanted, const place& here, action_list& into) {
  if (wanted && !here.is_tagged()) into.push_back(act::push_vlan{net::ethertype_vlan});
}

/// A register of 64 or 128 bits is a row of ours, the first of them the highest.
void add_wide_register(unsigned first, unsigned n_registers, value128 value, value128 mask,
                       action_list& into) {
  for (unsigned i = 0; i < n_registers; ++i) {
    const unsigned shift = 32 * (n_registers - 1 - i);
    const auto bits = static_cast<std::uint32_t>(mask >> shift);
    const auto wanted = static_cast<std::uint32_t>(value >> shift) & bits;
    if (bits != 0) into.push_back(act::set_field{pipeline::reg(first + i), wanted, bits});
  }
}

/// Of a tag that is there, whatever the mask says of that.
void add_vlan_vid(value128 value, value128 mask, action_list& into) {
  into.push_back(act::set_field{field::vlan_vid, value | pipeline::vlan_present,
                                mask | pipeline::vlan_present});
}

/// A tag as a whole, or parts of it: the bit between priority and number says whether there is one.
void add_vlan_tci(unsigned value, unsigned mask, const place& here, action_list& into) {
  constexpr unsigned vid = 0x0fff, pcp_first = 13;
  const bool says_whether = (mask & pipeline::vlan_present) != 0;
  if (says_whether && (value & pipeline::vlan_present) == 0) {
    into.push_back(act::pop_vlan{});
    return;
  }
  add_tag_if_needed(says_whether, here, into);
  if ((mask & vid) != 0) add_vlan_vid(value & vid, mask & vid, into);
  if (mask >> pcp_first != 0) {
    into.push_back(act::set_field{field::vlan_pcp, value >> pcp_first, mask >> pcp_first});
  }
}

of_result<void> add_set_field(const ofpact_set_field& set, const place& here, action_list& into) {
  const mf_field& theirs = *set.field;
  const value128 mask = from_ovs_value(ofpact_set_field_mask(&set), theirs.n_bytes);
  const value128 value = from_ovs_value(set.value, theirs.n_bytes) & mask;
  if (theirs.id == MFF_VLAN_TCI) {
    add_vlan_tci(static_cast<unsigned>(value), static_cast<unsigned>(mask), here, into);
    return {};
  }
  if (theirs.id == MFF_VLAN_VID && (mask & pipeline::vlan_present) == 0) {
    add_vlan_vid(value, mask, into);
    return {};
  }
  if (theirs.id >= MFF_XREG0 && theirs.id <= MFF_XREG7) {
    add_wide_register(2 * (theirs.id - MFF_XREG0), 2, value, mask, into);
    return {};
  }
  if (theirs.id >= MFF_XXREG0 && theirs.id <= MFF_XXREG3) {
    add_wide_register(4 * (theirs.id - MFF_XXREG0), 4, value, mask, into);
    return {};
  }
  if (theirs.id == MFF_IP_DSCP) {  // in place, above the two bits of ECN
    into.push_back(act::set_field{field::ip_dscp, value >> 2 & 0x3f, mask >> 2 & 0x3f});
    return {};
  }
  const auto which = from_ovs_field(theirs.id);
  if (!which || !pipeline::info(*which).writable) {
    return refuse(of_error::bad_action_set_type, std::string("set_field to ") + theirs.name,
                  "the switch cannot write this field");
  }
  if (!mf_is_value_valid(&theirs, set.value)) {  // a load is not checked where it is read
    return refuse(of_error::bad_action_set_argument, std::string("set_field to ") + theirs.name,
                  "libopenvswitch does not take this value");
  }
  const value128 full = pipeline::full_mask(*which);
  into.push_back(act::set_field{*which, value & full, mask & full});
  return {};
}

of_result<void> add_move(const ofpact_reg_move& what, action_list& into) {
  const auto moves = moves_from_ovs(what.src, what.dst);
  if (!moves) return tl::unexpected(moves.error());
  into.insert(into.end(), moves->begin(), moves->end());
  return {};
}

of_result<void> add_resubmit(const ofpact_resubmit& to, action_list& into) {
  if (to.with_ct_orig) {
    return refuse(of_error::bad_action_type, "resubmit", "connections are not tracked");
  }
  act::resubmit made{from_ovs_port(to.in_port), {}};
  if (to.table_id != pipeline::table_all) made.table = to.table_id;
  if (made.in_port == pipeline::port_in_port && !made.table) {
    return refuse(of_error::bad_action_argument, "resubmit", "neither a port nor a table");
  }
  into.push_back(made);
  return {};
}

of_result<void> add_learn(const ofpact_learn& theirs, action_list& into) {
  auto made = from_ovs(theirs);
  if (!made) return tl::unexpected(made.error());
  into.push_back(std::move(*made));
  return {};
}

of_result<void> add_output_bits(const ofpact_output_reg& to, action_list& into) {
  const auto from = bits_from_ovs(to.src);
  if (!from) return tl::unexpected(from.error());
  into.push_back(act::output_bits{*from, to.max_len});
  return {};
}

of_result<void> add_output(const ofpact_output& to, action_list& into) {
  if (ofpact_check_output_port(to.port, OFP_PORT_C(ovs_ports_end)) != 0) {
    return refuse(of_error::bad_action_out_port, "output:" + std::to_string(to.port),
                  "no packet can be sent there");
  }
  act::output made{from_ovs_port(to.port)};
  if (made.port == pipeline::port_controller) made.max_len = to.max_len;
  into.push_back(made);
  return {};
}

of_result<void> add_l4_port(const ofpact_l4_port& set, bool source, const place& here,
                            action_list& into) {
  field which;
  if (here.is(prerequisite::tcp)) {
    which = source ? field::tcp_src : field::tcp_dst;
  } else if (here.is(prerequisite::udp)) {
    which = source ? field::udp_src : field::udp_dst;
  } else if (here.is(prerequisite::sctp)) {
    which = source ? field::sctp_src : field::sctp_dst;
  } else {
    return refuse(of_error::bad_action_match_inconsistent, source ? "mod_tp_src" : "mod_tp_dst",
                  "of which protocol? use set_field:" + std::to_string(set.port) + "->tcp_" +
                      (source ? "src" : "dst") + " or the like");
  }
  into.push_back(act::set(which, set.port));
  return {};
}

of_result<void> add_dec_ttl(const ofpact_cnt_ids& dec, action_list& into) {
  if (dec.n_controllers != 1 || dec.cnt_ids[0] != 0) {
    return refuse(of_error::bad_action_argument, "dec_ttl", "controllers cannot be chosen");
  }
  into.push_back(act::dec_ip_ttl{});
  return {};
}

of_result<void> add_one(const ofpact& one, const place& here, action_list& into) {
  switch (one.type) {
    case OFPACT_OUTPUT: return add_output(*ofpact_get_OUTPUT(&one), into);
    case OFPACT_CONTROLLER: return add_controller(*ofpact_get_CONTROLLER(&one), into);
    case OFPACT_ENQUEUE:
      return refuse(of_error::bad_action_type, "enqueue",
                    "OpenFlow 1.3 has no such action: use set_queue and output");
    case OFPACT_GROUP: into.push_back(act::group{ofpact_get_GROUP(&one)->group_id}); return {};
    case OFPACT_SET_QUEUE:
      into.push_back(act::set_queue{ofpact_get_SET_QUEUE(&one)->queue_id});
      return {};
    case OFPACT_SET_FIELD: return add_set_field(*ofpact_get_SET_FIELD(&one), here, into);
    case OFPACT_REG_MOVE: return add_move(*ofpact_get_REG_MOVE(&one), into);
    case OFPACT_CONJUNCTION: {
      const ofpact_conjunction& of = *ofpact_get_CONJUNCTION(&one);
      into.push_back(act::conjunction{of.id, of.clause, of.n_clauses});
      return {};
    }
    case OFPACT_LEARN: return add_learn(*ofpact_get_LEARN(&one), into);
    case OFPACT_RESUBMIT: return add_resubmit(*ofpact_get_RESUBMIT(&one), into);
    case OFPACT_OUTPUT_REG: return add_output_bits(*ofpact_get_OUTPUT_REG(&one), into);
    case OFPACT_SET_VLAN_VID: {
      const ofpact_vlan_vid& set = *ofpact_get_SET_VLAN_VID(&one);
      add_tag_if_needed(set.push_vlan_if_needed, here, into);
      into.push_back(act::set(field::vlan_vid, set.vlan_vid | pipeline::vlan_present));
      return {};
    }
    case OFPACT_SET_VLAN_PCP: {
      const ofpact_vlan_pcp& set = *ofpact_get_SET_VLAN_PCP(&one);
      add_tag_if_needed(set.push_vlan_if_needed, here, into);
      into.push_back(act::set(field::vlan_pcp, set.vlan_pcp));
      return {};
    }
    case OFPACT_STRIP_VLAN: into.push_back(act::pop_vlan{}); return {};
    case OFPACT_PUSH_VLAN:
      into.push_back(act::push_vlan{ntohs(ofpact_get_PUSH_VLAN(&one)->ethertype)});
      return {};
    case OFPACT_SET_ETH_SRC:
      into.push_back(act::set(field::eth_src, number(ofpact_get_SET_ETH_SRC(&one)->mac)));
      return {};
    case OFPACT_SET_ETH_DST:
      into.push_back(act::set(field::eth_dst, number(ofpact_get_SET_ETH_DST(&one)->mac)));
      return {};
    case OFPACT_SET_IPV4_SRC:
      into.push_back(act::set(field::ipv4_src, number(ofpact_get_SET_IPV4_SRC(&one)->ipv4)));
      return {};
    case OFPACT_SET_IPV4_DST:
      into.push_back(act::set(field::ipv4_dst, number(ofpact_get_SET_IPV4_DST(&one)->ipv4)));
      return {};
    case OFPACT_SET_IP_DSCP:
      into.push_back(act::set(field::ip_dscp, ofpact_get_SET_IP_DSCP(&one)->dscp >> 2));
      return {};
    case OFPACT_SET_IP_ECN:
      into.push_back(act::set(field::ip_ecn, ofpact_get_SET_IP_ECN(&one)->ecn & 3));
      return {};
    case OFPACT_SET_IP_TTL:
      into.push_back(act::set_ip_ttl{ofpact_get_SET_IP_TTL(&one)->ttl});
      return {};
    case OFPACT_SET_L4_SRC_PORT:
      return add_l4_port(*ofpact_get_SET_L4_SRC_PORT(&one), true, here, into);
    case OFPACT_SET_L4_DST_PORT:
      return add_l4_port(*ofpact_get_SET_L4_DST_PORT(&one), false, here, into);
    case OFPACT_DEC_TTL: return add_dec_ttl(*ofpact_get_DEC_TTL(&one), into);
    case OFPACT_SET_MPLS_LABEL:
      into.push_back(act::set(field::mpls_label, number(ofpact_get_SET_MPLS_LABEL(&one)->label)));
      return {};
    case OFPACT_SET_MPLS_TC:
      into.push_back(act::set(field::mpls_tc, ofpact_get_SET_MPLS_TC(&one)->tc));
      return {};
    case OFPACT_SET_MPLS_TTL:
      into.push_back(act::set_mpls_ttl{ofpact_get_SET_MPLS_TTL(&one)->ttl});
      return {};
    case OFPACT_DEC_MPLS_TTL: into.push_back(act::dec_mpls_ttl{}); return {};
    case OFPACT_PUSH_MPLS:
      into.push_back(act::push_mpls{ntohs(ofpact_get_PUSH_MPLS(&one)->ethertype)});
      return {};
    case OFPACT_POP_MPLS:
      into.push_back(act::pop_mpls{ntohs(ofpact_get_POP_MPLS(&one)->ethertype)});
      return {};
    case OFPACT_SET_TUNNEL:
      into.push_back(act::set(field::tunnel_id, ofpact_get_SET_TUNNEL(&one)->tun_id));
      return {};
    default: return unknown(one);
  }
}

of_result<void> add(const ofpact& one, place& here, action_list& into) {
  const std::size_t before = into.size();
  if (auto good = add_one(one, here, into); !good) return good;
  for (std::size_t i = before; i < into.size(); ++i) here.pass(into[i]);
  return {};
}

of_result<action_list> list_from_ovs(const ofpact* acts, std::size_t len, place here) {
  action_list made;
  const ofpact* one;
  OFPACT_FOR_EACH(one, acts, len) {
    if (auto good = add(*one, here, made); !good) return tl::unexpected(good.error());
  }
  return made;
}

/// One that is an instruction: true when it was one.
of_result<bool> add_instruction(const ofpact& one, const place& here,
                                pipeline::instructions& into) {
  switch (one.type) {
    case OFPACT_METER: into.meter = ofpact_get_METER(&one)->meter_id; return true;
    case OFPACT_CLEAR_ACTIONS: into.clear_actions = true; return true;
    case OFPACT_WRITE_ACTIONS: {
      const ofpact_nest& nest = *ofpact_get_WRITE_ACTIONS(&one);
      auto list = list_from_ovs(nest.actions, ofpact_nest_get_action_len(&nest), here);
      if (!list) return tl::unexpected(list.error());
      into.write = std::move(*list);
      return true;
    }
    case OFPACT_WRITE_METADATA: {
      const ofpact_metadata& write = *ofpact_get_WRITE_METADATA(&one);
      const std::uint64_t mask = be64toh(write.mask);
      into.metadata = pipeline::metadata_write{be64toh(write.metadata) & mask, mask};
      return true;
    }
    case OFPACT_GOTO_TABLE: into.goto_table = ofpact_get_GOTO_TABLE(&one)->table_id; return true;
    default: return false;
  }
}

}  // namespace

of_result<action_list> actions_from_ovs(const ofpact* acts, std::size_t len) {
  return list_from_ovs(acts, len, {});
}

of_result<pipeline::instructions> instructions_from_ovs(const ofpact* acts, std::size_t len,
                                                        const pipeline::match& match) {
  pipeline::instructions made;
  place here(match);
  const ofpact* one;
  OFPACT_FOR_EACH(one, acts, len) {
    const auto taken = add_instruction(*one, here, made);
    if (!taken) return tl::unexpected(taken.error());
    if (*taken) continue;
    if (!made.apply) made.apply.emplace().reserve(4);  // more are rare
    if (auto good = add(*one, here, *made.apply); !good) return tl::unexpected(good.error());
  }
  return made;
}

}  // namespace coua::ofp
