// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <gtest/gtest.h>

#include "cli/daemon_grammar.h"
#include "cli/verbs.h"

namespace coua::cli {
namespace {

TEST(manual, text_is_no_macro) {
  EXPECT_EQ(roff("a-b"), "a\\-b");
  EXPECT_EQ(roff(".TH x\n'y'\nz.\n.w"), "\\&.TH x\n\\&'y'\nz.\n\\&.w");
  EXPECT_EQ(roff("\\n"), "\\en");
}

TEST(manual, has_every_verb_and_option) {
  for (const command* of : {&coua_command(), &couad_command()}) {
    const std::string page = manual(*of, {1, "1.2", "other(8)"});
    const auto has = [&page](const std::string& text) {
      return page.find(roff(text)) != std::string::npos;
    };
    EXPECT_TRUE(page.find("\"Coua 1.2\"") != std::string::npos);
    for (const parameter& p : of->options) EXPECT_TRUE(has("--" + p.name)) << p.name;
    for (const verb& each : of->verbs) {
      EXPECT_TRUE(page.find(".SS \\fB" + roff(of->name + " " + each.path) + "\\fR") !=
                  std::string::npos)
          << each.path;
      EXPECT_TRUE(has(each.example)) << each.path;
      for (const parameter& p : each.options) EXPECT_TRUE(has("--" + p.name)) << p.name;
    }
  }
}

}  // namespace
}  // namespace coua::cli
