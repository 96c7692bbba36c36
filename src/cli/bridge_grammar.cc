// SPDX-License-Identifier: Apache-2.0
//
// The verbs of bridges.
#include "cli/verbs.h"

namespace coua::cli {
namespace {

parameter number(std::string name, std::string help, std::uint64_t high) {
  return {.name = std::move(name),
          .value = "COUNT",
          .help = std::move(help),
          .type = kind::size,
          .low = 1,
          .high = high};
}
parameter seconds(std::string name, std::string help) {
  return {.name = std::move(name),
          .value = "SECONDS",
          .help = std::move(help),
          .type = kind::number,
          .low = 1,
          .high = 3600};
}

const parameter bridge_name{.name = "NAME", .help = "the bridge", .names = thing::bridge};

const char* const bridge_example =
    R"({"name": "br1", "ports": ["p2", "p3"], "datapath_id": "00:00:02:00:00:00:00:02",
  "management": "/run/coua/br1.mgmt", "flows": 1, "groups": 0, "meters": 0, "flows_in_file": false,
  "start": "normal", "rules": 1000000, "packet_in_rate": 1000, "packet_in_burst": 250,
  "controllers": ["tcp:10.0.0.1:6653"], "listen": [], "fail_mode": "secure", "standalone": false,
  "probe_s": 5, "backoff_max_s": 8, "table_names": {}})";

}  // namespace

parameter bridge_option(std::string help) {
  return {.name = "bridge", .value = "NAME", .help = std::move(help), .names = thing::bridge};
}

std::vector<verb> bridge_verbs() {
  const std::string bridge = bridge_example;
  return {
      {.path = "bridge list",
       .summary = "Lists the bridges",
       .details = "Bridges share nothing but the machine: each has rules, controllers, VLANs and "
                  "addresses of its own. A port that names no bridge belongs to the first.",
       .example = "coua bridge list",
       .json = "{\"bridges\": [" + bridge + "]}",
       .id = bridge_list},
      {.path = "bridge show",
       .summary = "Shows a bridge with its ports, rules and controllers",
       .arguments = {bridge_name},
       .example = "coua bridge show br1",
       .json = "{\"bridge\": " + bridge + "}",
       .id = bridge_show},
      {.path = "bridge add",
       .summary = "Adds a bridge without ports",
       .details =
           "A bridge of the same name and the same settings is left as it is "
           "('unchanged'). Without a datapath id it has one that is made of its name; after a "
           "restart with ports, of the address of the first one: who needs it to stay gives it.",
       .arguments = {{.name = "NAME", .help = "the bridge"}},
       .options = {{.name = "start",
                    .value = "WORD",
                    .help = "its rules at first: normal: one for all packets, actions=NORMAL; none",
                    .choices = {"normal", "none"}},
                   number("rules", "rules that all its tables may have (1M)", 1u << 24),
                   number("packet-in-rate", "packets a second to controllers (1000)", 1'000'000),
                   number("packet-in-burst", "packets to controllers at once (250)", 65'536),
                   {.name = "datapath-id",
                    .value = "ID",
                    .help = "by which controllers know it: 1 to 16 hexadecimal digits (made of its "
                            "name)"},
                   {.name = "controllers",
                    .value = "TARGETS",
                    .help = "that it connects to: tcp:10.0.0.1:6653,tcp:10.0.0.2:6653",
                    .type = kind::words},
                   {.name = "listen",
                    .value = "TARGETS",
                    .help = "where controllers may connect to it: ptcp:6653:127.0.0.1",
                    .type = kind::words},
                   {.name = "management",
                    .value = "PATH",
                    .help = "the socket for ovs-ofctl (NAME.mgmt beside that of the API)",
                    .names = thing::file},
                   {.name = "fail-mode",
                    .value = "WORD",
                    .help =
                        "without a controller: secure: by the rules that are there; standalone: "
                        "as an L2 switch",
                    .choices = {"secure", "standalone"}},
                   seconds("probe", "a silent controller is asked for a sign of life then (5)"),
                   seconds("backoff-max", "the longest time between two attempts to connect (8)")},
       .example = "coua bridge add br1 --controllers tcp:10.0.0.1:6653",
       .json = "{\"changed\": true, \"bridge\": " + bridge + "}",
       .id = bridge_add},
      {.path = "bridge del",
       .summary = "Removes a bridge with its rules",
       .details =
           "A bridge with ports is refused, and the only one, too. A bridge that is not there "
           "is no error ('unchanged').",
       .arguments = {bridge_name},
       .example = "coua bridge del br1",
       .alias = "remove",
       .json = "{\"changed\": true}",
       .id = bridge_del},
  };
}

}  // namespace coua::cli
