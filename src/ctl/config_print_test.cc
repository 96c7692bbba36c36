// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ctl/config.h"
#include "ctl/config_schema.h"
#include "ctl/test_random_config.h"

namespace coua::ctl {
namespace {

config printed(const std::string& text) {
  auto out = parse_config(text, "");
  if (!out) {
    ADD_FAILURE() << to_string(out.error().at(0), "") << "\n" << text;
    return {};
  }
  out->lines.clear();
  return *out;
}

bool property(const char* what, const std::function<void()>& body) { return rc::check(what, body); }

TEST(config_print, what_is_printed_is_read_as_the_same) {
  EXPECT_TRUE(property("YAML", [] {
    const config c = random::whole();
    const std::string text = print_config(c);
    const auto again = parse_config(text, "");
    if (!again) RC_FAIL(to_string(again.error().at(0), "") + "\n" + text);
    config copy = *again;
    copy.lines.clear();
    if (!(copy == c)) RC_FAIL(text);
  }));
  EXPECT_TRUE(property("JSON", [] {
    const config c = random::whole();
    const auto again = parse_config(print_config(c, config_format::json), "");
    if (!again) RC_FAIL(to_string(again.error().at(0), ""));
    config copy = *again;
    copy.lines.clear();
    RC_ASSERT(copy == c);
  }));
}

TEST(config_print, defaults_are_left_out) {
  EXPECT_EQ(print_config({}), "");
  EXPECT_EQ(print_config({}, config_format::json), "{}\n");
  const std::string text =
      "memory:\n  huge_pages: off\nfib:\n  ageing_s: 60\n  static:\n"
      "    - {vlan: 10, mac: \"02:00:00:00:00:01\", port: p0}\n"
      "ports:\n  - {name: p0, devargs: \"net_tap0,iface=tap0\", vlan: 10}\n"
      "  - {name: up, devargs: net_null0, vlans: {mode: trunk, native: 0, tagged: [10, 20-30]}}\n";
  EXPECT_EQ(print_config(printed(text)), text);
}

TEST(config_print, long_items_have_lines_of_their_own) {
  config c;
  c.ports.emplace_back();
  c.ports[0].name = "p0";
  c.ports[0].devargs = "net_tap0,iface=" + std::string(100, 'x');
  EXPECT_EQ(print_config(c), "ports:\n  - name: p0\n    devargs: \"" + c.ports[0].devargs + "\"\n");
}

// Every field that the document lists is written when all is asked for, but those that only say
// something when they are set.
TEST(config_print, every_section_is_written) {
  const auto parsed_file = load_config(std::string(COUA_TESTS_DIR) + "/config/good/full.yaml");
  ASSERT_TRUE(parsed_file);
  config c = *parsed_file;
  const config_value all = write_mapping(file_fields(), c, extent::all);
  for (const auto& field : file_fields()) {
    if (field.info.name == "bridges") continue;  // instead of other sections
    EXPECT_NE(all.find(field.info.name), nullptr) << field.info.name;
  }
}

}  // namespace
}  // namespace coua::ctl
