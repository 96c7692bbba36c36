// SPDX-License-Identifier: Apache-2.0
//
// What is read past the library is what the library would have read; and what the library refuses
// is left to it.
#include <algorithm>
#include <array>
#include <bit>

#include "ctl/ofp/operation_convert.h"
#include "ctl/ofp/test_random_operations.h"
#include "ctl/ofp/test_round_trip.h"
#include "ctl/ofp/test_seeded.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_flow_mod.h"
#include "ctl/ofp/wire_message.h"
#include "ctl/ofp/wire_rule.h"

namespace coua::ofp {
namespace {

constexpr int n_messages = 3'000;

std::string told(const message& bytes) {
  std::string made;
  for (const std::uint8_t byte : bytes)
    made += "0123456789abcdef"[byte >> 4], made += "0123456789abcdef"[byte & 15];
  return made;
}

/// Whether it is plain, which the library's answer must then be the same as.
bool is_read_as_by_the_library(const message& some) {
  const message one = some;  // nothing behind its end
  const auto plain = plain_rule(one);
  if (!plain) return false;
  const auto known = decode_by_library(one);
  EXPECT_TRUE(known.has_value()) << told(one) << "\n" << known.error().what;
  if (!known) return true;
  const auto* rule = std::get_if<pipeline::rule_mod>(&*known);
  EXPECT_TRUE(rule != nullptr && test::same(*plain, *rule)) << told(one);
  return true;
}

class wire_rules : public test::seeded {
 protected:
  wire_rules() { silence_library(); }

  /// A flow_mod without instructions, with some fields, in any order, of any protocol, and with any
  /// mask; often wrong.
  message any_flow_mod() {
    using flow_mod_at::match;
    message made = begin_message(static_cast<std::uint8_t>(wire_type_of::flow_mod), 1);
    made.resize(match);
    std::fill_n(made.begin() + flow_mod_at::buffer, 12, 0xff);  // no buffer, any port, any group
    put(made, 1, 2);
    put(made, 0, 2);
    const auto put_field = [&](std::uint64_t header, std::uint64_t value, std::uint64_t mask) {
      const unsigned n = header & 0xff;
      const bool has_mask = mask != ~std::uint64_t{0};
      put(made, has_mask ? header + 0x100 + n : header, 4);
      for (const std::uint64_t each : {value, mask}) {
        if (n == 16) put(made, std::rotl(each, 8), 8);
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
      const std::uint64_t mask =
          below(3) != 0 ? ~std::uint64_t{0} : engine_() & engine_() & engine_();
      std::uint64_t value = below(4) != 0 ? engine_() & mask : engine_();
      if (below(2) == 0) value &= 0xff;
      const std::uint64_t header = headers[below(headers.size())];
      // Near where the ports of the library end, and those that are reserved.
      if (header == 0x80000004 && one_in(2)) value = below(2) * 0xffff'0000 + 0xfe80 + below(0x180);
      // Behind what asks for them.
      const bool known_type = header == 0x80000a02 && one_in(2);
      const bool known_protocol = header == 0x80001401 && one_in(2);
      if (known_type) value = one_in(2) ? 0x0800 : 0x86dd;
      if (known_protocol) value = protocols[below(4)];
      put_field(header, value,
                known_type || known_protocol ? ~std::uint64_t{0}
                : below(8) != 0              ? mask
                                             : 0);
    }
    set_u16(made, match + 2, made.size() - match);
    made.resize((made.size() + 7) / 8 * 8);
    return end_message(std::move(made));
  }

  /// Of TCP or UDP in IPv4 or IPv6, with all that is read past the library.
  message plain_flow_mod() {
    message made = begin_message(static_cast<std::uint8_t>(wire_type_of::flow_mod), 1);
    put(made, engine_(), 8);  // cookie, and its mask
    put(made, engine_(), 8);
    const std::uint64_t table = below(254);
    put(made, table, 1);
    put(made, below(5), 1);
    for (int i = 0; i < 3; ++i) put(made, engine_(), 2);  // timeouts, priority
    put(made, no_buffer_id, 4);
    put(made, one_in(2) ? engine_() : pipeline::port_any, 4);
    put(made, one_in(2) ? engine_() : pipeline::group_any, 4);
    put(made, below(32), 2);
    put(made, 0, 2);
    put(made, match_oxm, 2);
    put(made, 0, 2);
    const auto put_field = [&](std::uint64_t header, unsigned n, std::uint64_t value) {
      put(made, header << 9 | n, 4);
      if (n == 16) put(made, engine_(), 8);
      put(made, value, n == 16 ? 8 : n);
    };
    const auto put_masked = [&](std::uint64_t header, unsigned n) {
      put(made, header << 9 | 0x100 | 2 * n, 4);
      const std::uint64_t mask = engine_() | 1;
      put(made, engine_() & mask, n);
      put(made, mask, n);
    };
    constexpr std::uint64_t basic = 0x8000'0000 >> 9;
    const bool v6 = one_in(3), udp = one_in(3);
    if (one_in(2)) put_field(basic, 4, 1 + below(0xfeff));
    if (one_in(3)) put_masked(basic + 2, 8);
    if (one_in(3)) put_field(basic + 4, 6, engine_());
    if (one_in(3)) put_masked(basic + 3, 6);
    put_field(basic + 5, 2, v6 ? 0x86dd : 0x0800);
    put_field(basic + 10, 1, udp ? 17 : 6);
    if (v6) {
      put_field(basic + 27, 16, engine_());
    } else if (one_in(2)) {
      put_field(basic + 11, 4, engine_());
    } else {
      put_masked(basic + 12, 4);
    }
    if (one_in(2)) put_field(basic + (udp ? 16 : 14), 2, engine_());
    set_u16(made, flow_mod_at::match + 2, made.size() - flow_mod_at::match);
    made.resize((made.size() + 7) / 8 * 8);

    const auto put_goto = [&] {
      put(made, instruction_goto_table, 2);
      put(made, 8, 2);
      put(made, table + 1 + below(254 - table), 1);
      put(made, 0, 3);
    };
    const bool first = one_in(4);
    if (first) put_goto();
    if (!one_in(8)) {
      const std::size_t at = made.size();
      put(made, std::uint64_t{instruction_apply} << 48, 8);
      for (std::uint64_t left = below(5); left > 0; --left) {
        const std::size_t start = made.size();
        const auto type =
            std::array{action_output, action_group, action_dec_nw_ttl, action_set_field}[below(4)];
        put(made, type, 2);
        put(made, 0, 2);
        if (type == action_output) {
          put(made, 1 + below(0xfeff), 4);
          put(made, engine_(), 2);
        } else if (type == action_group) {
          put(made, below(pipeline::group_max), 4);
        } else if (type == action_set_field) {
          switch (below(3)) {
            case 0: put_field(basic + 3, 6, engine_()); break;
            case 1: put_field(basic + (udp ? 15 : 13), 2, engine_()); break;
            default: put_field(basic + (v6 ? 26 : 11), v6 ? 16 : 4, engine_()); break;
          }
        }
        while ((made.size() - start) % 8 != 0) made.push_back(0);
        set_u16(made, start + 2, made.size() - start);
      }
      set_u16(made, at + 2, made.size() - at);
    }
    if (!first && one_in(2)) put_goto();
    return end_message(std::move(made));
  }

  /// Mostly a byte becomes another one, often one that stands near what was there.
  void change(message& one) {
    const std::size_t at = header_bytes + engine_() % (one.size() - header_bytes);
    switch (below(7)) {
      case 0: one[at] = static_cast<std::uint8_t>(engine_()); break;
      case 1: one[at] = static_cast<std::uint8_t>(one[at] ^ 1U << engine_() % 8); break;
      case 2: one[at] = static_cast<std::uint8_t>(one[at] + 1); break;
      case 3: {  // the end comes twice: an instruction, if it is as short
        const message tail(one.end() - 8, one.end());
        one.insert(one.end(), tail.begin(), tail.end());
        one = end_message(std::move(one));
        break;
      }
      case 4: {  // it is cut off
        one.resize(one.size() - 8 * below((one.size() - header_bytes) / 8));
        one = end_message(std::move(one));
        break;
      }
      case 5: {  // a word is the header of a field, of these mostly one that may not be there
        constexpr std::array<std::uint64_t, 12> headers = {
            0x80000004, 0x80000408, 0x80000606, 0x80000a02, 0x80000c02, 0x80001401,
            0x80001604, 0x80001708, 0x80001a02, 0x80004c08, 0x00010204, 0x00000602};
        message word;
        put(word, headers[below(headers.size())], 4);
        std::copy(word.begin(), word.end(), one.begin() + static_cast<std::ptrdiff_t>(at / 4 * 4));
        break;
      }
      default: {  // a word comes twice
        const std::size_t from = header_bytes + below((one.size() - header_bytes) / 4) * 4;
        std::copy_n(one.begin() + static_cast<std::ptrdiff_t>(from), 4,
                    one.begin() + static_cast<std::ptrdiff_t>(at / 4 * 4));
      }
    }
  }

  test::random_operations any_{[this] { return engine_(); }};
};

TEST_F(wire_rules, plain_matches_are_read_as_by_the_library) {
  int n_plain = 0;
  for (int i = 0; i < 100 * n_messages; ++i) {
    n_plain += is_read_as_by_the_library(any_flow_mod());
    if (HasFailure()) return;
  }
  EXPECT_GT(n_plain, n_messages);
}

/// Of any rule that there may be, most have something that is not plain.
TEST_F(wire_rules, plain_rules_are_read_from_messages_as_by_the_library) {
  int n_plain = 0;
  for (int i = 0; i < 20 * n_messages; ++i) {
    ovs_flow_mod theirs;
    ASSERT_TRUE(to_ovs(any_.rule(), theirs).has_value());
    n_plain +=
        is_read_as_by_the_library(take(ofputil_encode_flow_mod(&theirs, OFPUTIL_P_OF13_OXM)));
    if (HasFailure()) return;
  }
  EXPECT_GT(n_plain, n_messages / 4);
}

/// What controllers mostly send, with any of its parts wrong or odd.
TEST_F(wire_rules, rules_that_are_nearly_plain_are_read_as_by_the_library) {
  int n_whole = 0, n_plain = 0;
  for (int i = 0; i < 60 * n_messages; ++i) {
    message one = plain_flow_mod();
    ASSERT_TRUE(is_read_as_by_the_library(one)) << told(one);
    ++n_whole;
    for (std::uint64_t n = 1 + engine_() % 3; n > 0; --n) change(one);
    n_plain += is_read_as_by_the_library(one);
    if (HasFailure()) return;
  }
  EXPECT_GT(n_plain, n_whole / 20);
  EXPECT_LT(n_plain, n_whole / 2);
}

}  // namespace
}  // namespace coua::ofp
