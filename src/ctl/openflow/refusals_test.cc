// SPDX-License-Identifier: Apache-2.0
//
// What a controller may not say, and the error that OpenFlow 1.3.5 has for it.
#include "ctl/openflow/test_conversation.h"

namespace coua::openflow {
namespace {

using codes = std::pair<int, int>;

/// A field on the wire: class, number, value.
bytes field(unsigned number_of_it, const bytes& value, const bytes& mask = {},
            unsigned class_of_it = 0x8000) {
  return number(class_of_it, 2) + number(number_of_it << 1 | (mask.empty() ? 0U : 1U), 1) +
         number(value.size() + mask.size(), 1) + value + mask;
}
bytes padded(bytes one) {
  one.resize((one.size() + 7) / 8 * 8);
  return one;
}
bytes match_of(const bytes& fields) {
  return padded(number(1, 2) + number(4 + fields.size(), 2) + fields);
}
const bytes ethertype_ip = field(5, number(0x0800, 2));

bytes rule_of(const bytes& match, const bytes& instructions = {}) {
  bytes made = rule(1, 1);
  made.resize(made.size() - any_match.size());
  made = made + match + instructions;
  ofp::set_u16(made, 2, made.size());
  return made;
}
/// Of a flow_mod that deletes, and of one that adds.
bytes with_out_port(bytes one, std::uint32_t port) {
  ofp::set_u16(one, 36, port >> 16);
  ofp::set_u16(one, 38, port);
  return one;
}
bytes delete_all() {
  bytes made = rule(pipeline::table_all, 0);
  made[25] = static_cast<std::uint8_t>(pipeline::rule_command::remove);
  return made;
}
bytes dump(std::uint32_t out_port, const bytes& match = any_match) {
  return message(multipart, number(1, 2) + number(0, 6) + number(255, 1) + number(0, 3) +
                                number(out_port, 4) + number(0xffff'ffff, 4) + number(0, 4) +
                                number(0, 8) + number(0, 8) + match);
}
bytes set_field(const bytes& of) {
  bytes made = padded(number(25, 2) + number(0, 2) + of);
  ofp::set_u16(made, 2, made.size());
  return made;
}
bytes push(std::uint16_t type, std::uint16_t ethertype) {
  return number(type, 2) + number(8, 2) + number(ethertype, 2) + number(0, 2);
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
/// A request for statistics by port: of ports, or of queues.
bytes port_statistics(std::uint16_t kind, std::uint32_t port) {
  return message(multipart, number(kind, 2) + number(0, 6) + number(port, 4) +
                                number(kind == 5 ? 0xffff'ffff : 0, 4));
}

/// Numbers of which the library has no port: the first ones, and the last.
constexpr std::uint32_t beyond[] = {0xff00, 70'000, 0xffff'feff};

using refusals = a_conversation;

TEST_F(refusals, of_ports_that_cannot_be_there_are_those_of_ports_that_are_not) {
  for (const std::uint32_t port : {77U, beyond[0], beyond[1], beyond[2]}) {
    EXPECT_EQ(refused(change_port(port, 0, 0)), codes(7, 0)) << port;
    EXPECT_EQ(refused(port_statistics(4, port)), codes(1, 11)) << port;
    EXPECT_EQ(refused(port_statistics(5, port)), codes(9, 0)) << port;
    EXPECT_EQ(refused(message(queue_config, number(port, 4) + number(0, 4))), codes(9, 0)) << port;
  }
  for (const std::uint32_t port : beyond) {
    EXPECT_EQ(refused(send(port)), codes(1, 11)) << port;
    EXPECT_EQ(refused(rule(1, 1, actions(4, output(port)))), codes(2, 4)) << port;
    EXPECT_EQ(refused(rule_of(match_of(field(0, number(port, 4))))), codes(4, 7)) << port;
    EXPECT_EQ(refused(group(3, port)), codes(6, 13)) << port;
    EXPECT_EQ(refused(group(0, port)), codes(6, 6)) << port;
  }
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

TEST_F(a_conversation, finds_no_rules_by_ports_that_cannot_be_there) {
  ask({rule(1, 1, actions(4, output(2)))});
  const std::size_t nothing = ofp::header_bytes + 8;
  for (const std::uint32_t port : beyond) {
    EXPECT_EQ(ask({dump(port)}), (answers{{multipart_answer, 0}})) << port;
    EXPECT_EQ(said_[0].size(), nothing) << port;
    EXPECT_EQ(ask({with_out_port(delete_all(), port)}), answers{}) << port;
    EXPECT_EQ(pipeline_.status().rules, 1U) << port;
    // Where something is added, it means nothing.
    EXPECT_EQ(ask({with_out_port(rule(1, 1, actions(4, output(2))), port)}), answers{}) << port;
  }
  ask({dump(2)});
  EXPECT_GT(said_[0].size(), nothing);
  EXPECT_EQ(ask({with_out_port(delete_all(), 2)}), answers{});
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

TEST_F(refusals, of_bits_that_a_port_or_a_table_does_not_have) {
  for (const std::uint32_t bit : {1U << 1, 1U << 3, 1U << 7, 1U << 31}) {
    EXPECT_EQ(refused(change_port(1, bit, bit)), codes(7, 2)) << bit;
    EXPECT_EQ(refused(change_port(1, 0, bit)), codes(7, 2)) << bit;
    EXPECT_EQ(ask({change_port(1, bit, 0)}), answers{}) << bit;  // not to be changed
  }
  EXPECT_EQ(refused(change_port(1, 0, 0, 1 << 5)), codes(7, 3));
  EXPECT_EQ(ask({change_port(1, ofp::port_no_fwd, ofp::port_no_fwd)}), answers{});
  EXPECT_EQ(pipeline_.ports()[0].config, ofp::port_no_fwd);

  for (const std::uint32_t bit : {1U << 2, 1U << 3, 1U << 31}) {
    EXPECT_EQ(refused(change_table(3, bit)), codes(8, 1)) << bit;
  }
  EXPECT_EQ(refused(change_table(99, 0)), codes(8, 0));
  for (const std::uint8_t table : {std::uint8_t{3}, pipeline::table_all}) {
    EXPECT_EQ(ask({change_table(table, 3)}), answers{});
  }
}

TEST_F(refusals, of_matches_by_their_type_and_lengths) {
  for (const std::size_t length : {std::size_t{8}, std::size_t{88}}) {
    const bytes standard = number(0, 2) + number(length, 2) + bytes(length - 4);
    EXPECT_EQ(refused(rule_of(standard)), codes(4, 0)) << length;
    EXPECT_EQ(refused(dump(pipeline::port_any, standard)), codes(4, 0)) << length;
  }
  // eth_type, ipv4_dst, a register of Nicira's, and a value and a mask that are not of one length.
  for (const bytes& wrong :
       {field(5, number(8, 1)), ethertype_ip + field(12, bytes(6)), field(0, bytes(2), {}, 1),
        field(3, bytes(6), bytes(5)), field(5, {})}) {
    EXPECT_EQ(refused(rule_of(match_of(wrong))), codes(4, 1));
    EXPECT_EQ(refused(dump(pipeline::port_any, match_of(wrong))), codes(4, 1));
  }
  // There are no such fields, whatever their length.
  for (const bytes& unknown : {field(60, bytes(2)), field(39, bytes(2)), field(1, bytes(4)),
                               field(1, bytes(2), {}, 0x7777)}) {
    EXPECT_EQ(refused(rule_of(match_of(unknown))), codes(4, 6));
  }
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

TEST_F(refusals, of_fields_that_are_not_set) {
  constexpr codes bad_type(2, 13), bad_length(2, 14), bad_argument(2, 15);
  const auto set = [this](const bytes& action) {
    const codes got = refused(rule_of(match_of(ethertype_ip), actions(4, action)));
    EXPECT_EQ(refused(rule_of(match_of(ethertype_ip), actions(3, action))), got);
    EXPECT_EQ(refused(send(pipeline::port_controller, action)), got);
    EXPECT_EQ(refused(group(0, pipeline::port_any, action)), got);
    return got;
  };
  // Not there: a number and two classes.
  EXPECT_EQ(set(set_field(field(60, bytes(2)))), bad_type);
  EXPECT_EQ(set(set_field(field(3, bytes(6), {}, 0x7777))), bad_type);
  EXPECT_EQ(set(set_field(field(42, number(0x4f4e'4600, 4) + bytes(2), {}, 0xffff))), bad_type);
  // Only to be matched: in_port, metadata, eth_type, ip_proto.
  EXPECT_EQ(set(set_field(field(0, number(1, 4)))), bad_type);
  EXPECT_EQ(set(set_field(field(2, number(1, 8)))), bad_type);
  EXPECT_EQ(set(set_field(field(5, number(0x0800, 2)))), bad_type);
  EXPECT_EQ(set(set_field(field(10, number(6, 1)))), bad_type);
  // With a mask.
  EXPECT_EQ(set(set_field(field(3, bytes(6), bytes(6)))), bad_type);
  EXPECT_EQ(set(set_field(field(3, bytes(4)))), bad_length);
  EXPECT_EQ(set(set_field(field(10, number(0, 2)))), bad_length);
  EXPECT_EQ(
      set(number(25, 2) + number(8, 2) + number(0x8000, 2) + number(3 << 1, 1) + number(6, 1)),
      bad_length);
  EXPECT_EQ(set(set_field(field(8, number(64, 1)))), bad_argument);
  EXPECT_EQ(ask({rule_of(match_of(ethertype_ip), actions(4, set_field(field(3, bytes(6)))))}),
            answers{});
}

TEST_F(refusals, of_tags_that_nobody_knows) {
  constexpr std::uint16_t vlan = 17, mpls = 19;
  for (const std::uint16_t type : {vlan, mpls}) {
    for (const std::uint16_t ethertype : {0x1234, type == vlan ? 0x8847 : 0x8100}) {
      EXPECT_EQ(refused(rule(1, 1, actions(4, push(type, ethertype)))), codes(2, 12));
    }
  }
  EXPECT_EQ(
      ask({rule(1, 1, actions(4, push(vlan, 0x88a8))), rule(1, 2, actions(4, push(vlan, 0x8100))),
           rule(1, 3, actions(4, push(mpls, 0x8847))), rule(1, 4, actions(4, push(mpls, 0x8848)))}),
      answers{});
}

// As the types of set_vlan_vid to set_tp_dst, set_mpls_label and set_mpls_tc in OpenFlow 1.1.
TEST_F(refusals, of_actions_that_only_openflow_11_had) {
  constexpr codes bad_type(2, 0);
  for (const std::uint16_t type : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14}) {
    const std::size_t size = type == 3 || type == 4 ? 16 : 8;
    const bytes action = number(type, 2) + number(size, 2) + bytes(size - 4);
    EXPECT_EQ(refused(rule_of(match_of(ethertype_ip), actions(4, action))), bad_type) << type;
    EXPECT_EQ(refused(rule_of(match_of(ethertype_ip), actions(3, action))), bad_type) << type;
    EXPECT_EQ(refused(send(pipeline::port_controller, action)), bad_type) << type;
    EXPECT_EQ(refused(group(0, pipeline::port_any, action)), bad_type) << type;
  }
}

TEST_F(refusals, of_a_bucket_of_fast_failover_that_watches_nothing) {
  EXPECT_EQ(refused(group(3, pipeline::port_any)), codes(6, 13));
  EXPECT_EQ(ask({group(3, 1)}), answers{});
}

// The library follows two tags, and not what is behind the first one that goes.
TEST_F(a_conversation, has_rules_for_more_tags_than_the_library_follows) {
  const bytes pop = number(18, 2) + number(8, 2) + bytes(4), push_one = push(17, 0x8100);
  const bytes vid = set_field(field(6, number(0x1005, 2)));
  const bytes tagged = match_of(field(6, number(0x1065, 2)));
  const auto list = [](const bytes& all) { return actions(4, all); };
  EXPECT_EQ(ask({rule_of(tagged, list(pop + pop + output(2)))}), answers{});
  EXPECT_EQ(ask({rule_of(tagged, list(pop + vid + output(2)))}), answers{});
  EXPECT_EQ(ask({rule_of(tagged, list(push_one + push_one + output(2)))}), answers{});
  EXPECT_EQ(ask({rule_of(any_match, list(push_one + push_one + push_one + vid))}), answers{});
  EXPECT_EQ(pipeline_.status().rules, 2U);  // of two matches
  // What the model has against a list stays.
  constexpr codes inconsistent(2, 10);
  const bytes to_ip = set_field(field(11, number(1, 4)));
  EXPECT_EQ(refused(rule_of(tagged, list(pop + pop + to_ip))), inconsistent);
  EXPECT_EQ(refused(rule_of(any_match, list(to_ip))), inconsistent);
}

TEST_F(refusals, of_bytes_behind_the_match_of_a_request) {
  constexpr codes bad_length(1, 6);
  EXPECT_EQ(refused(dump(pipeline::port_any, any_match + bytes(8))), bad_length);
  EXPECT_EQ(refused(dump(pipeline::port_any, match_of(ethertype_ip) + bytes(8))), bad_length);
  EXPECT_EQ(ask({dump(pipeline::port_any, match_of(ethertype_ip))}).size(), 1u);
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

// Bundles.

class bundles : public a_conversation {
 protected:
  static constexpr std::uint16_t open = 0, close = 2, commit = 4, experimenter_error = 0xffff;
  static constexpr int bad_id = 2302, closed = 2304, bad_flags = 2307, bad_length = 2308,
                       bad_xid = 2309, unsupported = 2310, failed = 2313;

  /// Type and code of the error; (0, 0): it was done.
  codes say(const bytes& one) {
    const answers got = ask(with_bundles_, {one});
    if (got.empty() || got[0].first != error) return {0, 0};
    return {said_[0][8] << 8 | said_[0][9], said_[0][10] << 8 | said_[0][11]};
  }
  static codes of_bundles(int code) { return {experimenter_error, code}; }

  conversation with_bundles_{bridge_, with_};
};

constexpr codes done(0, 0);

TEST_F(bundles, with_a_message_that_was_refused_are_not_done) {
  bytes another_number = bundle_add(1, rule(1, 2));
  another_number[7] = 9;
  bytes too_long = rule(1, 2);
  too_long[3] += 8;
  const std::vector<std::pair<bytes, codes>> wrong = {
      {bundle_add(1, change_port(1, 0, 0)), of_bundles(unsupported)},
      {bundle_add(1, send(pipeline::port_controller)), of_bundles(unsupported)},
      {bundle_add(1, message(99, {})), of_bundles(unsupported)},
      {another_number, of_bundles(bad_xid)},
      {bundle_add(1, too_long), of_bundles(bad_length)},
      {message(experimenter,
               number(0x4f4e'4600, 4) + number(2301, 4) + number(1, 4) + number(3, 4)),
       of_bundles(bad_length)},
      {bundle_add(1, message(flow_mod, bytes(10))), {1, 6}},
      {bundle_add(1, message(group_mod, bytes(4))), {1, 6}},
      {bundle_add(1, message(meter_mod, bytes(4))), {1, 6}},
      {bundle_add(1, rule(pipeline::table_all, 2)), {5, 2}},
  };
  for (const auto& [one, error] : wrong) {
    EXPECT_EQ(say(bundle_control(1, open)), done);
    EXPECT_EQ(say(bundle_add(1, rule(1, 1))), done);
    EXPECT_EQ(say(one), error);
    EXPECT_EQ(say(bundle_control(1, commit)), of_bundles(failed));
    EXPECT_EQ(pipeline_.status().rules, 0U);
    EXPECT_EQ(say(bundle_control(1, commit)), of_bundles(bad_id));  // it is gone
    // Also one that the message opens.
    EXPECT_EQ(say(one), error);
    EXPECT_EQ(say(bundle_control(1, commit)), of_bundles(failed));
  }
}

TEST_F(bundles, are_discarded_by_what_is_added_to_another_kind_of_bundle) {
  EXPECT_EQ(say(bundle_control(1, open)), done);
  EXPECT_EQ(say(bundle_control(1, close)), done);
  EXPECT_EQ(say(bundle_add(1, rule(1, 1))), of_bundles(closed));
  EXPECT_EQ(say(bundle_control(1, commit)), of_bundles(bad_id));

  EXPECT_EQ(say(bundle_control(1, open)), done);
  EXPECT_EQ(say(bundle_add(1, rule(1, 1))), done);
  bytes other_flags = bundle_add(1, rule(1, 2));
  other_flags[23] = 1;
  EXPECT_EQ(say(other_flags), of_bundles(bad_flags));
  EXPECT_EQ(say(bundle_control(1, commit)), of_bundles(bad_id));
  EXPECT_EQ(pipeline_.status().rules, 0U);
}

}  // namespace
}  // namespace coua::openflow
