// SPDX-License-Identifier: Apache-2.0
//
// Bytes as a configuration file: a config that can be started with, or errors that a person can
// read and find.
#include <algorithm>
#include <string_view>

#include "ctl/config.h"
#include "ctl/port_rules.h"
#include "fuzz.h"

namespace {

using namespace coua::ctl;

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= ' ' && c < 0x7f; });
}

void check_errors(const std::vector<config_error>& errors, std::string_view text) {
  // Line ends of YAML: LF, CR, CR LF.
  const auto lines = 1 + std::ranges::count(text, '\n') + std::ranges::count(text, '\r');
  COUA_CHECK(!errors.empty());
  COUA_CHECK(std::ranges::is_sorted(errors, {}, &config_error::line));
  for (const auto& e : errors) {
    COUA_CHECK(e.line >= 0 && e.line <= lines);
    COUA_CHECK(!e.reason.empty() && printable(e.reason) && printable(e.field));
  }
}

void check_config(const config& c) {
  COUA_CHECK(c.cores.empty() || c.worker_count == 0);
  COUA_CHECK(c.ports.size() <= std::size_t{1} << c.tables.port_bits);
  for (const auto& port : c.ports) COUA_CHECK(check_port(port).empty());
  for (const auto& entry : c.statics) {
    COUA_CHECK(check_fib_mac(entry.mac).empty());
    COUA_CHECK(std::ranges::any_of(c.ports, [&](const auto& p) { return p.name == entry.port; }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_config(text, "f");
  if (parsed)
    check_config(*parsed);
  else
    check_errors(parsed.error(), text);
  return 0;
}
