// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon_grammar.h"

namespace coua::cli {

const command& couad_command() {
  static const command the = {
      .name = "couad",
      .summary = "the switch",
      .groups = {},
      .options = {{.name = "config",
                   .value = "FILE",
                   .help =
                       "the configuration, in YAML (docs/configuration.md); without it the switch "
                       "starts empty",
                   .letter = 'c'},
                  {.name = "check",
                   .help = "only check the configuration and print every error of it",
                   .type = kind::flag},
                  {.name = "log-level",
                   .value = "LEVEL",
                   .help = "error, warning, info or debug; where not given, what the configuration "
                           "says (info)"},
                  {.name = "version", .help = "print the version", .type = kind::flag}},
      .verbs = {},
      .epilogue =
          "SIGHUP: the file is read again, and what differs is changed, all of it or nothing; the\n"
          "log says what came of it.\n"
          "\n"
          "exit status\n"
          "  0  stopped by SIGTERM or SIGINT, or the configuration is good\n"
          "  1  the configuration is wrong, or the switch did not start\n"
          "  2  the command line is wrong\n"};
  return the;
}

}  // namespace coua::cli
