// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/reply.h"

#include <algorithm>
#include <cstring>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_message.h"
#include "pipeline/model/store.h"

namespace coua::ofp {
namespace {

template <std::size_t n>
void copy_text(char (&into)[n], const std::string& from) {
  const std::size_t length = std::min(from.size(), n - 1);
  std::memcpy(into, from.data(), length);
  std::memset(into + length, 0, n - length);
}

}  // namespace

message error_reply(const refusal& why, message_view request) {
  constexpr std::uint8_t error = 1;
  constexpr std::size_t room = 65'535 - header_bytes - 8;
  message made = begin_message(error, xid_of(request));
  put(made, why.type, 2);
  put(made, why.code, 2);
  if (why.experimenter != 0) put(made, why.experimenter, 4);
  const message_view told = request.first(std::min(request.size(), room));
  made.insert(made.end(), told.begin(), told.end());
  return end_message(std::move(made));
}

message echo_reply(message_view request) {
  message made(request.begin(), request.end());
  made[0] = wire_version;
  made[1] = static_cast<std::uint8_t>(wire_type_of::echo_reply);
  return made;
}

message features_reply(message_view request, std::uint64_t datapath_id, unsigned n_tables) {
  ofputil_switch_features of{};
  of.datapath_id = datapath_id;
  of.n_tables = static_cast<std::uint8_t>(n_tables);
  of.capabilities = static_cast<ofputil_capabilities>(OFPUTIL_C_FLOW_STATS | OFPUTIL_C_TABLE_STATS |
                                                      OFPUTIL_C_PORT_STATS | OFPUTIL_C_GROUP_STATS |
                                                      OFPUTIL_C_QUEUE_STATS);
  return take(ofputil_encode_switch_features(&of, OFPUTIL_P_OF13_OXM, to_library(request)->xid));
}

message config_reply(message_view request, const ask::set_config& now) {
  constexpr std::uint8_t get_config_reply = 8;
  message made = begin_message(get_config_reply, xid_of(request));
  put(made, now.fragments, 2);
  put(made, now.miss_send_len, 2);
  return end_message(std::move(made));
}

message barrier_reply(message_view request) {
  constexpr std::uint8_t barrier = 21;
  return end_message(begin_message(barrier, xid_of(request)));
}

message role_reply(message_view request, controller_role now, std::uint64_t generation) {
  constexpr std::uint8_t role = 25;
  message made = begin_message(role, xid_of(request));
  put(made, static_cast<std::uint32_t>(now), 4);
  put(made, 0, 4);
  put(made, generation, 8);
  return end_message(std::move(made));
}

message async_reply(message_view request, const async_masks& now) {
  constexpr std::uint8_t get_async_reply = 27;
  message made = begin_message(get_async_reply, xid_of(request));
  for (const auto mask : {&async_masks::of_role::packet_in, &async_masks::of_role::port_status,
                          &async_masks::of_role::flow_removed}) {
    put(made, now.master.*mask, 4);
    put(made, now.slave.*mask, 4);
  }
  return end_message(std::move(made));
}

message bundle_reply(message_view request, const ask::bundle_control& done) {
  ofputil_bundle_ctrl_msg of{};
  of.bundle_id = done.id;
  of.type = static_cast<std::uint16_t>(done.step) + 1U;
  of.flags = done.flags;
  return take(ofputil_encode_bundle_ctrl_reply(to_library(request), &of));
}

message description_reply(message_view request, const switch_description& of) {
  ofpbuf* made = ofpraw_alloc_stats_reply(to_library(request), 0);
  ofp_desc_stats body{};
  copy_text(body.mfr_desc, of.maker);
  copy_text(body.hw_desc, of.hardware);
  copy_text(body.sw_desc, of.software);
  copy_text(body.serial_num, of.serial);
  copy_text(body.dp_desc, of.bridge);
  ofpbuf_put(made, &body, sizeof body);
  return take(made);
}

message sum_reply(message_view request, const pipeline::traffic& sum, std::uint64_t rules) {
  const ofputil_aggregate_stats of{sum.packets, sum.bytes, static_cast<std::uint32_t>(rules)};
  return take(ofputil_encode_aggregate_stats_reply(&of, to_library(request)));
}

message tables_reply(message_view request, std::span<const table_facts> tables) {
  ofpbuf* made = ofputil_encode_table_stats_reply(to_library(request));
  for (const table_facts& one : tables) {
    ofputil_table_stats stats{};
    stats.table_id = one.id;
    stats.active_count = static_cast<std::uint32_t>(one.rules);
    stats.lookup_count = one.lookups;
    stats.matched_count = one.matches;
    ofputil_table_features features{};
    features.table_id = one.id;
    ofputil_append_table_stats_reply(made, &stats, &features);
  }
  return take(made);
}

message group_features_reply(message_view request) {
  ofputil_group_features of{};
  of.types = 1U << OFPGT11_ALL | 1U << OFPGT11_SELECT | 1U << OFPGT11_INDIRECT | 1U << OFPGT11_FF;
  of.capabilities = OFPGFC12_SELECT_WEIGHT | OFPGFC12_SELECT_LIVENESS | OFPGFC12_CHAINING |
                    OFPGFC12_CHAINING_CHECKS;
  for (int type = 0; type < 4; ++type) {
    of.max_groups[type] = static_cast<std::uint32_t>(pipeline::bridge_params{}.groups_max);
    of.ofpacts[type] = all_actions();
  }
  return take(ofputil_encode_group_features_reply(&of, to_library(request)));
}

message meter_features_reply(message_view request) {
  ofputil_meter_features of{};
  of.max_meters = static_cast<std::uint32_t>(pipeline::bridge_params{}.meters_max);
  of.band_types = 1U << OFPMBT13_DROP | 1U << OFPMBT13_DSCP_REMARK;
  of.capabilities = OFPMF13_KBPS | OFPMF13_PKTPS | OFPMF13_BURST | OFPMF13_STATS;
  of.max_bands = pipeline::bands_max;
  return take(ofputil_encode_meter_features_reply(&of, to_library(request)));
}

message queue_config_reply(message_view request) {
  ovs_list parts;
  ofputil_start_queue_get_config_reply(to_library(request), &parts);
  return take(ofpbuf_from_list(ovs_list_pop_front(&parts)));
}

}  // namespace coua::ofp
