// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_flow_text.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;
using test::must;
using test::said_and_meant;

TEST(group_text, is_read_and_printed) {
  const said_and_meant cases[] = {
      {"group_id=1,type=all", "group_id=1,type=all"},
      {"group_id=1,type=all,bucket=output:1,bucket=output:2",
       "group_id=1,type=all,bucket=actions=output:1,bucket=actions=output:2"},
      {"group_id=2,type=select,bucket=output:1,bucket=weight:2,output:2",
       "group_id=2,type=select,bucket=actions=output:1,bucket=weight:2,actions=output:2"},
      {"group_id=3 type=indirect bucket=actions=mod_dl_src:00:00:00:00:00:01,group:4",
       "group_id=3,type=indirect,bucket=actions=set_field:00:00:00:00:00:01->eth_src,group:4"},
      {"group_id=4,type=ff,bucket=watch_port:1,actions=output:1,bucket=watch_group:2,output:2",
       "group_id=4,type=ff,bucket=watch_port:1,actions=output:1,bucket=watch_group:2,"
       "actions=output:2"},
      {"group_id=4,type=fast_failover,bucket=watch_port:1,output:1",
       "group_id=4,type=ff,bucket=watch_port:1,actions=output:1"},
      {"group_id=5,type=ff,bucket=watch_port:2,output:2,bucket=watch_port=local,output:LOCAL",
       "group_id=5,type=ff,bucket=watch_port:2,actions=output:2,bucket=watch_port:LOCAL,"
       "actions=LOCAL"},
      {"group_id=5,type=ff,bucket=watch_port:LOCAL,watch_port:3,output:2,bucket=watch_port:65534,1",
       "group_id=5,type=ff,bucket=watch_port:3,actions=output:2,bucket=watch_port:LOCAL,"
       "actions=output:1"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_group(one.said, mod_command::add);
    ASSERT_TRUE(made.has_value()) << one.said << ": " << made.error().message();
    EXPECT_EQ(print_group(made->what), one.meant);
    EXPECT_EQ(made->command, mod_command::add);
  }
  const auto named = parse_group("group_id=5,type=ff,bucket=watch_port:l,output:l",
                                 mod_command::add, {{pipeline::port_local, "l"}});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->what.buckets[0].watch_port, pipeline::port_local);
  EXPECT_EQ(parse_group("", mod_command::remove)->what.id, pipeline::group_all);
  EXPECT_EQ(parse_group("group_id=all", mod_command::remove)->what.id, pipeline::group_all);
  EXPECT_EQ(parse_group("group_id=9", mod_command::remove)->what.id, 9);
  EXPECT_EQ(parse_group("group_id=9,type=all", mod_command::modify)->command, mod_command::modify);
}

TEST(group_text, refuses_by_name) {
  const said_and_meant cases[] = {
      {"type=all", "must specify a group_id"},
      {"group_id=1,bucket=1", "must specify a type"},
      {"group_id=1,type=some", "invalid group type some"},
      {"group_id=4294967041,type=all", "invalid group id 4294967041"},
      {"group_id=1,type=all,foo=1", "unknown keyword foo"},
      {"group_id=1,type=all,bucket=", "bucket must specify actions"},
      {"group_id=1,type=all,bucket=ct(commit)", "ct: the switch has no such action"},
      {"group_id=1,type=all,bucket=actions=1,ct(commit)", "ct: the switch has no such action"},
      {"group_id=1,type=all,bucket=goto_table:1", "goto_table"},
      {"group_id=1,type=all,bucket=mod_tp_src:5",
       "mod_tp_src: of which protocol? use set_field:5->tcp_src or the like"},
      {"group_id=1,type=all,bucket=bucket_id:1,1",
       "bucket_id: OpenFlow 1.3 gives buckets no numbers"},
      {"group_id=1,type=select,selection_method=hash",
       "selection_method: OpenFlow 1.3 cannot choose the method of selection"},
      {"group_id=1,type=select,fields(eth_src)",
       "fields: OpenFlow 1.3 cannot choose the method of selection"},
      {"group_id=1,type=all,command_bucket_id=1", "command bucket id is not needed"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_group(one.said, mod_command::add);
    ASSERT_FALSE(made.has_value()) << one.said;
    EXPECT_NE(made.error().message().find(one.meant), std::string::npos) << made.error().message();
  }
}

TEST(group_text, prints_what_was_counted) {
  pipeline::group_state state;
  state.counted = {3, 180};
  state.buckets = {{1, 60}, {2, 120}};
  state.n_rules = 2;
  EXPECT_EQ(print_group_stats({.id = 5}, state, 1'500'000'000),
            "group_id=5,duration=1.500s,ref_count=2,packet_count=3,byte_count=180,"
            "bucket0:packet_count=1,byte_count=60,bucket1:packet_count=2,byte_count=120");
}

}  // namespace
}  // namespace coua::ofp
