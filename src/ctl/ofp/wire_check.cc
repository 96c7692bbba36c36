// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/wire_check.h"

#include <algorithm>
#include <array>

#include "ctl/ofp/wire_bytes.h"

namespace coua::ofp {
namespace {

using checked = tl::expected<void, refusal>;

constexpr std::uint16_t bad_action = 2;
constexpr std::uint8_t type_packet_out = 13, type_flow_mod = 14, type_group_mod = 15;
constexpr std::uint16_t instruction_write = 3, instruction_apply = 4;
constexpr std::uint16_t action_experimenter = 0xffff;
constexpr std::uint32_t nicira = 0x2320;
// Of set_field with a mask, for which OpenFlow 1.3 has no action, and the extensions that we have.
constexpr std::array<std::size_t, 10> nicira_known = {
    1,   // resubmit
    6,   // reg_move
    7,   // reg_load
    14,  // resubmit_table
    15,  // output_reg
    16,  // learn
    32,  // output_reg2
    33,  // reg_load2
    34,  // conjunction
    45,  // learn2
};
constexpr std::size_t nicira_learn = 16, nicira_learn2 = 45;
// Of a learn with all the parts that it may have; the library's form of one is several times as
// large, and the library ends the program where that is above 64 KB.
constexpr std::size_t learn_bytes_max = 4096;
// A reply that shows the rule or group has more around it than the request that made it.
constexpr std::size_t mod_bytes_max = 65'000;

checked refuse_action(std::uint16_t code, const char* what) {
  return tl::unexpected(refusal{bad_action, code, 0, what});
}

/// A list of things that begin with a type and a length: calls `take` for each.
template <class Take>
checked each_part(message_view list, std::size_t length_at, std::size_t least, const refusal& wrong,
                  Take take) {
  while (!list.empty()) {
    if (list.size() < least) return tl::unexpected(wrong);
    const std::size_t length = u16(list, length_at);
    if (length < least || length % 8 != 0 || length > list.size()) return tl::unexpected(wrong);
    if (auto good = take(list.first(length)); !good) return good;
    list = list.subspan(length);
  }
  return {};
}

checked check_action(message_view one) {
  if (u16(one, 0) != action_experimenter) return {};
  if (u32(one, 4) != nicira)
    return refuse_action(2, "the switch has no actions of this experimenter");
  if (one.size() < 16) return refuse_action(1, "the length of an action is wrong");
  const std::size_t subtype = u16(one, 8);
  if (std::find(nicira_known.begin(), nicira_known.end(), subtype) == nicira_known.end()) {
    return refuse_action(3, "the switch has no such action of this experimenter");
  }
  if ((subtype == nicira_learn || subtype == nicira_learn2) && one.size() > learn_bytes_max) {
    return refuse_action(7, "a learn has more parts than 64");
  }
  return {};
}

checked check_list(message_view list) {
  std::size_t n = 0;
  return each_part(list, 2, 8, {bad_action, 1, 0, "the length of an action is wrong"},
                   [&n](message_view one) {
                     if (++n > text_actions_max) {
                       return refuse_action(7, "there are more actions than 1000 in a list");
                     }
                     return check_action(one);
                   });
}

checked check_flow_mod(message_view one) {
  constexpr std::size_t match_at = 48;
  if (one.size() < match_at + 8) return tl::unexpected(bad_length());
  const std::size_t match = (u16(one, match_at + 2) + 7) / 8 * 8;
  // What is wrong with the match the library says.
  if (match < 8 || match_at + match > one.size()) return {};
  constexpr std::uint16_t bad_instruction = 3;
  return each_part(one.subspan(match_at + match), 2, 8,
                   {bad_instruction, 7, 0, "the length of an instruction is wrong"},
                   [](message_view instruction) -> checked {
                     const std::size_t type = u16(instruction, 0);
                     if (type != instruction_write && type != instruction_apply) return {};
                     return check_list(instruction.subspan(8));
                   });
}

checked check_group_mod(message_view one) {
  constexpr std::size_t buckets_at = 16, bucket_header = 16;
  if (one.size() < buckets_at) return tl::unexpected(bad_length());
  constexpr std::uint16_t group_mod_failed = 6, bad_bucket = 12;
  return each_part(one.subspan(buckets_at), 0, bucket_header,
                   {group_mod_failed, bad_bucket, 0, "the length of a bucket is wrong"},
                   [](message_view bucket) { return check_list(bucket.subspan(bucket_header)); });
}

checked check_packet_out(message_view one) {
  constexpr std::size_t actions_at = 24;
  if (one.size() < actions_at) return tl::unexpected(bad_length());
  const std::size_t length = u16(one, 16);
  if (length > one.size() - actions_at) return refuse_action(1, "the list of actions is cut off");
  return check_list(one.subspan(actions_at, length));
}

}  // namespace

tl::expected<void, refusal> check_actions_on_wire(message_view one) {
  const std::uint8_t type = type_of(one);
  if (type == type_packet_out) return check_packet_out(one);
  if (type != type_flow_mod && type != type_group_mod) return {};
  if (one.size() > mod_bytes_max)
    return refuse_action(7, "there are more actions than fit a reply");
  return type == type_flow_mod ? check_flow_mod(one) : check_group_mod(one);
}

}  // namespace coua::ofp
