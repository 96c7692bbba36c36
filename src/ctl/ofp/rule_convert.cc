// SPDX-License-Identifier: Apache-2.0
#include <endian.h>

#include <utility>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/operation_convert.h"

namespace coua::ofp {
namespace {

using pipeline::of_error;
using pipeline::of_result;
using pipeline::refuse;
using pipeline::rule_command;

constexpr std::pair<pipeline::rule_flag, ofputil_flow_mod_flags> flag_pairs[] = {
    {pipeline::rule_send_removed, OFPUTIL_FF_SEND_FLOW_REM},
    {pipeline::rule_check_overlap, OFPUTIL_FF_CHECK_OVERLAP},
    {pipeline::rule_reset_counts, OFPUTIL_FF_RESET_COUNTS},
    {pipeline::rule_no_packet_counts, OFPUTIL_FF_NO_PKT_COUNTS},
    {pipeline::rule_no_byte_counts, OFPUTIL_FF_NO_BYT_COUNTS},
};

}  // namespace

ovs_flow_mod::~ovs_flow_mod() {
  minimatch_destroy(&match);
  std::free(ofpacts);
}

ofputil_flow_mod_flags flags_to_ovs(std::uint16_t rule_flags) {
  unsigned flags = 0;
  for (const auto& [ours, theirs] : flag_pairs) {
    if ((rule_flags & ours) != 0) flags |= theirs;
  }
  return static_cast<ofputil_flow_mod_flags>(flags);
}

of_result<pipeline::rule_mod> from_ovs(const ofputil_flow_mod& theirs) {
  if (theirs.command > OFPFC_DELETE_STRICT) {
    return refuse(of_error::flow_mod_bad_command, "command " + std::to_string(theirs.command),
                  "there is no such command");
  }
  pipeline::rule_mod made;
  made.command = static_cast<rule_command>(theirs.command);
  made.table = theirs.table_id;
  made.priority = static_cast<std::uint16_t>(theirs.priority);
  auto match = from_ovs(theirs.match);
  if (!match) return tl::unexpected(match.error());
  made.match = std::move(*match);
  auto instructions = instructions_from_ovs(theirs.ofpacts, theirs.ofpacts_len, made.match);
  if (!instructions) return tl::unexpected(instructions.error());
  made.instructions = std::move(*instructions);
  if (made.command == rule_command::add) {
    made.cookie = be64toh(theirs.new_cookie);
  } else {
    made.cookie_mask = be64toh(theirs.cookie_mask);
    made.cookie = be64toh(theirs.cookie) & made.cookie_mask;
  }
  made.idle_timeout_s = theirs.idle_timeout;
  made.hard_timeout_s = theirs.hard_timeout;
  for (const auto& [ours, flag] : flag_pairs) {
    if ((theirs.flags & flag) != 0) made.flags |= ours;
  }
  made.out_port = from_ovs_port(theirs.out_port);
  made.out_group = theirs.out_group;
  return made;
}

of_result<void> to_ovs(const pipeline::rule_mod& ours, ovs_flow_mod& made) {
  const auto match = to_ovs(ours.match);
  if (!match) return tl::unexpected(match.error());
  const auto out_port = to_ovs_port(ours.out_port);
  if (!out_port) return tl::unexpected(out_port.error());
  ovs_buffer acts;
  if (auto good = to_ovs(ours.instructions, acts.get()); !good) return good;
  minimatch_init(&made.match, &*match);
  made.command = static_cast<std::uint16_t>(ours.command);
  made.table_id = ours.table;
  made.priority = ours.priority;
  if (ours.command == rule_command::add) {
    made.new_cookie = htobe64(ours.cookie);
  } else {
    made.new_cookie = OVS_BE64_MAX;
    made.cookie = htobe64(ours.cookie);
    made.cookie_mask = htobe64(ours.cookie_mask);
  }
  made.idle_timeout = ours.idle_timeout_s;
  made.hard_timeout = ours.hard_timeout_s;
  made.flags = flags_to_ovs(ours.flags);
  made.buffer_id = UINT32_MAX;
  made.out_port = *out_port;
  made.out_group = ours.out_group;
  made.ofpacts_len = acts.size();
  made.ofpacts = static_cast<ofpact*>(ofpbuf_steal_data(acts.get()));
  return {};
}

}  // namespace coua::ofp
