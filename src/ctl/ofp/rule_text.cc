// SPDX-License-Identifier: Apache-2.0
#include <endian.h>

#include "ctl/ofp/action_convert.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/said_match.h"
#include "ctl/ofp/text_check.h"

namespace coua::ofp {
namespace {

using pipeline::rule_command;

/// Rules are in tables; "all" is for removals and dumps.
constexpr pipeline::table_id table_last = pipeline::table_all - 1;

bool has_actions(rule_command command) {
  return command != rule_command::remove && command != rule_command::remove_strict;
}

/// What OpenFlow 1.3 cannot say, though the library can.
result<void> check_version(const ofputil_flow_mod& parsed, rule_command command) {
  if (parsed.importance != 0) {
    return fail(errc::unsupported, "importance", "OpenFlow 1.3 has no such thing");
  }
  if (parsed.modify_cookie && command != rule_command::add) {
    return fail(errc::unsupported, "cookie",
                "OpenFlow 1.3 cannot change it; to modify the rules that have it, give a mask, as "
                "in cookie=0x1/-1");
  }
  return {};
}

/// The actions, which are cut off the text by a 0; null: there are none, or the command has none.
const char* cut_actions(std::string& text, rule_command command) {
  return has_actions(command) ? ofp_extract_actions(text.data()) : nullptr;
}

result<void> parse_actions(const char* text, const ovs_port_map& map, ovs_buffer& into) {
  if (auto good = check_actions(text); !good) return good;
  ofputil_protocol usable;
  ofpact_parse_params params = {};
  params.port_map = map.get();
  params.ofpacts = into.get();
  params.usable_protocols = &usable;
  char* wrong = ofpacts_parse_instructions(text, &params);
  if (wrong != nullptr) return tl::unexpected(library_error(wrong));
  return {};
}

ofputil_flow_stats stats_of(const pipeline::rule& one) {
  ofputil_flow_stats made = {};
  match_init_catchall(&made.match);
  made.cookie = htobe64(one.cookie);
  made.table_id = one.table;
  made.priority = one.priority;
  made.idle_timeout = one.idle_timeout_s;
  made.hard_timeout = one.hard_timeout_s;
  made.idle_age = -1;
  made.hard_age = -1;
  made.flags = flags_to_ovs(one.flags);
  return made;
}

std::string print(const pipeline::rule& one, ofputil_flow_stats stats, bool with_stats,
                  const port_names& names) {
  silence_library();
  const ovs_port_map map(names);
  ovs_text text;
  ovs_buffer acts;
  const auto match = to_ovs(one.match);
  if (match && to_ovs(one.instructions, acts.get())) {
    stats.match = *match;
    stats.ofpacts = acts.acts();
    stats.ofpacts_len = acts.size();
    ofputil_flow_stats_format(text.get(), &stats, map.get(), nullptr, with_stats);
    return std::string(text.view());
  }
  // What the library cannot say, the model can.
  stats.priority = OFP_DEFAULT_PRIORITY;
  ofputil_flow_stats_format(text.get(), &stats, map.get(), nullptr, with_stats);
  const std::string_view before = text.view().substr(0, text.view().rfind("actions="));
  return std::string(before) + "priority=" + std::to_string(one.priority) + "," +
         one.match.to_string() + " actions=" + to_string(one.instructions);
}

}  // namespace

result<pipeline::rule_mod> parse_rule(std::string_view text, rule_command command,
                                      const port_names& names) {
  silence_library();
  auto taken = checked_text(text);
  if (!taken) return tl::unexpected(taken.error());
  const ovs_port_map map(names);
  ovs_buffer acts;
  // The library would check the actions against the match, by rules that are not quite those of
  // OpenFlow; so it gets them apart, and the model checks.
  const char* actions = cut_actions(*taken, command);
  const pipeline::table_id last = has_actions(command) ? table_last : pipeline::table_all;
  if (auto good = check_match(taken->c_str(), last); !good) return tl::unexpected(good.error());
  if (actions != nullptr) {
    if (auto good = parse_actions(actions, map, acts); !good) return tl::unexpected(good.error());
    taken = std::string(taken->c_str()) + " actions=drop";
  }
  ovs_flow_mod parsed;
  ofputil_protocol usable;
  char* wrong = parse_ofp_str(&parsed, static_cast<int>(command), taken->c_str(), map.get(),
                              nullptr, &usable);
  if (wrong != nullptr) return tl::unexpected(library_error(wrong));
  ::match match;
  minimatch_expand(&parsed.match, &match);
  if (auto good = check_said(taken->c_str(), map, match); !good)
    return tl::unexpected(good.error());
  std::free(parsed.ofpacts);
  parsed.ofpacts_len = acts.size();
  parsed.ofpacts = static_cast<ofpact*>(ofpbuf_steal_data(acts.get()));
  if (auto good = check_version(parsed, command); !good) return tl::unexpected(good.error());
  auto made = from_ovs(parsed);
  if (!made) return tl::unexpected(to_error(made.error()));
  if (made->table == pipeline::table_all && has_actions(command)) made->table = 0;
  return std::move(*made);
}

result<rule_filter> parse_filter(std::string_view text, const port_names& names) {
  silence_library();
  const auto taken = checked_text(text);
  if (!taken) return tl::unexpected(taken.error());
  const ovs_port_map map(names);
  if (auto good = check_match(*taken, pipeline::table_all); !good)
    return tl::unexpected(good.error());
  ofputil_flow_stats_request parsed = {};
  ofputil_protocol usable;
  char* wrong =
      parse_ofp_flow_stats_request_str(&parsed, false, taken->c_str(), map.get(), nullptr, &usable);
  if (wrong != nullptr) return tl::unexpected(library_error(wrong));
  if (auto good = check_said(*taken, map, parsed.match); !good) return tl::unexpected(good.error());
  auto match = from_ovs(parsed.match);
  if (!match) return tl::unexpected(to_error(match.error()));
  rule_filter made;
  made.table = parsed.table_id;
  made.match = std::move(*match);
  made.cookie_mask = be64toh(parsed.cookie_mask);
  made.cookie = be64toh(parsed.cookie) & made.cookie_mask;
  made.out_port = from_ovs_port(parsed.out_port);
  made.out_group = parsed.out_group;
  return made;
}

bool rule_filter::takes(const pipeline::rule& one) const {
  const auto in_lists = [&one](auto holds) {
    return (one.instructions.apply && holds(*one.instructions.apply)) ||
           (one.instructions.write && holds(*one.instructions.write));
  };
  if (table != pipeline::table_all && one.table != table) return false;
  if (((one.cookie ^ cookie) & cookie_mask) != 0 || !match.covers(one.match)) return false;
  if (out_port != pipeline::port_any &&
      !in_lists([this](const auto& list) { return pipeline::outputs_to(list, out_port); })) {
    return false;
  }
  return out_group == pipeline::group_any ||
         in_lists([this](const auto& list) { return pipeline::sends_to_group(list, out_group); });
}

std::string print_rule(const pipeline::rule& one, const pipeline::rule_state& state,
                       pipeline::time_ns now, const port_names& names) {
  ofputil_flow_stats stats = stats_of(one);
  const pipeline::time_ns age = now > one.added ? now - one.added : 0;
  stats.duration_sec = static_cast<std::uint32_t>(age / pipeline::ns_per_s);
  stats.duration_nsec = static_cast<std::uint32_t>(age % pipeline::ns_per_s);
  stats.packet_count = state.counted.packets;
  stats.byte_count = state.counted.bytes;
  return print(one, stats, true, names);
}

std::string print_rule(const pipeline::rule& one, const port_names& names) {
  return print(one, stats_of(one), false, names);
}

}  // namespace coua::ofp
