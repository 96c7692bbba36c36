// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"
#include "cli/waiting.h"

namespace coua::cli {
namespace {

const parameter file_option{
    .name = "file",
    .value = "FILE",
    .help = "one in each line; all of them are done, or none. '-' is the standard input",
    .names = thing::file};
const parameter strict_option{.name = "strict",
                              .help = "the one rule with exactly this priority and match",
                              .type = kind::flag};
const parameter stats_option{
    .name = "stats", .help = "what was counted, instead of what it is", .type = kind::flag};

parameter text_argument(std::string name, std::string help) {
  return {.name = std::move(name), .help = std::move(help), .optional = true};
}
parameter id_argument(std::string help) {
  return {.name = "ID",
          .help = std::move(help),
          .type = kind::number,
          .low = 0,
          .high = 0xffff'ffff,
          .optional = true};
}

const parameter limit_option{
    .name = "limit", .value = "COUNT", .help = "stop after so many", .type = kind::size, .low = 1};
parameter from_option() {
  return {.name = "from",
          .value = "ID",
          .help = "those of this number and above: the next page after a --limit",
          .type = kind::number,
          .low = 0,
          .high = 0xffff'ffff};
}
parameter unused_option(const std::string& which) {
  return {.name = "unused", .help = "those " + which, .type = kind::flag};
}

const char* const changed_json =
    R"({"changed": true, "operations": 1, "changes": 1, "renewed": 0})";
const char* const lines_help =
    "A line of a file may begin with another kind and command: "
    "[flow|group|meter] [add|modify|modify_strict|delete|delete_strict]; '#' starts a comment.";

std::vector<verb> rule_verbs() {
  return {
      {.path = "flow add",
       .summary = "Adds rules (flow entries), in the syntax of ovs-ofctl",
       .details = std::string(
                      "A rule with the same table, priority and match is replaced. One that is the "
                      "same otherwise is 'renewed' where its counters (reset_counts) or time-outs "
                      "begin anew, else 'unchanged'. ") +
                  lines_help,
       .arguments = {text_argument("FLOW", "as ovs-ofctl add-flow takes it; without a table: 0")},
       .options = {file_option},
       .example = "coua flow add table=0,priority=10,tcp,tp_dst=80,actions=dec_ttl,output:2",
       .json = changed_json,
       .id = flow_add},
      {.path = "flow mod",
       .summary = "Changes the actions of the rules that match",
       .details =
           std::string("A rule that is not there is not added. Without --strict a priority says "
                       "nothing, as with ovs-ofctl: rules of every priority change. ") +
           lines_help,
       .arguments = {text_argument("FLOW", "as ovs-ofctl mod-flows takes it")},
       .options = {strict_option, file_option},
       .example = "coua flow mod --strict priority=10,tcp,tp_dst=80,actions=output:3",
       .json = changed_json,
       .id = flow_mod},
      {.path = "flow del",
       .summary = "Removes the rules that match; without FLOW, all rules of all tables",
       .details = lines_help,
       .arguments = {text_argument("FLOW", "as ovs-ofctl del-flows takes it")},
       .options = {strict_option, file_option},
       .example = "coua flow del table=1,tcp,out_port=2",
       .alias = "remove",
       .json = changed_json,
       .id = flow_del},
      {.path = "flow dump",
       .summary = "Shows the rules with what they counted, as ovs-ofctl dump-flows",
       .arguments = {text_argument("FILTER", "table, match, cookie/mask, out_port, out_group")},
       .options = {limit_option},
       .example = "coua flow dump table=0,tcp",
       .alias = "show",
       .json = R"({"flows": [{"table": 0, "priority": 10, "cookie": 0, "packets": 3, "bytes": 180,
  "duration_s": 3.25, "idle_s": 1.5,
  "text": "cookie=0x0, duration=3.250s, table=0, n_packets=3, n_bytes=180, tcp actions=output:2"}],
  "count": 1})",
       .id = flow_dump},
      {.path = "flow stats",
       .summary = "Shows how many rules, groups and meters there are, look-ups by table, and drops",
       .example = "coua flow stats",
       .json = R"({"flows": 1, "groups": 0, "meters": 0, "version": 1,
  "tables": [{"table": 0, "flows": 1, "lookups": 10, "matches": 3}],
  "drops": {"no_rule": 7, "meter": 0}})",
       .id = flow_stats},
  };
}

std::vector<verb> group_verbs() {
  return {
      {.path = "group add",
       .summary = "Adds a group, in the syntax of ovs-ofctl",
       .details = "A group of the same number is an error.",
       .arguments = {text_argument("GROUP", "as ovs-ofctl add-group takes it")},
       .options = {file_option},
       .example = "coua group add group_id=1,type=select,bucket=output:1,bucket=output:2",
       .json = changed_json,
       .id = group_add},
      {.path = "group mod",
       .summary = "Gives a group another type and other buckets",
       .arguments = {text_argument("GROUP", "as ovs-ofctl mod-group takes it")},
       .options = {file_option},
       .example = "coua group mod group_id=1,type=all,bucket=output:1",
       .json = changed_json,
       .id = group_mod},
      {.path = "group del",
       .summary = "Removes a group with the rules that use it; without GROUP, all",
       .arguments = {text_argument("GROUP", "group_id=N")},
       .options = {file_option},
       .example = "coua group del group_id=1",
       .alias = "remove",
       .json = changed_json,
       .id = group_del},
      {.path = "group dump",
       .summary = "Shows groups, as ovs-ofctl dump-groups or dump-group-stats",
       .details = "They come by their numbers, as they are when they come.",
       .arguments = {id_argument("of one group")},
       .options = {stats_option,
                   from_option(),
                   limit_option,
                   {.name = "type",
                    .value = "TYPE",
                    .help = "those of this type",
                    .choices = {"all", "select", "indirect", "fast_failover"}},
                   unused_option("to which no rule and no group leads")},
       .example = "coua group dump --stats --limit 100",
       .alias = "show",
       .json = R"({"groups": [{"group_id": 1, "type": "select", "packets": 3, "bytes": 180,
  "buckets": [{"packets": 3, "bytes": 180}], "references": 1, "duration_s": 3.25,
  "text": "group_id=1,type=select,bucket=actions=output:1"}], "count": 1})",
       .id = group_dump},
  };
}

std::vector<verb> meter_verbs() {
  return {
      {.path = "meter add",
       .summary = "Adds a meter, in the syntax of ovs-ofctl",
       .details = "A meter of the same number is an error.",
       .arguments = {text_argument("METER", "as ovs-ofctl add-meter takes it")},
       .options = {file_option},
       .example = "coua meter add meter=1,kbps,band=type=drop,rate=1000",
       .json = changed_json,
       .id = meter_add},
      {.path = "meter mod",
       .summary = "Gives a meter other bands",
       .arguments = {text_argument("METER", "as ovs-ofctl mod-meter takes it")},
       .options = {file_option},
       .example = "coua meter mod meter=1,pktps,burst,band=type=drop,rate=100,burst_size=10",
       .json = changed_json,
       .id = meter_mod},
      {.path = "meter del",
       .summary = "Removes a meter with the rules that use it; without METER, all",
       .arguments = {text_argument("METER", "meter=N")},
       .options = {file_option},
       .example = "coua meter del meter=1",
       .alias = "remove",
       .json = changed_json,
       .id = meter_del},
      {.path = "meter dump",
       .summary = "Shows meters, as ovs-ofctl dump-meters or meter-stats",
       .details = "They come by their numbers, as they are when they come.",
       .arguments = {id_argument("of one meter")},
       .options = {stats_option, from_option(), limit_option,
                   unused_option("through which no rule sends packets")},
       .example = "coua meter dump 1",
       .alias = "show",
       .json = R"({"meters": [{"meter_id": 1, "packets": 3, "bytes": 180,
  "bands": [{"packets": 1, "bytes": 60}], "flows": 1, "duration_s": 3.25,
  "text": "meter=1 kbps bands= type=drop rate=1000"}], "count": 1})",
       .id = meter_dump},
  };
}

const parameter bridge_argument{
    .name = "BRIDGE", .help = "its name, br0 where there is no other", .names = thing::bridge};

std::vector<verb> trace_verbs() {
  return {
      {.path = "trace",
       .summary = "Shows what the rules would do with a packet, step by step",
       .details =
           "Nothing is sent, learned or counted, and meters let everything pass. A copy that does "
           "not "
           "leave has what keeps it: its port is disabled or has no link, or it is longer than the "
           "MTU. PACKET is a match "
           "as in rules (what is not named is 0, but nw_ttl 64 and mpls_bos 1), or all bytes of a "
           "frame in hexadecimal. In "
           "brackets: the template that serves the table.",
       .arguments = {bridge_argument,
                     text_argument("PACKET", "in_port=PORT,FIELDS, or in_port=PORT HEX")},
       .options = {{.name = "pcap",
                    .value = "FILE",
                    .help = "take the packet from a pcap file; of one that was cut, what was kept",
                    .names = thing::file},
                   {.name = "record",
                    .value = "NUMBER",
                    .help = "which one of the file, counted from 1 (the first)",
                    .type = kind::number,
                    .low = 1,
                    .high = INT64_MAX},
                   {.name = "in-port",
                    .value = "PORT",
                    .help = "by which port it comes in, where the packet does not say it",
                    .names = thing::port}},
       .example = "coua trace br0 in_port=p0,tcp,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_dst=80",
       .json = R"({"fields": "tcp,in_port=p0,...", "frame": "0000...",
  "lines": [{"depth": 0, "text": "priority=10,tcp actions=output:p1", "table": 0, "template": "direct"},
            {"depth": 1, "text": "output:p1"}],
  "outputs": [{"to": "p1", "queue": 0, "frame": "0000...", "fields": "tcp,...",
               "trouble": "no link: dropped"}]})",
       .id = trace_show},
      {.path = "explain",
       .summary =
           "Shows how each table is compiled, why not to something cheaper, and what packets cost",
       .details =
           "From the cheapest: direct, exact, lpm, decomposed, classifier; besides, where there "
           "are "
           "conjunctions, their clauses. Rows apart: of rules that are unlike most of "
           "an exact or lpm table. Joined: entries of one look-up that stands for the first table "
           "and those behind it. BYTES: of what exact tables share, each has the part that "
           "its rules are. VISITS: how often a packet is expected at a table, by what rules "
           "counted since the last explain, or ever. CYCLES: bounds of what it takes there, "
           "predicted by a model of this machine; below, of the whole pipeline, and what was "
           "measured since the last explain, or since the start "
           "(docs/pipeline.md). The first call takes some 60 ms longer: the machine is measured "
           "then.",
       .arguments = {bridge_argument},
       .example = "coua explain br0",
       .json = R"json({"tables": [{"table": 0, "flows": 200, "template": "lpm", "field": "nw_dst",
  "rows_apart": 0, "joined": 0, "clauses": 0,
  "refused": [{"template": "direct", "reason": "more than 16 rules (200)"}],
  "bytes": 24600, "lookups": 10, "matches": 3, "visits": 1.0, "cycles": {"lower": 41.0, "upper": 77.5}}],
  "predicted": {"cycles": {"lower": 66.1, "upper": 118.0}, "ns": {"lower": 25.4, "upper": 45.4}},
  "not_predicted": "", "standalone": false,
  "measured": {"cycles": 83.5, "ns": 32.1, "packets": 4096, "packets_per_burst": 30.1,
    "interrupted": 0},
  "measured_s": 12.5, "measured_since": "start"})json",
       .id = explain_show},
  };
}

std::vector<verb> controller_verbs() {
  return {
      {.path = "controller list",
       .summary = "Lists the OpenFlow controllers: who is connected, since when, and why not",
       .details =
           "First those of the configuration, which each bridge connects to again and again, then "
           "those who came: to an address of openflow.listen, or, as ovs-ofctl does, to a "
           "management socket. RECEIVED and SENT count messages, but for probes, since the start "
           "of "
           "the daemon, or since one came. "
           "LAST TROUBLE: why the last attempt or connection ended. --wait does not wait for those "
           "who come; without controllers in the configuration there is nothing to wait for.",
       .options = {wait_option("all controllers of the configuration are connected"),
                   bridge_option("those of this bridge")},
       .example = "coua controller list --wait 30",
       .json =
           R"({"controllers": [{"bridge": "br0", "target": "tcp:10.0.0.1:6653", "origin": "configured", "connected": true,
  "for_s": 90, "role": "master", "connections": 2, "received": 1000, "sent": 1001,
  "trouble": "end of file"}], "standalone": false, "standalone_bridges": []})",
       .id = controller_list},
  };
}

}  // namespace

std::vector<verb> flow_verbs() {
  std::vector<verb> all = rule_verbs();
  for (auto* verbs : {&group_verbs, &meter_verbs})
    for (auto& one : verbs()) all.push_back(std::move(one));
  for (verb& each : all) each.options.push_back(bridge_option());
  for (auto* verbs : {&trace_verbs, &controller_verbs})
    for (auto& one : verbs()) all.push_back(std::move(one));
  return all;
}

}  // namespace coua::cli
