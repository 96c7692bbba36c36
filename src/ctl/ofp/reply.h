// SPDX-License-Identifier: Apache-2.0
//
// What a switch says to a controller, as messages of OpenFlow 1.3. Answers take their number (xid)
// from the request.
#pragma once

#include <memory>

#include "ctl/ofp/message.h"
#include "pipeline/model/change.h"
#include "pipeline/model/packet_in_reason.h"

namespace coua::ofp {

/// A port as it is described, and what it counted.
struct port_facts {
  pipeline::port_no number = 0;
  std::string name;  // 15 characters of it are told
  std::array<std::uint8_t, 6> mac{};
  std::uint32_t config = 0;  // ofp_port_config
  bool link_up = false;
  bool live = false;
  std::uint32_t speed_mbps = 0;  // 0: not known
  std::optional<pipeline::time_ns> added;
  struct {
    std::uint64_t packets = 0, bytes = 0, dropped = 0, errors = 0;
  } rx, tx;
};
inline constexpr std::uint32_t port_down = 1 << 0, port_no_recv = 1 << 2, port_no_fwd = 1 << 5,
                               port_no_packet_in = 1 << 6;

struct table_facts {
  pipeline::table_id id = 0;
  std::string name;
  std::uint64_t rules = 0, lookups = 0, matches = 0;
  std::uint64_t rules_max = 0;
};

struct switch_description {
  std::string maker, hardware, software, serial, bridge;
};

message error_reply(const refusal& why, message_view request);
message echo_reply(message_view request);
message features_reply(message_view request, std::uint64_t datapath_id, unsigned n_tables);
message config_reply(message_view request, const ask::set_config& now);
message barrier_reply(message_view request);
message role_reply(message_view request, controller_role now, std::uint64_t generation);
message async_reply(message_view request, const async_masks& now);
message bundle_reply(message_view request, const ask::bundle_control& done);
message description_reply(message_view request, const switch_description& of);
message sum_reply(message_view request, const pipeline::traffic& sum, std::uint64_t rules);
message tables_reply(message_view request, std::span<const table_facts> tables);
message group_features_reply(message_view request);
message meter_features_reply(message_view request);
/// That the port has no queue with a minimum or maximum rate.
message queue_config_reply(message_view request);

/// An answer in parts, each in as many messages as it takes. What a message cannot hold (a group of
/// more than 64 KiB) is left out and logged.
class multipart {
 public:
  explicit multipart(message_view request);
  ~multipart();
  multipart(const multipart&) = delete;
  multipart& operator=(const multipart&) = delete;

  void add(const pipeline::rule& one, const pipeline::rule_state& state, pipeline::time_ns now);
  void add_group(const pipeline::group& one);
  void add_stats(const pipeline::group& one, const pipeline::group_state& state,
                 pipeline::time_ns now);
  void add_meter(const pipeline::meter& one);
  void add_stats(const pipeline::meter& one, const pipeline::meter_state& state,
                 pipeline::time_ns now);
  void add_port(const port_facts& one);
  void add_stats(const port_facts& one, pipeline::time_ns now);
  void add_features(const table_facts& one);

  /// Messages that are full, out of it.
  std::vector<message> take_full();
  /// All that are left, at least one.
  std::vector<message> finish();

 private:
  struct parts;
  void check_last(const char* what, std::uint64_t number);
  std::unique_ptr<parts> parts_;
};

/// What a controller is told without asking.
struct packet_in_facts {
  pipeline::packet_in_reason reason = pipeline::packet_in_reason::action;
  pipeline::table_id table = 0;
  pipeline::port_no in_port = 0;
  std::uint64_t cookie = 0, metadata = 0, tunnel_id = 0;
  std::array<std::uint32_t, pipeline::n_registers> reg{};  // those that are not 0 are told
  std::span<const std::uint8_t>
      bytes;  // the whole packet: none is kept here, of which it is a part
};
message packet_in_message(const packet_in_facts& of);
message flow_removed_message(const pipeline::rule& one, const pipeline::rule_state& last,
                             pipeline::removal_reason why, pipeline::time_ns now);
enum class port_event : std::uint8_t { added = 0, removed = 1, changed = 2 };
message port_status_message(port_event what, const port_facts& one);

}  // namespace coua::ofp
