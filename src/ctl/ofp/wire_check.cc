// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/wire_check.h"

#include <algorithm>
#include <array>

#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/ovs.h"
#include "ctl/ofp/oxm_header.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_flow_mod.h"
#include "net/ethernet.h"

namespace coua::ofp {
namespace {

using checked = tl::expected<void, refusal>;

constexpr std::uint16_t bad_action = 2, bad_match = 4, group_mod_failed = 6;
constexpr std::uint16_t class_experimenter = 0xffff;
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

/// Of a list whose parts do not add up.
struct wrong_length {
  std::uint16_t type, code;
  const char* what;
  tl::unexpected<refusal> refuse() const { return tl::unexpected(refusal{type, code, 0, what}); }
};

/// A list of things that begin with a type and a length: calls `take` for each.
template <class Take>
checked each_part(message_view list, std::size_t length_at, std::size_t least,
                  const wrong_length& wrong, Take take) {
  while (!list.empty()) {
    if (list.size() < least) return wrong.refuse();
    const std::size_t length = u16(list, length_at);
    if (length < least || length % 8 != 0 || length > list.size()) return wrong.refuse();
    if (auto good = take(list.first(length)); !good) return good;
    list = list.subspan(length);
  }
  return {};
}

checked check_set_field(message_view one) {
  constexpr std::uint16_t bad_set_type = 13, bad_set_length = 14;
  const std::uint32_t header = u32(one, 4);
  const bool experimenter = u16(one, 4) == class_experimenter;
  const mf_field* field = experimenter ? nullptr : field_of_header(header);
  if (field == nullptr && !experimenter && coua_has_wrong_length(header)) {
    return refuse_action(bad_set_length, "the length of a field is wrong");
  }
  const auto ours = field != nullptr ? from_ovs_field(field->id) : std::nullopt;
  if (field == nullptr || !field->writable || (ours && !pipeline::info(*ours).writable)) {
    return refuse_action(bad_set_type, "the switch cannot write this field");
  }
  if ((header & header_has_mask) != 0)
    return refuse_action(bad_set_type, "a field is set as a whole");
  if (8 + (header & 0xff) > one.size()) return refuse_action(bad_set_length, "a field is cut off");
  return {};
}

checked check_tag(message_view one, std::uint16_t good, std::uint16_t good_too) {
  constexpr std::uint16_t bad_tag = 12;
  const std::uint16_t tag = u16(one, 4);
  if (tag == good || tag == good_too) return {};
  return refuse_action(bad_tag, "there is no such tag");
}

checked check_action_of_experimenter(message_view one) {
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

/// Types that OpenFlow 1.1 had and 1.3 does not; the library takes them from 1.1 on.
bool is_of_openflow_11(std::uint16_t type) {
  return (type >= 1 && type <= 10) || type == 13 || type == 14;
}

checked check_action(message_view one) {
  const std::uint16_t type = u16(one, 0);
  if (is_of_openflow_11(type)) return refuse_action(0, "OpenFlow 1.3 has no such action");
  switch (type) {
    case action_push_vlan: return check_tag(one, net::ethertype_vlan, net::ethertype_qinq);
    case action_push_mpls:
      return check_tag(one, net::ethertype_mpls, net::ethertype_mpls_multicast);
    case action_set_field: return check_set_field(one);
    case action_experimenter: return check_action_of_experimenter(one);
    default: return {};
  }
}

checked check_list(message_view list) {
  std::size_t n = 0;
  return each_part(list, 2, 8, {bad_action, 1, "the length of an action is wrong"},
                   [&n](message_view one) {
                     if (++n > text_actions_max) {
                       return refuse_action(7, "there are more actions than 1000 in a list");
                     }
                     return check_action(one);
                   });
}

/// In a flow_mod as well as in a request for statistics.
constexpr std::size_t match_at = flow_mod_at::match;

checked check_match(message_view one) {
  constexpr std::uint16_t bad_type = 0, bad_len = 1;
  constexpr std::size_t header_size = 4;
  // Of what is too short the library says so.
  if (one.size() < header_size) return {};
  if (u16(one, 0) != match_oxm) {
    return tl::unexpected(refusal{bad_match, bad_type, 0, "matches are lists of fields (OXM)"});
  }
  const std::size_t length = u16(one, 2);
  if (length < header_size || length > one.size()) return {};
  message_view list = one.subspan(header_size, length - header_size);
  while (list.size() >= header_size) {
    const std::uint32_t header = u32(list, 0);
    if (u16(list, 0) != class_experimenter && field_of_header(header) == nullptr) {
      if (!coua_has_wrong_length(header)) return {};  // no such field: the library says so, too
      return tl::unexpected(refusal{bad_match, bad_len, 0, "the length of a field is wrong"});
    }
    const std::size_t size = header_size + (header & 0xff);
    if (size > list.size()) return {};
    list = list.subspan(size);
  }
  return {};
}

checked check_size(message_view one, std::size_t least) {
  if (one.size() < least) return tl::unexpected(bad_length());
  if (one.size() <= mod_bytes_max) return {};
  return refuse_action(7, "there are more actions than fit a reply");
}

checked check_flow_mod(message_view one) {
  if (auto good = check_size(one, match_at + 8); !good) return good;
  if (auto good = check_match(one.subspan(match_at)); !good) return good;
  const std::size_t match = (u16(one, match_at + 2) + 7) / 8 * 8;
  // What is wrong with the match the library says.
  if (match < 8 || match_at + match > one.size()) return {};
  constexpr std::uint16_t bad_instruction = 3;
  return each_part(one.subspan(match_at + match), 2, 8,
                   {bad_instruction, 7, "the length of an instruction is wrong"},
                   [](message_view instruction) -> checked {
                     const std::size_t type = u16(instruction, 0);
                     if (type != instruction_write && type != instruction_apply) return {};
                     return check_list(instruction.subspan(8));
                   });
}

checked check_watch(message_view bucket, bool fast_failover) {
  constexpr std::uint16_t watch_unsupported = 6, bad_watch = 13;
  const std::uint32_t port = u32(bucket, 4), group = u32(bucket, 8);
  // The library says that the group is invalid.
  if (fast_failover && port == pipeline::port_any && group == pipeline::group_any) {
    return tl::unexpected(
        refusal{group_mod_failed, bad_watch, 0, "a bucket of fast failover watches nothing"});
  }
  if (to_ovs_port(port)) return {};
  return tl::unexpected(refusal{group_mod_failed, fast_failover ? bad_watch : watch_unsupported, 0,
                                "a port that a bucket watches cannot be there"});
}

checked check_group_mod(message_view one) {
  constexpr std::size_t buckets_at = 16, bucket_header = 16;
  if (auto good = check_size(one, buckets_at); !good) return good;
  constexpr std::uint16_t bad_bucket = 12;
  constexpr std::uint8_t fast_failover = 3;
  const bool may_watch = one[10] == fast_failover;
  return each_part(one.subspan(buckets_at), 0, bucket_header,
                   {group_mod_failed, bad_bucket, "the length of a bucket is wrong"},
                   [may_watch](message_view bucket) -> checked {
                     if (auto good = check_watch(bucket, may_watch); !good) return good;
                     return check_list(bucket.subspan(bucket_header));
                   });
}

checked check_packet_out(message_view one) {
  constexpr std::size_t actions_at = 24;
  if (one.size() < actions_at) return tl::unexpected(bad_length());
  const std::size_t length = u16(one, 16);
  if (length > one.size() - actions_at) return refuse_action(1, "the list of actions is cut off");
  return check_list(one.subspan(actions_at, length));
}

checked check_multipart(message_view one) {
  constexpr std::uint16_t rules = 1, sum = 2;
  if (one.size() <= match_at) return {};
  const std::uint16_t kind = u16(one, header_bytes);
  if (kind != rules && kind != sum) return {};
  const message_view match = one.subspan(match_at);
  if (auto good = check_match(match); !good) return good;
  // Where the match is cut off the library says so.
  constexpr std::size_t least = 8;
  if (match.size() > least && match.size() > (u16(match, 2) + 7U) / 8 * 8)
    return tl::unexpected(bad_length());
  return {};
}

}  // namespace

tl::expected<void, refusal> check_on_wire(message_view one) {
  switch (static_cast<wire_type_of>(type_of(one))) {
    case wire_type_of::packet_out: return check_packet_out(one);
    case wire_type_of::flow_mod: return check_flow_mod(one);
    case wire_type_of::group_mod: return check_group_mod(one);
    case wire_type_of::multipart_request: return check_multipart(one);
    default: return {};
  }
}

}  // namespace coua::ofp
