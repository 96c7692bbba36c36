// SPDX-License-Identifier: Apache-2.0
//
// The command line of the switch. Everything is in src/cli but the check of configuration files,
// which is that of the daemon.
#include <string>
#include <vector>

#include "cli/session.h"
#include "ctl/config.h"

namespace {

coua::cli::file_report check(const std::string& text, const std::string& file) {
  const auto parsed = coua::ctl::parse_config(text, file);
  coua::cli::file_report report;
  if (parsed) report.n_ports = parsed->ports.size();
  if (!parsed)
    for (const auto& each : parsed.error())
      report.problems.push_back({each.line, each.field, each.reason});
  return report;
}

}  // namespace

int main(int argc, char** argv) {
  return coua::cli::run(std::vector<std::string>(argv + 1, argv + argc), check);
}
