// SPDX-License-Identifier: Apache-2.0

#include <endian.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/message.h"
#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_check.h"
#include "ctl/ofp/wire_flow_mod.h"
#include "ctl/ofp/wire_message.h"
#include "ctl/ofp/wire_rule.h"

namespace coua::ofp {
namespace {

using decoded = tl::expected<request, refusal>;
using pipeline::of_result;

constexpr std::uint16_t experimenter_error = 0xffff;
constexpr std::uint32_t onf = 0x4f4e'4600;
constexpr std::uint32_t onf_bundle_control = 2300, onf_bundle_add = 2301;

bool is(wire_type_of type, message_view one) {
  return type_of(one) == static_cast<std::uint8_t>(type);
}

tl::unexpected<refusal> refuse_by(ofperr code) {
  const int vendor = ofperr_get_vendor(code, OFP13_VERSION);
  const int type = ofperr_get_type(code, OFP13_VERSION);
  if (type < 0) return tl::unexpected(bad_type());
  if (vendor != 0) {
    return tl::unexpected(refusal{experimenter_error, static_cast<std::uint16_t>(type),
                                  static_cast<std::uint32_t>(vendor), ofperr_get_name(code)});
  }
  return tl::unexpected(refusal{static_cast<std::uint16_t>(type),
                                static_cast<std::uint16_t>(ofperr_get_code(code, OFP13_VERSION)), 0,
                                ofperr_get_name(code)});
}

template <class T>
decoded or_refuse(of_result<T> made) {
  if (!made) return tl::unexpected(to_refusal(made.error()));
  return std::move(*made);
}

/// Of a message whose length was checked.
template <class Body>
const Body& body_of(message_view one, std::size_t at) {
  return *reinterpret_cast<const Body*>(one.data() + at);
}
constexpr std::size_t multipart_body = 16;

/// A filter by port, in a message that the library is to decode: it would refuse a number that it
/// has no port for, which no rule has an output to.
class port_filter {
 public:
  port_filter(message_view& of, std::size_t at) : number_(u32(of, at)) {
    if (to_ovs_port(number_)) return;
    without_.assign(of.begin(), of.end());
    std::fill_n(without_.begin() + static_cast<std::ptrdiff_t>(at), sizeof number_, 0xff);  // any
    of = without_;
  }
  pipeline::port_no number() const { return number_; }

 private:
  pipeline::port_no number_;
  message without_;
};

/// Whether all that the library has against a flow_mod is how its actions fit the packets. It
/// follows two tags of a packet only, and what may come behind is not said; the model knows better,
/// and looks at each list anyhow.
bool is_for_the_model(ofperr wrong, const ofputil_flow_mod& parsed) {
  return parsed.ofpacts != nullptr &&
         (wrong == OFPERR_OFPBAC_MATCH_INCONSISTENT || wrong == OFPERR_OFPBAC_BAD_TAG);
}

/// That of a flow_mod whose match the library has taken already.
void take_match(message_view one, ofputil_flow_mod& into) {
  const message_view from = one.subspan(flow_mod_at::match);
  ofpbuf rest = ofpbuf_const_initializer(from.data(), from.size());
  ::match taken;
  std::uint16_t padded = 0;
  COUA_CHECK(ofputil_pull_ofp11_match(&rest, nullptr, nullptr, &taken, &padded) == 0);
  minimatch_init(&into.match, &taken);
}

decoded flow_mod(message_view one) {
  const port_filter filter(one, flow_mod_at::out_port);
  ovs_flow_mod parsed;
  ovs_buffer acts;
  // Any port and table: what a rule may name is for the model to say.
  const ofperr wrong =
      ofputil_decode_flow_mod(&parsed, to_library(one), OFPUTIL_P_OF13_OXM, nullptr, nullptr,
                              acts.get(), OFP_PORT_C(ovs_ports_end), 255);
  const bool is_refused = wrong != 0 && !is_for_the_model(wrong, parsed);
  parsed.ofpacts = nullptr;  // they are the buffer's
  if (is_refused) return refuse_by(wrong);
  if (wrong != 0) take_match(one, parsed);
  if (parsed.buffer_id != no_buffer_id && parsed.command < OFPFC_DELETE) {
    return tl::unexpected(no_buffer());
  }
  parsed.ofpacts = static_cast<ofpact*>(ofpbuf_steal_data(acts.get()));
  auto made = from_ovs(parsed);
  if (made) made->out_port = filter.number();
  return or_refuse(std::move(made));
}

decoded group_mod(message_view one) {
  ovs_group_mod parsed;
  if (const ofperr wrong = ofputil_decode_group_mod(to_library(one), &parsed))
    return refuse_by(wrong);
  return or_refuse(from_ovs(parsed));
}

decoded meter_mod(message_view one) {
  ofputil_meter_mod parsed{};
  ovs_buffer bands;
  if (const ofperr wrong = ofputil_decode_meter_mod(to_library(one), &parsed, bands.get())) {
    return refuse_by(wrong);
  }
  return or_refuse(from_ovs(parsed));
}

decoded packet_out(message_view one) {
  constexpr std::size_t in_port_at = 12;
  if (!to_ovs_port(u32(one, in_port_at))) return tl::unexpected(bad_port());
  ofputil_packet_out parsed{};
  ovs_buffer acts;
  if (const ofperr wrong =
          ofputil_decode_packet_out(&parsed, to_library(one), nullptr, acts.get())) {
    return refuse_by(wrong);
  }
  if (parsed.buffer_id != no_buffer_id) return tl::unexpected(no_buffer());
  auto actions = actions_from_ovs(parsed.ofpacts, parsed.ofpacts_len);
  if (!actions) return tl::unexpected(to_refusal(actions.error()));
  ask::packet_out made;
  made.in_port = from_ovs_port(parsed.flow_metadata.flow.in_port.ofp_port);
  made.actions = std::move(*actions);
  const auto* bytes = static_cast<const std::uint8_t*>(parsed.packet);
  made.bytes.assign(bytes, bytes + parsed.packet_len);
  return made;
}

decoded rules(message_view one) {
  constexpr std::size_t out_port_at = 20;
  const port_filter filter(one, out_port_at);
  ofputil_flow_stats_request parsed{};
  if (const ofperr wrong =
          ofputil_decode_flow_stats_request(&parsed, to_library(one), nullptr, nullptr)) {
    return refuse_by(wrong);
  }
  auto match = from_ovs(parsed.match);
  if (!match) return tl::unexpected(to_refusal(match.error()));
  ask::rules made;
  made.sum = parsed.aggregate;
  made.filter.table = parsed.table_id;
  made.filter.match = std::move(*match);
  made.filter.cookie_mask = be64toh(parsed.cookie_mask);
  made.filter.cookie = be64toh(parsed.cookie) & made.filter.cookie_mask;
  made.filter.out_port = filter.number();
  made.filter.out_group = parsed.out_group;
  return made;
}

// Messages of one length hold what they say: the library would drop bits, and refuse ports, that it
// does not have.

ask::port_mod port_mod(message_view one) {
  const auto& body = body_of<ofp11_port_mod>(one, header_bytes);
  ask::port_mod made;
  made.number = ntohl(body.port_no);
  std::memcpy(made.mac.data(), body.hw_addr.ea, made.mac.size());
  made.config = ntohl(body.config);
  made.mask = ntohl(body.mask);
  made.advertise = ntohl(body.advertise);
  return made;
}

ask::table_mod table_mod(message_view one) {
  const auto& body = body_of<ofp11_table_mod>(one, header_bytes);
  return {body.table_id, ntohl(body.config)};
}

decoded set_config(message_view one) {
  const auto& body = body_of<ofp_switch_config>(one, header_bytes);
  constexpr std::uint16_t bad_flags = 0;
  if (ntohs(body.flags) > OFPC_FRAG_REASM) {
    return tl::unexpected(refusal{switch_config_failed, bad_flags, 0, "unknown flags"});
  }
  return ask::set_config{ntohs(body.flags), ntohs(body.miss_send_len)};
}

decoded role(message_view one) {
  ofputil_role_request parsed{};
  if (const ofperr wrong = ofputil_decode_role_message(to_library(one), &parsed)) {
    return refuse_by(wrong);
  }
  return ask::role{static_cast<controller_role>(parsed.role), parsed.generation_id};
}

ask::set_async set_async(message_view one) {
  const auto& body = body_of<nx_async_config>(one, header_bytes);
  const auto of = [&body](int role) {
    return async_masks::of_role{ntohl(body.packet_in_mask[role]),
                                ntohl(body.port_status_mask[role]),
                                ntohl(body.flow_removed_mask[role])};
  };
  return {{of(0), of(1)}};
}

ask::table_features table_features(message_view one) {
  const message_view body = one.subspan(multipart_body);
  return {message(body.begin(), body.end()), ofpmp_more(to_library(one))};
}

ask::port_stats port_stats(message_view one) {
  return {ntohl(body_of<ofp11_port_stats_request>(one, multipart_body).port_no)};
}

decoded group_stats(message_view one) {
  std::uint32_t id = 0;
  if (const ofperr wrong = ofputil_decode_group_stats_request(to_library(one), &id)) {
    return refuse_by(wrong);
  }
  return ask::group_stats{id};
}

std::uint32_t meter_of(message_view one) {
  return ntohl(body_of<ofp13_meter_multipart_request>(one, multipart_body).meter_id);
}

ask::queue_stats queue_stats(message_view one) {
  const auto& body = body_of<ofp11_queue_stats_request>(one, multipart_body);
  return {ntohl(body.port_no), ntohl(body.queue_id)};
}

ask::queue_config queue_config(message_view one) {
  return {ntohl(body_of<ofp11_queue_get_config_request>(one, header_bytes).port)};
}

decoded bundle_control(message_view one) {
  ofputil_bundle_ctrl_msg parsed{};
  if (const ofperr wrong = ofputil_decode_bundle_ctrl(to_library(one), &parsed)) {
    return refuse_by(wrong);
  }
  if (parsed.type > OFPBCT_DISCARD_REPLY || parsed.type % 2 != 0) {
    return tl::unexpected(bundle_refusal(bundle_error::bad_type));
  }
  return ask::bundle_control{parsed.bundle_id, static_cast<bundle_step>(parsed.type), parsed.flags};
}

bool is_for_bundles(message_view one) {
  return is(wire_type_of::flow_mod, one) || is(wire_type_of::group_mod, one) ||
         is(wire_type_of::meter_mod, one);
}

ask::bundle_add bundle_add(message_view one) {
  ofputil_bundle_add_msg parsed{};
  const ofperr wrong = ofputil_decode_bundle_add(to_library(one), &parsed, nullptr);
  ask::bundle_add made{parsed.bundle_id, parsed.flags, {}};
  // The library has no meters in bundles, nor anything that it cannot decode. It says so last,
  // after all else was looked at.
  if (wrong != 0 && wrong != OFPERR_OFPBFC_MSG_UNSUP) {
    made.inner = refuse_by(wrong);
    return made;
  }
  const message_view inner(reinterpret_cast<const std::uint8_t*>(parsed.msg),
                           ntohs(parsed.msg->length));
  if (is_for_bundles(inner)) {
    made.inner.emplace(inner.begin(), inner.end());
  } else {
    made.inner = tl::unexpected(bundle_refusal(bundle_error::unsupported_message));
  }
  return made;
}

decoded by_type(ofptype type, message_view one) {
  switch (static_cast<int>(type)) {
    case OFPTYPE_HELLO:
    case OFPTYPE_ERROR:
    case OFPTYPE_ECHO_REPLY: return ask::nothing{};
    case OFPTYPE_ECHO_REQUEST: return ask::echo{};
    case OFPTYPE_FEATURES_REQUEST: return ask::features{};
    case OFPTYPE_GET_CONFIG_REQUEST: return ask::get_config{};
    case OFPTYPE_SET_CONFIG: return set_config(one);
    case OFPTYPE_BARRIER_REQUEST: return ask::barrier{};
    case OFPTYPE_ROLE_REQUEST: return role(one);
    case OFPTYPE_GET_ASYNC_REQUEST: return ask::get_async{};
    case OFPTYPE_SET_ASYNC_CONFIG: return set_async(one);
    case OFPTYPE_FLOW_MOD: return flow_mod(one);
    case OFPTYPE_GROUP_MOD: return group_mod(one);
    case OFPTYPE_METER_MOD: return meter_mod(one);
    case OFPTYPE_PORT_MOD: return port_mod(one);
    case OFPTYPE_TABLE_MOD: return table_mod(one);
    case OFPTYPE_PACKET_OUT: return packet_out(one);
    case OFPTYPE_DESC_STATS_REQUEST: return ask::description{};
    case OFPTYPE_FLOW_STATS_REQUEST:
    case OFPTYPE_AGGREGATE_STATS_REQUEST: return rules(one);
    case OFPTYPE_TABLE_STATS_REQUEST: return ask::tables{};
    case OFPTYPE_TABLE_FEATURES_STATS_REQUEST: return table_features(one);
    case OFPTYPE_PORT_STATS_REQUEST: return port_stats(one);
    case OFPTYPE_PORT_DESC_STATS_REQUEST: return ask::port_descriptions{};
    case OFPTYPE_GROUP_STATS_REQUEST: return group_stats(one);
    case OFPTYPE_GROUP_DESC_STATS_REQUEST: return ask::group_descriptions{};
    case OFPTYPE_GROUP_FEATURES_STATS_REQUEST: return ask::group_features{};
    case OFPTYPE_METER_STATS_REQUEST: return ask::meter_stats{meter_of(one)};
    case OFPTYPE_METER_CONFIG_STATS_REQUEST: return ask::meter_configs{meter_of(one)};
    case OFPTYPE_METER_FEATURES_STATS_REQUEST: return ask::meter_features{};
    case OFPTYPE_QUEUE_STATS_REQUEST: return queue_stats(one);
    case OFPTYPE_QUEUE_GET_CONFIG_REQUEST: return queue_config(one);
    case OFPTYPE_BUNDLE_CONTROL: return bundle_control(one);
    case OFPTYPE_BUNDLE_ADD_MESSAGE: return bundle_add(one);
    default: return tl::unexpected(bad_type());
  }
}

/// A request in several messages; only one of table features may be.
bool is_cut(ofptype type, message_view one) {
  if (!is(wire_type_of::multipart_request, one) || type == OFPTYPE_TABLE_FEATURES_STATS_REQUEST) {
    return false;
  }
  return ofpmp_more(to_library(one));
}

/// Of experimenters the switch has the bundles of the ONF; the library knows many more.
tl::expected<void, refusal> check_experimenter(message_view one) {
  constexpr std::uint16_t bad_experimenter = 3, bad_experimenter_type = 4;
  const bool in_parts = is(wire_type_of::multipart_request, one) && one.size() >= multipart_body &&
                        u16(one, header_bytes) == 0xffff;
  if (in_parts) {
    return tl::unexpected(refusal{bad_request, bad_experimenter, 0, "an unknown experimenter"});
  }
  if (!is(wire_type_of::experimenter, one)) return {};
  if (one.size() < header_bytes + 8) return tl::unexpected(bad_length());
  if (u32(one, header_bytes) != onf) {
    return tl::unexpected(refusal{bad_request, bad_experimenter, 0, "an unknown experimenter"});
  }
  const std::uint32_t type = u32(one, header_bytes + 4);
  if (type != onf_bundle_control && type != onf_bundle_add) {
    return tl::unexpected(refusal{bad_request, bad_experimenter_type, 0, "an unknown extension"});
  }
  return {};
}

}  // namespace

bool is_bundle_add(message_view one) {
  return is(wire_type_of::experimenter, one) && one.size() >= header_bytes + 8 &&
         u32(one, header_bytes) == onf && u32(one, header_bytes + 4) == onf_bundle_add;
}

std::optional<std::uint32_t> bundle_of(message_view one) {
  constexpr std::size_t id_at = header_bytes + 8;
  if (one.size() < id_at + 4 || one[0] != wire_version || !is_bundle_add(one)) return std::nullopt;
  return u32(one, id_at);
}

bool is_of_one_rule(message_view flow_mod) {
  if (flow_mod.size() < flow_mod_at::flags + 2) return false;
  const auto command = static_cast<pipeline::rule_command>(flow_mod[flow_mod_at::command]);
  return command != pipeline::rule_command::modify && command != pipeline::rule_command::remove &&
         (u16(flow_mod, flow_mod_at::flags) & OFPFF_CHECK_OVERLAP) == 0;
}

bool is_for_ports(message_view packet_out) {
  constexpr std::size_t n_bytes_at = 16, actions_at = 24;
  constexpr std::size_t output_bytes = 16;
  if (packet_out.size() < actions_at) return false;
  const std::size_t end = actions_at + u16(packet_out, n_bytes_at);
  if (end > packet_out.size()) return false;
  for (std::size_t at = actions_at; at < end; at += output_bytes) {
    if (end - at < output_bytes || u16(packet_out, at) != action_output ||
        u16(packet_out, at + 2) != output_bytes || u32(packet_out, at + 4) == pipeline::port_table)
      return false;
  }
  return true;
}

bool changes_switch(message_view one) {
  if (one.size() < header_bytes || one[0] != wire_version) return false;
  switch (static_cast<wire_type_of>(type_of(one))) {
    case wire_type_of::packet_out:
    case wire_type_of::flow_mod:
    case wire_type_of::group_mod:
    case wire_type_of::port_mod:
    case wire_type_of::table_mod:
    case wire_type_of::meter_mod: return true;
    case wire_type_of::multipart_request: {
      constexpr std::uint16_t table_features = 12;
      return one.size() > multipart_body && u16(one, header_bytes) == table_features;
    }
    case wire_type_of::experimenter: return check_experimenter(one).has_value();  // bundles
    default: return false;
  }
}

refusal to_refusal(const pipeline::of_failure& failure) {
  const std::uint16_t type = pipeline::wire_type(failure.code);
  return {type, pipeline::wire_code(failure.code),
          type == pipeline::wire_type_experimenter ? pipeline::experimenter_nicira : 0,
          failure.message()};
}

refusal bundle_refusal(bundle_error why) {
  return {experimenter_error, static_cast<std::uint16_t>(why), onf, "bundle"};
}

tl::expected<request, refusal> decode(message_view one) {
  silence_library();
  const bool is_whole = one.size() >= header_bytes && u16(one, 2) == one.size();
  if (is_whole && one[0] == wire_version) {
    if (is(wire_type_of::flow_mod, one)) {
      if (auto made = plain_rule(one)) return std::move(*made);
    } else if (is(wire_type_of::barrier_request, one) && one.size() == header_bytes) {
      return ask::barrier{};
    }
  }
  return decode_by_library(one);
}

tl::expected<request, refusal> decode_by_library(message_view one) {
  silence_library();
  if (one.size() < header_bytes || u16(one, 2) != one.size()) return tl::unexpected(bad_length());
  if (one[0] != wire_version) return tl::unexpected(refusal{bad_request, 0, 0, "its version"});
  if (auto good = check_experimenter(one); !good) return tl::unexpected(good.error());
  ofptype type;
  if (const ofperr wrong = ofptype_decode(&type, to_library(one))) return refuse_by(wrong);
  if (is_cut(type, one)) {
    return tl::unexpected(multipart_overflow("a request in several messages"));
  }
  if (auto good = check_on_wire(one); !good) return tl::unexpected(good.error());
  return by_type(type, one);
}

}  // namespace coua::ofp
