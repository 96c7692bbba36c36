// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <endian.h>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/bits_convert.h"
#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/learn_convert.h"

namespace coua::ofp {
namespace {

namespace act = pipeline::act;
using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;

of_result<void> missing(const char* name) {
  return refuse(of_error::bad_action_type, name, "libopenvswitch has no such action");
}

/// The library knows several ways to ask for an action, by numbers that no header has: that of the
/// one which is said so.
std::uint8_t raw_of(const char* text) {
  ovs_buffer parsed;
  ofputil_protocol usable;
  ofpact_parse_params params = {};
  params.ofpacts = parsed.get();
  params.usable_protocols = &usable;
  const ovs_error_text wrong(ofpacts_parse_actions(text, &params));
  return wrong == nullptr ? parsed.acts()->raw : std::uint8_t{0};
}
std::uint8_t raw_pop_vlan() {
  static const std::uint8_t raw = raw_of("pop_vlan");
  return raw;
}
std::uint8_t raw_load() {
  static const std::uint8_t raw = raw_of("load:0->reg0[]");
  return raw;
}

/// A set_field of these bits has no text that can be read again: the field is said as a whole only,
/// or, of IPv6 addresses, the mask begins as a number of bits does.
bool is_said_as_load(const mf_field& of, const mf_value& mask) {
  if (of.maskable == MFM_NONE) return true;
  char text[INET6_ADDRSTRLEN] = "";
  if (of.string == MFS_IPV6) inet_ntop(AF_INET6, &mask.ipv6, text, sizeof text);
  return text[0] >= '0' && text[0] <= '9';
}

struct putter {
  ofpbuf* into;

  of_result<void> operator()(const act::output& a) const {
    const auto port = to_ovs_port(a.port);
    if (!port) return tl::unexpected(port.error());
    ofpact_output* made = ofpact_put_OUTPUT(into);
    made->port = *port;
    made->max_len = a.port == pipeline::port_controller ? a.max_len : 0;
    return {};
  }
  of_result<void> operator()(const act::group& a) const {
    ofpact_put_GROUP(into)->group_id = a.id;
    return {};
  }
  of_result<void> operator()(const act::set_queue& a) const {
    ofpact_put_SET_QUEUE(into)->queue_id = a.queue;
    return {};
  }
  of_result<void> operator()(const act::push_vlan& a) const {
    ofpact_put_PUSH_VLAN(into)->ethertype = htons(a.ethertype);
    return {};
  }
  of_result<void> operator()(const act::pop_vlan&) const {
    ofpact_put_STRIP_VLAN(into)->ofpact.raw = raw_pop_vlan();
    return {};
  }
  of_result<void> operator()(const act::push_mpls& a) const {
    ofpact_put_PUSH_MPLS(into)->ethertype = htons(a.ethertype);
    return {};
  }
  of_result<void> operator()(const act::pop_mpls& a) const {
    ofpact_put_POP_MPLS(into)->ethertype = htons(a.ethertype);
    return {};
  }
  of_result<void> operator()(const act::set_field& a) const {
    const mf_field* field = to_ovs_field(a.which);
    if (field == nullptr) {
      return refuse(of_error::bad_action_set_type, pipeline::info(a.which).name,
                    "libopenvswitch has no such field");
    }
    const mf_value value = to_ovs_value(*field, a.value);
    const mf_value mask = to_ovs_value(*field, a.mask);
    const bool whole = a.mask == pipeline::full_mask(a.which);
    if (whole && !mf_is_value_valid(field, &value)) {
      return refuse(of_error::bad_action_set_argument, pipeline::to_string(pipeline::action(a)),
                    "libopenvswitch does not take this value");
    }
    ofpact_set_field* made = ofpact_put_set_field(into, field, &value, whole ? nullptr : &mask);
    if (!whole && is_said_as_load(*field, mask)) made->ofpact.raw = raw_load();
    return {};
  }
  of_result<void> operator()(const act::move& a) const {
    const auto from = to_ovs_bits(a.from), to = to_ovs_bits(a.to);
    if (!from) return tl::unexpected(from.error());
    if (!to) return tl::unexpected(to.error());
    ofpact_reg_move* made = ofpact_put_REG_MOVE(into);
    made->src = *from;
    made->dst = *to;
    return {};
  }
  of_result<void> operator()(const act::resubmit& a) const {
    const auto port = to_ovs_port(a.in_port);
    if (!port) return tl::unexpected(port.error());
    ofpact_resubmit* made = ofpact_put_RESUBMIT(into);
    made->in_port = *port;
    made->table_id = a.table.value_or(pipeline::table_all);
    return {};
  }
  of_result<void> operator()(const act::conjunction& a) const {
    ofpact_conjunction* made = ofpact_put_CONJUNCTION(into);
    made->id = a.id;
    made->clause = a.clause;
    made->n_clauses = a.n_clauses;
    return {};
  }
  of_result<void> operator()(const act::learn& a) const { return to_ovs(a, into); }
  of_result<void> operator()(const act::output_bits& a) const {
    const auto from = to_ovs_bits(a.from);
    if (!from) return tl::unexpected(from.error());
    ofpact_output_reg* made = ofpact_put_OUTPUT_REG(into);
    made->src = *from;
    made->max_len = a.max_len;
    return {};
  }
  of_result<void> operator()(const act::set_ip_ttl& a) const {
    ofpact_put_SET_IP_TTL(into)->ttl = a.ttl;
    return {};
  }
  of_result<void> operator()(const act::dec_ip_ttl&) const {
    const std::uint16_t controller = 0;
    ofpact_cnt_ids* made = ofpact_put_DEC_TTL(into);
    made->n_controllers = 1;
    ofpbuf_put(into, &controller, sizeof controller);
    made = static_cast<ofpact_cnt_ids*>(into->header);
    ofpact_finish_DEC_TTL(into, &made);
    return {};
  }
  of_result<void> operator()(const act::set_mpls_ttl& a) const {
    ofpact_put_SET_MPLS_TTL(into)->ttl = a.ttl;
    return {};
  }
  of_result<void> operator()(const act::dec_mpls_ttl&) const {
    ofpact_put_DEC_MPLS_TTL(into);
    return {};
  }
  of_result<void> operator()(const act::copy_ttl_out&) const { return missing("copy_ttl_out"); }
  of_result<void> operator()(const act::copy_ttl_in&) const { return missing("copy_ttl_in"); }
};

}  // namespace

std::uint64_t all_actions() {
  std::uint64_t made = 0;
  for (const ofpact_type each :
       {OFPACT_OUTPUT, OFPACT_GROUP, OFPACT_SET_QUEUE, OFPACT_PUSH_VLAN, OFPACT_STRIP_VLAN,
        OFPACT_PUSH_MPLS, OFPACT_POP_MPLS, OFPACT_SET_FIELD, OFPACT_SET_IP_TTL, OFPACT_DEC_TTL,
        OFPACT_SET_MPLS_TTL, OFPACT_DEC_MPLS_TTL}) {
    made |= std::uint64_t{1} << each;
  }
  return made;
}

of_result<void> to_ovs(const pipeline::action_list& ours, ofpbuf* into) {
  for (const pipeline::action& one : ours) {
    if (auto good = std::visit(putter{into}, one); !good) return good;
  }
  return {};
}

of_result<void> to_ovs(const pipeline::instructions& ours, ofpbuf* into) {
  if (ours.meter) {
    ofpact_meter* made = ofpact_put_METER(into);
    made->meter_id = *ours.meter;
    made->provider_meter_id = UINT32_MAX;
  }
  if (ours.apply) {
    if (auto good = to_ovs(*ours.apply, into); !good) return good;
  }
  if (ours.clear_actions) ofpact_put_CLEAR_ACTIONS(into);
  if (ours.write) {
    const std::size_t start = into->size;
    ofpact_put(into, OFPACT_WRITE_ACTIONS, sizeof(ofpact_nest));
    if (auto good = to_ovs(*ours.write, into); !good) return good;
    auto* nest = static_cast<ofpact_nest*>(ofpbuf_at_assert(into, start, sizeof(ofpact_nest)));
    into->header = nest;
    ofpact_finish_WRITE_ACTIONS(into, &nest);
  }
  if (ours.metadata) {
    ofpact_metadata* made = ofpact_put_WRITE_METADATA(into);
    made->metadata = htobe64(ours.metadata->value);
    made->mask = htobe64(ours.metadata->mask);
  }
  if (ours.goto_table) ofpact_put_GOTO_TABLE(into)->table_id = *ours.goto_table;
  return {};
}

}  // namespace coua::ofp
