// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/flow_text.h"

#include <gtest/gtest.h>

#include "ctl/ofp/test_flow_text.h"

namespace coua::ofp {
namespace {

using pipeline::mod_command;
using test::must;
using test::said_and_meant;

TEST(meter_text, is_read_and_printed) {
  const said_and_meant cases[] = {
      {"meter=1,kbps,burst,band=type=drop,rate=1000,burst_size=100",
       "meter=1 kbps burst bands= type=drop rate=1000 burst_size=100"},
      {"meter=2,pktps,stats,bands=type=drop,rate=1000,type=dscp_remark,rate=5,prec_level=1",
       "meter=2 pktps stats bands= type=drop rate=1000 type=dscp_remark rate=5 prec_level=1"},
      {"meter=1 kbps bands= type=drop rate=7", "meter=1 kbps bands= type=drop rate=7"},
      {"meter=1,kbps,bands=", "meter=1 kbps bands="},
      {"meter=3 pktps burst stats bands= ", "meter=3 pktps burst stats bands="},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_meter(one.said, mod_command::add);
    ASSERT_TRUE(made.has_value()) << one.said << ": " << made.error().message();
    EXPECT_EQ(print_meter(made->what), one.meant);
  }
  EXPECT_EQ(parse_meter("", mod_command::remove)->what.id, pipeline::meter_all);
  EXPECT_EQ(parse_meter("meter=all", mod_command::remove)->what.id, pipeline::meter_all);
  EXPECT_EQ(parse_meter("meter=3", mod_command::remove)->what.id, 3);
}

TEST(meter_text, refuses_by_name) {
  const said_and_meant cases[] = {
      {"meter=1", "must specify bands"},
      {"meter=1,kbps", "must specify bands"},
      {"meter=1,bands=", "meter must specify either 'kbps' or 'pktps'"},
      {"kbps,band=type=drop,rate=1", "must specify 'meter'"},
      {"meter=1,band=type=drop,rate=1", "meter must specify either 'kbps' or 'pktps'"},
      {"meter=1,kbps,pktps,band=type=drop,rate=1", "meter 1: either kbps or pktps"},
      {"meter=1,kbps,band=type=drop", "band must have 'rate'"},
      {"meter=1,kbps,band=type=foo,rate=1", "field type unknown value foo"},
      {"meter=1,kbps,band=type=dscp_remark,rate=1", "'dscp_remark' band must have 'prec_level'"},
      {"meter=1,kbps,burst,band=type=drop,rate=1",
       "band must have 'burst_size' when 'burst' flag is set"},
      {"meter=1,foo=2,kbps,band=type=drop,rate=1", "unknown keyword foo"},
  };
  for (const said_and_meant& one : cases) {
    const auto made = parse_meter(one.said, mod_command::add);
    ASSERT_FALSE(made.has_value()) << one.said;
    EXPECT_EQ(made.error().message(), one.meant) << one.said;
  }
}

TEST(meter_text, prints_what_was_counted) {
  pipeline::meter_state state;
  state.counted = {3, 180};
  state.bands = {{1, 60}};
  state.n_rules = 2;
  EXPECT_EQ(print_meter_stats({.id = 5}, state, pipeline::ns_per_s),
            "meter:5 flow_count:2 packet_in_count:3 byte_in_count:180 duration:1s bands: "
            "0: packet_count:1 byte_count:60");
}

}  // namespace
}  // namespace coua::ofp
