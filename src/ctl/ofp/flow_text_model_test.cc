// SPDX-License-Identifier: Apache-2.0
//
// Random operations: what is converted and converted back, or written and read, is as before. The
// seed of a failure is printed; COUA_SEED repeats it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>

#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/test_random_operations.h"
#include "ctl/ofp/test_round_trip.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_match.h"
#include "ctl/ofp/wire_message.h"

namespace coua::ofp {
namespace {

constexpr int n_operations = 3'000;

class operations : public testing::Test {
 protected:
  operations() {
    silence_library();
    const char* asked = std::getenv("COUA_SEED");
    const auto seed = asked != nullptr ? std::strtoull(asked, nullptr, 0) : std::random_device{}();
    engine_.seed(seed);
    RecordProperty("seed", std::to_string(seed));
    trace_ = std::make_unique<testing::ScopedTrace>(__FILE__, __LINE__,
                                                    "COUA_SEED=" + std::to_string(seed));
  }

  std::mt19937_64 engine_;
  test::random_operations any_{[this] { return engine_(); }};
  std::unique_ptr<testing::ScopedTrace> trace_;
};

TEST_F(operations, rules_survive_conversion) {
  for (int i = 0; i < n_operations; ++i) {
    const pipeline::rule_mod asked = any_.rule();
    ovs_flow_mod theirs;
    const auto there = to_ovs(asked, theirs);
    ASSERT_TRUE(there.has_value()) << there.error().message();
    const auto back = from_ovs(theirs);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    EXPECT_EQ(back->command, asked.command);
    EXPECT_TRUE(test::same(pipeline::to_rule(*back), pipeline::to_rule(asked)))
        << name_rule(asked.table, asked.priority, asked.match) << " "
        << to_string(asked.instructions) << "\n"
        << name_rule(back->table, back->priority, back->match) << " "
        << to_string(back->instructions);
    EXPECT_EQ(back->cookie_mask, asked.cookie_mask);
    EXPECT_EQ(back->out_port, asked.out_port);
    EXPECT_EQ(back->out_group, asked.out_group);
    if (HasFailure()) return;
  }
}

/// A flow_mod with some fields, in any order, of any protocol, and with any mask; often wrong.
message any_flow_mod(std::mt19937_64& engine) {
  const auto below = [&engine](std::uint64_t end) { return engine() % end; };
  constexpr std::size_t match_at = 48;
  message made = begin_message(static_cast<std::uint8_t>(wire_type_of::flow_mod), 1);
  made.resize(match_at);
  std::fill_n(made.begin() + 32, 12, 0xff);  // no buffer, any port, any group
  put(made, 1, 2);
  put(made, 0, 2);
  const auto put_field = [&](std::uint64_t header, std::uint64_t value, std::uint64_t mask) {
    const unsigned n = header & 0xff;
    const bool has_mask = mask != ~std::uint64_t{0};
    put(made, has_mask ? header + 0x100 + n : header, 4);
    for (const std::uint64_t each : {value, mask}) {
      if (n == 16) put(made, each, 8);
      put(made, each, n == 16 ? 8 : n);
      if (!has_mask) break;
    }
  };
  if (below(4) != 0) put_field(0x80000a02, below(2) != 0 ? 0x0800 : 0x86dd, ~std::uint64_t{0});
  constexpr std::array<std::uint64_t, 4> protocols = {6, 17, 132, 1};
  if (below(4) != 0) put_field(0x80001401, protocols[below(4)], ~std::uint64_t{0});
  constexpr std::array<std::uint64_t, 21> headers = {
      0x80000004,                                                  // in_port
      0x80000408, 0x80004c08,                                      // metadata, tunnel_id
      0x80000606, 0x80000806, 0x80000a02,                          // eth_*
      0x80000c02, 0x80001001,                                      // vlan_vid, ip_dscp
      0x80001401, 0x80001604, 0x80001804,                          // ip_proto, ipv4_*
      0x80003410, 0x80003610,                                      // ipv6_*
      0x80001a02, 0x80001c02, 0x80001e02, 0x80002002, 0x80002402,  // ports
      0x80002601, 0x80002801,                                      // icmpv4_*
      0x00010204};                                                 // reg1
  for (std::uint64_t left = below(5); left > 0; --left) {
    const std::uint64_t mask = below(3) != 0 ? ~std::uint64_t{0} : engine() & engine() & engine();
    std::uint64_t value = below(4) != 0 ? engine() & mask : engine();
    if (below(2) == 0) value &= 0xff;
    put_field(headers[below(headers.size())], value, below(8) != 0 ? mask : 0);
  }
  set_u16(made, match_at + 2, made.size() - match_at);
  made.resize((made.size() + 7) / 8 * 8);
  return end_message(std::move(made));
}

TEST_F(operations, plain_matches_are_read_from_messages_as_by_the_library) {
  constexpr std::size_t match_at = 48, fields_at = match_at + 4;
  int n_taken = 0, n_plain = 0;
  for (int i = 0; i < 100 * n_operations; ++i) {
    const message one = any_flow_mod(engine_);
    const std::size_t end = match_at + u16(one, match_at + 2);
    ovs_flow_mod parsed;
    ovs_buffer acts;
    const ofperr wrong =
        ofputil_decode_flow_mod(&parsed, to_library(one), OFPUTIL_P_OF13_OXM, nullptr, nullptr,
                                acts.get(), OFP_PORT_C(ovs_ports_end), 255);
    parsed.ofpacts = nullptr;  // they are the buffer's
    if (wrong != 0) continue;
    ++n_taken;
    const auto plain = plain_match(message_view(one).subspan(fields_at, end - fields_at));
    if (!plain) continue;
    ++n_plain;
    const auto known = from_ovs(parsed.match);
    ASSERT_EQ(plain->has_value(), known.has_value());
    if (known) {
      ASSERT_EQ(**plain, *known) << (*plain)->to_string() << "\n" << known->to_string();
    } else {
      ASSERT_EQ(plain->error().code, known.error().code);
    }
  }
  EXPECT_GT(n_taken, n_operations);
  EXPECT_GT(n_plain, n_taken / 2);
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
