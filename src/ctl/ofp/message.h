// SPDX-License-Identifier: Apache-2.0
//
// Messages of OpenFlow 1.3 as a switch sees them: what a controller asks, decoded, and why it is
// refused. A message is its bytes, from the header on.
//
// decode() takes any bytes. What it gives back is well-formed; whether the bridge can do it is for
// the model to say. The library's decoder asserts where lengths that it adds up do not fit 16 bits,
// so wire_check.h looks at a message before it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ctl/ofp/flow_text.h"
#include "pipeline/model/of_error.h"
#include "pipeline/model/operation.h"

namespace coua::ofp {

inline constexpr std::uint8_t wire_version = 4;  // OpenFlow 1.3
inline constexpr std::size_t header_bytes = 8;

using message = std::vector<std::uint8_t>;
using message_view = std::span<const std::uint8_t>;

/// ofp_type, of those that are looked at before a message is decoded.
enum class wire_type_of : std::uint8_t {
  hello = 0,
  error = 1,
  echo_request = 2,
  echo_reply = 3,
  experimenter = 4,
  packet_out = 13,
  flow_mod = 14,
  group_mod = 15,
  port_mod = 16,
  table_mod = 17,
  multipart_request = 18,
  barrier_request = 20,
  meter_mod = 29,
};
/// The message has a header.
inline std::uint8_t type_of(message_view of) { return of[1]; }
inline std::uint32_t xid_of(message_view of) {
  return static_cast<std::uint32_t>(of[4]) << 24 | static_cast<std::uint32_t>(of[5]) << 16 |
         static_cast<std::uint32_t>(of[6]) << 8 | of[7];
}

/// What an error message says; of an experimenter's error, `type` is 0xffff and `code` its own
/// type.
struct refusal {
  std::uint16_t type = 0;
  std::uint16_t code = 0;
  std::uint32_t experimenter = 0;  // 0: none
  std::string what{};              // for the log
};
refusal to_refusal(const pipeline::of_failure& failure);

// Errors that do not come from the model.
inline constexpr std::uint16_t bad_request = 1, role_request_failed = 11,
                               table_features_failed = 13, port_mod_failed = 7,
                               table_mod_failed = 8, queue_op_failed = 9, switch_config_failed = 10;
inline refusal bad_type() { return {bad_request, 1, 0, "there is no such message"}; }
inline refusal bad_multipart() { return {bad_request, 2, 0, "there is no such multipart message"}; }
inline refusal bad_length() { return {bad_request, 6, 0, "its length is wrong"}; }
inline refusal no_buffer() { return {bad_request, 8, 0, "the switch keeps no packets"}; }
inline refusal bad_table() { return {bad_request, 9, 0, "there is no such table"}; }
inline refusal is_slave() { return {bad_request, 10, 0, "the controller is a slave"}; }
inline refusal multipart_overflow(std::string what) {
  return {bad_request, 13, 0, std::move(what)};
}
/// ofp_table_features_failed_code.
enum class table_features_error : std::uint16_t {
  bad_table = 0,
  bad_metadata = 1,
  bad_type = 2,
  bad_length = 3,
  bad_argument = 4,
};
inline refusal bad_port() { return {bad_request, 11, 0, "there is no such port"}; }

/// Of bundles, which OpenFlow 1.3 has as an extension of the ONF (230).
enum class bundle_error : std::uint16_t {
  bad_id = 2302,
  exists = 2303,
  closed = 2304,
  out_of_bundles = 2305,
  bad_type = 2306,
  bad_flags = 2307,
  unsupported_message = 2310,
  too_many_messages = 2312,
  failed_message = 2313,
};
refusal bundle_refusal(bundle_error why);

/// For which reasons a controller is told of something (ofp_async_config): a bit for each.
struct async_masks {
  struct of_role {
    std::uint32_t packet_in = 0, port_status = 0, flow_removed = 0;
    bool operator==(const of_role&) const = default;
  };
  // Invalid TTLs are told when a controller asks for them.
  of_role master{.packet_in = 0x3, .port_status = 0x7, .flow_removed = 0xf};  // and equal
  of_role slave{.packet_in = 0, .port_status = 0x7, .flow_removed = 0};
  bool operator==(const async_masks&) const = default;
};

enum class controller_role : std::uint8_t { no_change = 0, equal = 1, master = 2, slave = 3 };

/// ofp_bundle_ctrl_type: requests; a reply is the number after.
enum class bundle_step : std::uint16_t { open = 0, close = 2, commit = 4, discard = 6 };

namespace ask {

struct nothing {};  // hello, error and echo reply: no answer is due
struct echo {};
struct features {};
struct get_config {};
struct set_config {
  std::uint16_t fragments = 0;
  std::uint16_t miss_send_len = 0;
};
struct barrier {};
struct role {
  controller_role wanted = controller_role::no_change;
  std::uint64_t generation = 0;
};
struct get_async {};
struct set_async {
  async_masks masks;
};
struct port_mod {
  pipeline::port_no number = 0;
  std::array<std::uint8_t, 6> mac{};
  std::uint32_t config = 0, mask = 0;  // ofp_port_config
  std::uint32_t advertise = 0;         // ofp_port_features
};
struct table_mod {
  pipeline::table_id table = 0;
  std::uint32_t config = 0;  // ofp_table_config
};
struct packet_out {
  pipeline::port_no in_port = 0;
  pipeline::action_list actions;
  std::vector<std::uint8_t> bytes;
};
struct description {};
struct rules {
  rule_filter filter;
  bool sum = false;  // aggregate
};
struct tables {};
struct table_features {
  message body;       // not empty: the controller wants to set them (table_ability.h)
  bool more = false;  // the rest of the body is in later messages of the same number
};
struct port_stats {
  pipeline::port_no number = pipeline::port_any;
};
struct port_descriptions {};
struct group_stats {
  pipeline::group_id id = pipeline::group_all;
};
struct group_descriptions {};
struct group_features {};
struct meter_stats {
  pipeline::meter_id id = pipeline::meter_all;
};
struct meter_configs {
  pipeline::meter_id id = pipeline::meter_all;
};
struct meter_features {};
struct queue_stats {
  pipeline::port_no port = pipeline::port_any;
  std::uint32_t queue = ~0U;
};
struct queue_config {
  pipeline::port_no port = pipeline::port_any;
};
struct bundle_control {
  std::uint32_t id = 0;
  bundle_step step = bundle_step::open;
  std::uint16_t flags = 0;
};
struct bundle_add {
  std::uint32_t id = 0;
  std::uint16_t flags = 0;
  tl::expected<message, refusal> inner;  // or why it is none for a bundle
};

}  // namespace ask

using request =
    std::variant<ask::nothing, ask::echo, ask::features, ask::get_config, ask::set_config,
                 ask::barrier, ask::role, ask::get_async, ask::set_async, ask::port_mod,
                 ask::table_mod, ask::packet_out, ask::description, ask::rules, ask::tables,
                 ask::table_features, ask::port_stats, ask::port_descriptions, ask::group_stats,
                 ask::group_descriptions, ask::group_features, ask::meter_stats, ask::meter_configs,
                 ask::meter_features, ask::queue_stats, ask::queue_config, ask::bundle_control,
                 ask::bundle_add, pipeline::rule_mod, pipeline::group_mod, pipeline::meter_mod>;

tl::expected<request, refusal> decode(message_view one);
/// ask::bundle_add, of a message whose header was looked at.
bool is_bundle_add(message_view one);
/// For which bundle it is, of any that is to be added to one.
std::optional<std::uint32_t> bundle_of(message_view one);
/// Of a flow_mod: it looks at no other rules, as a change or deletion that is not strict may, or an
/// addition that no rule is to overlap.
bool is_of_one_rule(message_view flow_mod);
/// Of a packet_out: it sends to ports, and neither to tables nor to groups.
bool is_for_ports(message_view packet_out);
/// One that is not for slaves, whether or not it can be decoded (OpenFlow 1.3.5, section 6.3.6).
bool changes_switch(message_view one);

}  // namespace coua::ofp
