// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_flow_text.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;
using pipeline::rule_command;
using test::must;

TEST(line_text, has_an_operation_per_line) {
  const auto made = parse_lines(
      "# a comment\n"
      "tcp actions=1   # another\n"
      "\n"
      "delete udp\r\n"
      "modify_strict priority=3 actions=2\n"
      "flow add priority=4,actions=3\n"
      "group group_id=1,type=all\n"
      "group modify group_id=1,type=all\n"
      "meter delete meter=3\n"
      "  delete_strict priority=9",
      {});
  ASSERT_TRUE(made.has_value()) << made.error().message();
  ASSERT_EQ(made->operations.size(), 8U);
  EXPECT_EQ(made->places.front(), "line 2");
  EXPECT_EQ(made->places.back(), "line 10");
  const auto command = [&made](std::size_t i) {
    return std::get<pipeline::rule_mod>(made->operations[i]).command;
  };
  EXPECT_EQ(command(0), rule_command::add);
  EXPECT_EQ(command(1), rule_command::remove);
  EXPECT_EQ(command(2), rule_command::modify_strict);
  EXPECT_EQ(command(3), rule_command::add);
  EXPECT_EQ(std::get<pipeline::group_mod>(made->operations[4]).command, mod_command::add);
  EXPECT_EQ(std::get<pipeline::group_mod>(made->operations[5]).command, mod_command::modify);
  EXPECT_EQ(std::get<pipeline::meter_mod>(made->operations[6]).command, mod_command::remove);
  EXPECT_EQ(command(7), rule_command::remove_strict);
}

TEST(line_text, follows_the_defaults) {
  const line_defaults groups{line_defaults::kind::group, {}, mod_command::remove};
  const auto made = parse_lines("group_id=3\nflow tcp", groups);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message(), "line 2: must specify an action");
  const auto one = parse_lines("group_id=3", groups);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(std::get<pipeline::group_mod>(one->operations.front()).command, mod_command::remove);
}

// As a text a rule to be deleted may be empty, and is all of them then.
TEST(line_text, that_says_nothing_asks_for_nothing) {
  for (const auto kind :
       {line_defaults::kind::rule, line_defaults::kind::group, line_defaults::kind::meter}) {
    const line_defaults removal{kind, rule_command::remove, mod_command::remove};
    for (const char* text : {"", " ", "\t", "\r\n", "\n", "#", "# none yet", "# none yet\n",
                             " # none\n\n# yet", "\xef\xbb\xbf", "\xef\xbb\xbf# none yet"}) {
      const auto made = parse_lines(text, removal);
      ASSERT_TRUE(made.has_value()) << text;
      EXPECT_TRUE(made->operations.empty()) << text;
    }
    EXPECT_EQ(parse_lines("delete", removal)->operations.size(), 1U);
    line_defaults bare = removal;
    bare.bare = true;
    EXPECT_FALSE(parse_lines("delete", bare));
  }
}

TEST(line_text, has_comments_in_any_encoding) {
  const auto made = parse_lines("# B\xfcro\ntcp actions=1 # B\xfcro\n", {});
  ASSERT_TRUE(made.has_value()) << made.error().message();
  EXPECT_EQ(made->operations.size(), 1U);
  for (const char* text : {"in_port=B\xfcro actions=1", "actions=output:B\xfcro"}) {
    EXPECT_EQ(parse_lines(std::string("tcp actions=1\n") + text, {}).error().message(),
              "line 2: there is a character that is not UTF-8 in it");
  }
  EXPECT_EQ(parse_filter("in_port=B\xfcro").error().message(),
            "there is a character that is not UTF-8 in it");
}

TEST(line_text, may_begin_with_a_byte_order_mark) {
  EXPECT_TRUE(parse_lines("\xef\xbb\xbftcp actions=1\nudp actions=2\n", {}).has_value());
  EXPECT_TRUE(parse_lines("\xef\xbb\xbftcp actions=1", {}).has_value());
  EXPECT_EQ(parse_lines("\xef\xbb\xbftpc actions=1\nudp actions=2\n", {}).error().message(),
            parse_lines("tpc actions=1\nudp actions=2\n", {}).error().message());
  // Only in front of the whole.
  EXPECT_FALSE(parse_lines("tcp actions=1\n\xef\xbb\xbfudp actions=2\n", {}).has_value());
}

TEST(line_text, names_a_command_that_is_none) {
  for (const char* text : {"replace tcp actions=1", "Add tcp actions=1", "flow del tcp",
                           "group replace group_id=1,type=all", "meter replace meter=1"}) {
    const auto made = parse_lines(text, {});
    ASSERT_FALSE(made.has_value()) << text;
    const std::string word = made.error().message().substr(std::string("unknown keyword ").size());
    EXPECT_EQ(made.error().message(), "unknown keyword " + word) << text;
    EXPECT_NE(std::string(text).find(word), std::string::npos) << text << " " << word;
  }
}

TEST(line_text, names_the_line) {
  EXPECT_EQ(parse_lines("foo=1 actions=2", {}).error().message(), "unknown keyword foo");
  EXPECT_EQ(parse_lines("actions=1\n\nfoo=1 actions=2", {}).error().message(),
            "line 3: unknown keyword foo");
  EXPECT_EQ(parse_lines("actions=1\nactions=ct(commit)\n", {}).error().message(),
            "line 2: ct: the switch has no such action");
}

}  // namespace
}  // namespace coua::ofp
