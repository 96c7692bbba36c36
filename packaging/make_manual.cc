// SPDX-License-Identifier: Apache-2.0
//
// make_manual coua|couad: prints the manual page of that command.
#include <cstdio>
#include <string_view>

#include "cli/daemon_grammar.h"
#include "cli/manual.h"
#include "cli/verbs.h"

int main(int argc, char** argv) {
  const std::string_view of = argc == 2 ? argv[1] : "";
  if (of != "coua" && of != "couad") {
    std::fputs("usage: make_manual coua|couad\n", stderr);
    return 2;
  }
  const bool daemon = of == "couad";
  const auto& command = daemon ? coua::cli::couad_command() : coua::cli::coua_command();
  const coua::cli::manual_page page = {.section = daemon ? 8 : 1,
                                       .version = COUA_VERSION,
                                       .see_also = daemon ? "coua(1)" : "couad(8)"};
  std::fputs(coua::cli::manual(command, page).c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
