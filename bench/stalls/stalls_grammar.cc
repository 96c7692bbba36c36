// SPDX-License-Identifier: Apache-2.0
#include "bench/grammar_parts.h"
#include "bench/stalls/stalls_command.h"

namespace coua::bench {
namespace {

CLI::Option* count(CLI::App& app, const std::string& name, const std::string& text,
                   std::uint64_t most, std::uint64_t& out) {
  return list(app, name, text, {std::to_string(out)},
              [name, most, &out](const words& given) {
                if (given.size() != 1) throw CLI::ValidationError(name, "takes one number here");
                out = take(parse_sizes(name, given, 1, most))[0];
              })
      ->type_name("N");
}

}  // namespace

CLI::App* add_stalls(CLI::App& root, stalls_options& out) {
  CLI::App* const app = root.add_subcommand(
      "stalls", "How long packets wait while the switch is changed: the longest gap between polls");
  out.run.repetitions = 20;
  count(*app, "--entries", "Addresses in the FIB", std::uint64_t{1} << 32, out.entries);
  count(*app, "--batch", "Addresses that are stored, or removed, by one call", 1 << 20, out.batch);
  count(*app, "--rules", "Flow rules of a bundle", 1'000'000, out.rules);
  app->add_option("--only", out.only, "These actions alone, by their names")
      ->delimiter(',')
      ->type_name("NAME,...");
  app->add_flag("--json", out.run.json, "Print one JSON object on stdout instead of a table");
  app->add_option("--repetitions", out.run.repetitions, "Of each action, by turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  return app;
}

}  // namespace coua::bench
