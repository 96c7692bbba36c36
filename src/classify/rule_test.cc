// SPDX-License-Identifier: Apache-2.0
#include "classify/rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace coua {
namespace {

TEST(rival_set, lists_four_exactly) {
  rival_set rivals;
  EXPECT_TRUE(rivals.empty());
  for (const subtable_id id : {0, 48, 33000, 7}) {
    EXPECT_FALSE(rivals.may_have(id));
    rivals.add(id);
    rivals.add(id);
    EXPECT_TRUE(rivals.may_have(id));
  }
  EXPECT_TRUE(rivals.is_listed());
  EXPECT_EQ(rivals.size(), 4u);
  EXPECT_FALSE(rivals.may_have(96));
  std::vector<subtable_id> listed;
  rivals.each_listed([&](subtable_id id) { listed.push_back(id); });
  EXPECT_EQ(listed, (std::vector<subtable_id>{0, 48, 33000, 7}));
}

TEST(rival_set, of_more_than_four_none_is_missed) {
  rival_set rivals;
  for (unsigned id = 10; id < 15; ++id) rivals.add(static_cast<subtable_id>(id));
  EXPECT_FALSE(rivals.is_listed());
  EXPECT_FALSE(rivals.is_unknown());
  for (unsigned id = 10; id < 15; ++id) EXPECT_TRUE(rivals.may_have(static_cast<subtable_id>(id)));
  EXPECT_FALSE(rivals.may_have(9));
  EXPECT_TRUE(rivals.may_have(10 + 48));  // shares a bit
  EXPECT_NEAR(rivals.density(), 5 / 48.0, 1e-9);
  rivals.add(20);
  EXPECT_TRUE(rivals.may_have(20));
  EXPECT_TRUE(rivals.may_have(14));
}

TEST(rival_set, when_unknown_any_may_be_one) {
  for (const subtable_id id : {0, 1, 47, 48, 32767}) {
    EXPECT_TRUE(rival_set::unknown().may_have(id));
  }
  EXPECT_FALSE(rival_set::unknown().is_listed());
  EXPECT_EQ(rival_set::unknown().density(), 1.0);
}

}  // namespace
}  // namespace coua
