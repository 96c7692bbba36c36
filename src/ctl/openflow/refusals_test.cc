// SPDX-License-Identifier: Apache-2.0
//
// What a controller may not say, and the error that OpenFlow 1.3.5 has for it.
#include "ctl/openflow/test_conversation.h"

namespace coua::openflow {
namespace {

bytes dump(std::uint32_t out_port, const bytes& match = any_match) {
  return message(multipart, number(1, 2) + number(0, 6) + number(255, 1) + number(0, 3) +
                                number(out_port, 4) + number(0xffff'ffff, 4) + number(0, 4) +
                                number(0, 8) + number(0, 8) + match);
}
bytes group(std::uint8_t type, std::uint32_t watch_port, const bytes& list = output(1)) {
  const bytes bucket = number(16 + list.size(), 2) + number(0, 2) + number(watch_port, 4) +
                       number(0xffff'ffff, 4) + number(0, 4) + list;
  return message(group_mod, number(0, 2) + number(type, 1) + number(0, 1) + number(1, 4) + bucket);
}
bytes change_port(std::uint32_t port, std::uint32_t config, std::uint32_t mask,
                  std::uint32_t advertise = 0) {
  const bytes mac = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(port)};
  return message(port_mod, number(port, 4) + number(0, 4) + mac + number(0, 2) + number(config, 4) +
                               number(mask, 4) + number(advertise, 4) + number(0, 4));
}
bytes change_table(std::uint8_t table, std::uint32_t config) {
  return message(table_mod, number(table, 1) + number(0, 3) + number(config, 4));
}
bytes send(std::uint32_t in_port, const bytes& list = output(1)) {
  return message(packet_out, number(0xffff'ffff, 4) + number(in_port, 4) + number(list.size(), 2) +
                                 number(0, 6) + list + bytes(60));
}
// Roles.

class slaves : public a_conversation {
 protected:
  slaves() : slave_(bridge_, with_) {
    const bytes wanted = number(3, 4) + number(0, 4) + number(1, 8);
    EXPECT_EQ(ask(slave_, {message(role_request, wanted)}), (answers{{role_request + 1, 0}}));
  }

  /// Whether all that it says is that the controller is a slave.
  bool is_refused(bytes one) {
    const answers got = ask(slave_, {std::move(one)});
    return got == answers{{error, 0}} &&
           bytes(said_[0].begin() + 8, said_[0].begin() + 12) == bytes{0, 1, 0, 10};
  }

  conversation slave_;
};

TEST_F(slaves, change_nothing) {
  constexpr std::uint16_t table_features = 12;
  const std::vector<bytes> changes = {
      rule(1, 1),
      group(0, pipeline::port_any),
      meter(1),
      change_port(1, 0, 0),
      change_table(1, 0),
      send(pipeline::port_controller),
      bundle_control(1, 0),
      bundle_control(1, 4),
      bundle_add(1, rule(1, 1)),
      message(multipart, number(table_features, 2) + number(0, 6) + bytes(64))};
  for (const bytes& one : changes) {
    EXPECT_TRUE(is_refused(one)) << int{one[1]};
    // Also when it is wrong in other ways.
    bytes wrong = one;
    wrong.resize(wrong.size() - 1);
    ofp::set_u16(wrong, 2, wrong.size());
    EXPECT_TRUE(is_refused(wrong)) << int{one[1]};
  }
  EXPECT_TRUE(is_refused(rule(99, 1)));
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

TEST_F(slaves, may_ask) {
  EXPECT_EQ(ask(slave_, {message(echo, {}), dump(pipeline::port_any),
                         message(multipart, number(12, 2) + number(0, 6)),
                         message(9, number(0, 2) + number(128, 2)), message(barrier, {})})
                .back(),
            (std::pair<int, std::uint32_t>(barrier_answer, 0)));
  for (const bytes& one : said_) EXPECT_NE(ofp::type_of(one), error);
  EXPECT_FALSE(is_refused(message(99, {})));
  EXPECT_FALSE(is_refused(message(experimenter, number(0x1234, 4) + number(0, 4))));
  bytes another_version = rule(1, 1);
  another_version[0] = 1;
  EXPECT_FALSE(is_refused(another_version));
}

}  // namespace
}  // namespace coua::openflow
