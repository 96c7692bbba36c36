// SPDX-License-Identifier: Apache-2.0
//
// The command line of the switch. Everything is in src/cli.
#include <string>
#include <vector>

#include "cli/session.h"

int main(int argc, char** argv) {
  return coua::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
