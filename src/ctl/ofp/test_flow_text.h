// SPDX-License-Identifier: Apache-2.0
//
// What tests of texts read: a rule, a match or actions, in the words of the model.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ctl/ofp/flow_text.h"

namespace coua::ofp::test {

/// "match | instructions" in the words of the model, or the error.
inline std::string read_rule(const std::string& text,
                             pipeline::rule_command command = pipeline::rule_command::add) {
  const auto made = parse_rule(text, command);
  if (!made) return "error: " + made.error().message();
  return made->match.to_string() + " | " + to_string(made->instructions);
}
inline std::string read_match(const std::string& text) {
  const std::string both = read_rule(text + " actions=drop");
  const std::size_t end = both.find(" | ");
  return end == std::string::npos ? both : both.substr(0, end);
}
inline std::string read_actions(const std::string& text, const std::string& match = "") {
  const std::string both = read_rule(match + " actions=" + text);
  const std::size_t start = both.find(" | ");
  return start == std::string::npos ? both : both.substr(start + 3);
}
inline pipeline::rule_mod must(const std::string& text,
                               pipeline::rule_command command = pipeline::rule_command::add,
                               const port_names& names = {}) {
  auto made = parse_rule(text, command, names);
  EXPECT_TRUE(made.has_value()) << text << ": " << made.error().message();
  return made.value_or(pipeline::rule_mod{});
}

struct said_and_meant {
  const char* said;
  const char* meant;
};

}  // namespace coua::ofp::test
