// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the configuration.
#include "cli/verbs.h"
#include "cli/waiting.h"

namespace coua::cli {
namespace {

parameter file(std::string help) {
  return {.name = "FILE", .help = std::move(help), .names = thing::file};
}

parameter flows_flag() {
  return {.name = "flows",
          .help = "rules, groups and meters, too, where the file that runs leaves them to others",
          .type = kind::flag};
}

constexpr const char* changes_json =
    R"("changes": [
  {"kind": "changed", "item": "port p0", "line": 4,
   "fields": [{"name": "vlan", "before": "10", "after": "20"}]}])";

}  // namespace

std::vector<verb> config_verbs() {
  const std::string changes = changes_json;
  return {
      {.path = "config check",
       .summary = "Checks a configuration file, without a daemon",
       .details = "Every error is named by file, line, field and reason, as by couad --check. "
                  "Exit status 1: the file is wrong.",
       .arguments = {file("the file; -: the standard input")},
       .example = "coua config check /etc/coua/couad.yaml",
       .json = R"({"file": "couad.yaml", "good": false, "ports": 0,
  "errors": [{"line": 4, "field": "ports[0].mtu", "reason": "20 is not from 68 to 9600"}]})",
       .id = config_check},
      {.path = "config show",
       .summary = "Shows the running configuration as a file that would bring it back",
       .details = "Whatever is the default is left out. The JSON is the same tree, and is a "
                  "configuration file, too.",
       .options = {flows_flag()},
       .example = "coua config show",
       .json = R"({"fib": {"ageing_s": 60},
 "ports": [{"name": "p0", "devargs": "net_tap0,iface=tap0", "vlan": 10}]})",
       .id = config_show},
      {.path = "config save",
       .summary = "Writes the running configuration into a file",
       .details =
           "The file is replaced as a whole or, on any error, not touched; its mode and owner "
           "stay. "
           "One that says what runs already is left alone with its comments ('unchanged'); else "
           "comments are lost. Rules and groups that name a port which is gone are saved with its "
           "number, which may be another port's after a restart; they are named on the standard "
           "error.",
       .arguments = {{.name = "FILE",
                      .help = "the file (where not given: that which couad was started with)",
                      .optional = true,
                      .names = thing::file}},
       .options = {flows_flag()},
       .example = "coua config save",
       .json = R"({"changed": true, "file": "/etc/coua/couad.yaml",
 "warnings": ["flow in_port=3: port 3 is gone"]})",
       .id = config_save},
      {.path = "config diff",
       .summary = "Shows what would have to change for the running configuration to be as a file "
                  "says",
       .details = "Lines are in the order in which config apply does it. Exit status 0: nothing, "
                  "4: there is a difference.",
       .arguments = {file("the file; -: the standard input")},
       .example = "coua config diff /etc/coua/couad.yaml",
       .json = "{\"differs\": true, " + changes + "}",
       .id = config_diff},
      {.path = "config apply",
       .summary = "Makes the running configuration what a file says",
       .details =
           "Only what differs is changed, in the order removals, changes, additions; other ports "
           "forward on meanwhile. All of it is done or nothing: the file is checked first, what "
           "only a restart can change is refused, and when a step fails, those before it are taken "
           "back. There is no time limit but by -t; when that passes, the daemon goes on.",
       .arguments = {file("the file; -: the standard input")},
       .options = {{.name = "dry-run",
                    .help = "only say what would be done, or why it would be refused",
                    .type = kind::flag},
                   wait_option("all of it is done and every port that is enabled has a link, a "
                               "bond by all its members")},
       .example = "coua config apply /etc/coua/couad.yaml",
       .json = "{\"changed\": true, " + changes + "}",
       .id = config_apply},
  };
}

}  // namespace coua::cli
