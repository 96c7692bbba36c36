// SPDX-License-Identifier: Apache-2.0
//
// Rules, groups and meters as texts, in the syntax of ovs-ofctl(8), read and written by
// libopenvswitch:
//
//   rule    table=1,priority=10,tcp,nw_dst=10.0.0.0/8,tp_dst=80 actions=dec_ttl,output:2
//   group   group_id=1,type=select,bucket=output:1,bucket=weight:2,actions=output:2
//   meter   meter=1,kbps,burst,band=type=drop,rate=1000,burst_size=100
//
// What is read is an operation of our model; what OpenFlow 1.3 or the model does not have is
// refused by its name. Whether the operation is possible (a group that an action names, a port) is
// the model's to say. Nothing is printed. Any thread may call any of it.
//
// A text is taken as ovs-ofctl takes it with OpenFlow 1.3, apart from these:
// - A match that is not in normal form (tp_dst without tcp) is an error, not a warning.
// - A value that does not fit is an error (value_check.h), and so is a word that a later one takes
//   back (tcp,udp), a field without a value, a bracket that is not closed.
// - mod-flows cannot set a cookie; it can look for one by a mask, like del-flows.
// - A rule without a table is for table 0, or in a deletion for all tables. A deletion of groups or
//   meters that names none is for all.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "ctl/ofp/port_names.h"
#include "pipeline/model/operation.h"

namespace coua::ofp {

/// A list of actions may not be longer: so no text makes the library's buffers overflow, which it
/// would end the program for.
inline constexpr std::size_t text_actions_max = 1'000;
/// Characters of one operation.
inline constexpr std::size_t text_max = 65'536;

result<pipeline::rule_mod> parse_rule(std::string_view text, pipeline::rule_command command,
                                      const port_names& names = {});
result<pipeline::group_mod> parse_group(std::string_view text, pipeline::mod_command command,
                                        const port_names& names = {});
result<pipeline::meter_mod> parse_meter(std::string_view text, pipeline::mod_command command);

/// What lines of a file are about, where they do not say it.
struct line_defaults {
  enum class kind { rule, group, meter };
  kind about = kind::rule;
  pipeline::rule_command rule = pipeline::rule_command::add;
  pipeline::mod_command other = pipeline::mod_command::add;
  bool bare = false;  // of lines that may say neither
};
struct parsed_lines {
  std::vector<pipeline::operation> operations;
  std::vector<std::string> places;  // of each: "line 3"; "" when there is one line only
};
/// A line is an operation: [flow|group|meter] [add|modify|modify_strict|delete|delete_strict] TEXT.
/// From # on it is a comment. With more than one line, the error names the line, counted from 1.
result<parsed_lines> parse_lines(std::string_view text, const line_defaults& defaults,
                                 const port_names& names = {});

/// What a dump of rules is to show: "table=1,tcp,out_port=2,cookie=0x1/-1"; "": all.
struct rule_filter {
  pipeline::table_id table = pipeline::table_all;
  pipeline::match match;  // takes rules with a match that it covers
  std::uint64_t cookie = 0;
  std::uint64_t cookie_mask = 0;
  pipeline::port_no out_port = pipeline::port_any;
  pipeline::group_id out_group = pipeline::group_any;

  bool takes(const pipeline::rule& one) const;
};
result<rule_filter> parse_filter(std::string_view text, const port_names& names = {});

/// One line of `ovs-ofctl -O OpenFlow13 dump-flows`, without the blank before it.
std::string print_rule(const pipeline::rule& one, const pipeline::rule_state& state,
                       pipeline::time_ns now, const port_names& names = {});
/// The rule without its counters and times: what parse_rule takes.
std::string print_rule(const pipeline::rule& one, const port_names& names = {});
/// One line of dump-groups, and of dump-group-stats.
std::string print_group(const pipeline::group& one, const port_names& names = {});
std::string print_group_stats(const pipeline::group& one, const pipeline::group_state& state,
                              pipeline::time_ns now);
/// dump-meters, and meter-stats, in one line each.
std::string print_meter(const pipeline::meter& one);
std::string print_meter_stats(const pipeline::meter& one, const pipeline::meter_state& state,
                              pipeline::time_ns now);

}  // namespace coua::ofp
