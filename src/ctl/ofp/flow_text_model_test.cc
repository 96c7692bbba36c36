// SPDX-License-Identifier: Apache-2.0
//
// Random operations: what is converted and converted back, or written and read, is as before. The
// seed of a failure is printed; COUA_SEED repeats it.
#include <gtest/gtest.h>

#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/test_random_operations.h"
#include "ctl/ofp/test_round_trip.h"
#include "ctl/ofp/test_seeded.h"

namespace coua::ofp {
namespace {

constexpr int n_operations = 3'000;

class operations : public test::seeded {
 protected:
  operations() { silence_library(); }

  test::random_operations any_{[this] { return engine_(); }};
};

TEST_F(operations, rules_survive_conversion) {
  for (int i = 0; i < n_operations; ++i) {
    const pipeline::rule_mod asked = any_.rule();
    ovs_flow_mod theirs;
    const auto there = to_ovs(asked, theirs);
    ASSERT_TRUE(there.has_value()) << there.error().message();
    const auto back = from_ovs(theirs);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    ASSERT_TRUE(test::same(*back, asked)) << name_rule(asked.table, asked.priority, asked.match)
                                          << " " << to_string(asked.instructions) << "\n"
                                          << name_rule(back->table, back->priority, back->match)
                                          << " " << to_string(back->instructions);
  }
}

TEST_F(operations, rules_survive_text) {
  for (int i = 0; i < n_operations; ++i) {
    pipeline::rule_mod asked = any_.rule();
    asked.command = pipeline::rule_command::add;
    const pipeline::rule one = pipeline::to_rule(asked);
    for (const std::string& text :
         {print_rule(one), print_rule(one, {{5, 700}, 3}, 1'234'567'890'123)}) {
      const auto read = parse_rule(text, pipeline::rule_command::add);
      ASSERT_TRUE(read.has_value()) << text << "\n" << read.error().message();
      ASSERT_TRUE(test::same(pipeline::to_rule(*read), one))
          << text << "\n"
          << print_rule(pipeline::to_rule(*read));
    }
  }
}

TEST_F(operations, groups_survive_conversion_and_text) {
  for (int i = 0; i < n_operations; ++i) {
    const pipeline::group_mod asked = any_.group();
    ovs_group_mod theirs;
    ASSERT_TRUE(to_ovs(asked, theirs).has_value());
    const auto back = from_ovs(theirs);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    ASSERT_EQ(back->command, asked.command);
    ASSERT_TRUE(test::same(back->what, asked.what)) << print_group(asked.what);
    const std::string text = print_group(asked.what);
    const auto read = parse_group(text, pipeline::mod_command::add);
    ASSERT_TRUE(read.has_value()) << text << "\n" << read.error().message();
    ASSERT_TRUE(test::same(read->what, asked.what)) << text << "\n" << print_group(read->what);
  }
}

TEST_F(operations, meters_survive_conversion_and_text) {
  for (int i = 0; i < n_operations; ++i) {
    const pipeline::meter_mod asked = any_.meter();
    ovs_meter_mod theirs;
    to_ovs(asked, theirs);
    const auto back = from_ovs(theirs);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    ASSERT_EQ(back->command, asked.command);
    ASSERT_EQ(back->what.id, asked.what.id);
    if (asked.command == pipeline::mod_command::remove) continue;
    ASSERT_EQ(back->what, asked.what);
    const std::string text = print_meter(asked.what);
    const auto read = parse_meter(text, pipeline::mod_command::add);
    ASSERT_TRUE(read.has_value()) << text << "\n" << read.error().message();
    ASSERT_EQ(read->what, asked.what) << text;
  }
}

}  // namespace
}  // namespace coua::ofp
