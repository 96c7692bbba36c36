// SPDX-License-Identifier: Apache-2.0
#include <endian.h>

#include <cstring>

#include "base/log.h"
#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/duration.h"
#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/port_convert.h"
#include "ctl/ofp/reply.h"
#include "ctl/ofp/table_features.h"
#include "ctl/ofp/wire_message.h"

namespace coua::ofp {
namespace {

constexpr std::size_t message_max = 65'535, multipart_header = 16;

}  // namespace

struct multipart::parts {
  ovs_list list;
};

multipart::multipart(message_view request) : parts_(std::make_unique<parts>()) {
  ofpmp_init(&parts_->list, to_library(request));
}

multipart::~multipart() { ofpbuf_list_delete(&parts_->list); }

/// A message that is too long has one part only: it is taken out, before the library adds another.
void multipart::check_last(const char* what, std::uint64_t number) {
  ofpbuf* last = ofpbuf_from_list(ovs_list_back(&parts_->list));
  if (last->size <= message_max) return;
  last->size = multipart_header;
  log_warning("openflow: %s %llu is left out of an answer: it has more than 64 KiB", what,
              static_cast<unsigned long long>(number));
}

void multipart::add(const pipeline::rule& one, const pipeline::rule_state& state,
                    pipeline::time_ns now) {
  const auto match = to_ovs(one.match);
  ovs_buffer acts;
  if (!match || !to_ovs(one.instructions, acts.get())) {
    log_warning("openflow: a rule is left out of an answer: %s",
                to_string(one.instructions).c_str());
    return;
  }
  ofputil_flow_stats of{};
  of.match = *match;
  of.cookie = htobe64(one.cookie);
  of.table_id = one.table;
  of.priority = one.priority;
  of.idle_timeout = one.idle_timeout_s;
  of.hard_timeout = one.hard_timeout_s;
  set_duration(of, one.added, now);
  of.idle_age = of.hard_age = -1;
  of.packet_count = state.counted.packets;
  of.byte_count = state.counted.bytes;
  of.flags = flags_to_ovs(one.flags);
  of.ofpacts = acts.acts();
  of.ofpacts_len = acts.size();
  ofputil_append_flow_stats_reply(&of, &parts_->list, nullptr);
  check_last("rule of cookie", one.cookie);
}

void multipart::add_group(const pipeline::group& one) {
  ovs_group_mod group;
  if (!to_ovs(pipeline::group_mod{pipeline::mod_command::add, one}, group)) {
    log_warning("openflow: group %u is left out of an answer", one.id);
    return;
  }
  ofputil_group_desc of{};
  of.type = group.type;
  of.group_id = group.group_id;
  ofputil_append_group_desc_reply(&of, &group.buckets, &parts_->list);
  check_last("group", one.id);
}

void multipart::add_stats(const pipeline::group& one, const pipeline::group_state& state,
                          pipeline::time_ns now) {
  std::vector<bucket_counter> buckets;
  for (const pipeline::traffic& each : state.buckets) {
    buckets.push_back({each.packets, each.bytes});
  }
  ofputil_group_stats of{};
  of.group_id = one.id;
  of.ref_count = state.n_rules + state.n_groups;
  of.packet_count = state.counted.packets;
  of.byte_count = state.counted.bytes;
  set_duration(of, state.added, now);
  of.n_buckets = static_cast<std::uint32_t>(buckets.size());
  of.bucket_stats = buckets.data();
  ofputil_append_group_stats(&parts_->list, &of);
  check_last("group", one.id);
}

void multipart::add_meter(const pipeline::meter& one) {
  ovs_meter_mod meter;
  to_ovs(pipeline::meter_mod{pipeline::mod_command::add, one}, meter);
  ofputil_append_meter_config(&parts_->list, &meter.meter);
  check_last("meter", one.id);
}

void multipart::add_stats(const pipeline::meter& one, const pipeline::meter_state& state,
                          pipeline::time_ns now) {
  std::vector<ofputil_meter_band_stats> bands;
  for (const pipeline::traffic& each : state.bands) bands.push_back({each.packets, each.bytes});
  ofputil_meter_stats of{};
  of.meter_id = one.id;
  of.flow_count = state.n_rules;
  of.packet_in_count = state.counted.packets;
  of.byte_in_count = state.counted.bytes;
  set_duration(of, state.added, now);
  of.n_bands = static_cast<std::uint16_t>(bands.size());
  of.bands = bands.data();
  ofputil_append_meter_stats(&parts_->list, &of);
  check_last("meter", one.id);
}

void multipart::add_port(const port_facts& one) {
  const ofputil_phy_port of = to_ovs(one);
  ofputil_append_port_desc_stats_reply(&of, &parts_->list);
}

void multipart::add_stats(const port_facts& one, pipeline::time_ns now) {
  const auto number = to_ovs_port(one.number);
  if (!number) return;
  ofputil_port_stats of{};
  // What is not counted is told as not known.
  std::memset(&of.stats, 0xff, sizeof of.stats);
  of.port_no = *number;
  of.stats.rx_packets = one.rx.packets;
  of.stats.rx_bytes = one.rx.bytes;
  of.stats.rx_dropped = one.rx.dropped;
  of.stats.rx_errors = one.rx.errors;
  of.stats.tx_packets = one.tx.packets;
  of.stats.tx_bytes = one.tx.bytes;
  of.stats.tx_dropped = one.tx.dropped;
  of.stats.tx_errors = one.tx.errors;
  of.duration_sec = of.duration_nsec = UINT32_MAX;
  if (one.added) set_duration(of, *one.added, now);
  ofputil_append_port_stat(&parts_->list, &of);
}

void multipart::add_features(const table_facts& one) {
  const ofputil_table_features of = features_of(one);
  ofputil_append_table_features(&of, nullptr, &parts_->list);
}

std::vector<message> multipart::take_full() {
  std::vector<message> made;
  while (!ovs_list_is_singleton(&parts_->list)) {
    made.push_back(take(ofpbuf_from_list(ovs_list_pop_front(&parts_->list))));
  }
  return made;
}

std::vector<message> multipart::finish() {
  std::vector<message> made;
  while (!ovs_list_is_empty(&parts_->list)) {
    made.push_back(take(ofpbuf_from_list(ovs_list_pop_front(&parts_->list))));
  }
  return made;
}

}  // namespace coua::ofp
