// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/wire_rule.h"

#include <algorithm>

#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/ovs.h"
#include "ctl/ofp/wire_bytes.h"
#include "ctl/ofp/wire_flow_mod.h"
#include "ctl/ofp/wire_match.h"
#include "pipeline/model/action_check.h"

namespace coua::ofp {
namespace {

namespace act = pipeline::act;
using pipeline::rule_command;

constexpr std::uint16_t known_flags =
    pipeline::rule_send_removed | pipeline::rule_check_overlap | pipeline::rule_reset_counts |
    pipeline::rule_no_packet_counts | pipeline::rule_no_byte_counts;
// Below the bounds that wire_check.h has for lists and messages.
constexpr std::size_t bytes_max = 1024;
static_assert(bytes_max / 8 < text_actions_max);

bool are_zero(message_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

std::optional<pipeline::action> plain_set_field(message_view one) {
  const std::uint32_t header = u32(one, 4);
  const auto field = plain_field_of(header);
  if (!field || (header & header_has_mask) != 0) return std::nullopt;
  constexpr std::size_t value_at = 8;
  const std::size_t n = field->n_bytes;
  if (one.size() != value_at + (n + 7) / 8 * 8) return std::nullopt;
  if (!are_zero(one.subspan(value_at + n))) return std::nullopt;
  return act::set(field->which, from_ovs_value(one.data() + value_at, n));
}

std::optional<pipeline::action> plain_action(message_view one) {
  const std::uint32_t number = u32(one, 4);  // of those that have one
  switch (u16(one, 0)) {
    case action_output:
      // Reserved ports have rules of their own.
      if (one.size() != 16 || number >= ovs_ports_end) return std::nullopt;
      return act::output{number};
    case action_group:
      if (one.size() != 8) return std::nullopt;
      return act::group{number};
    case action_dec_nw_ttl:
      if (one.size() != 8) return std::nullopt;
      return act::dec_ip_ttl{};
    case action_set_field: return plain_set_field(one);
    default: return std::nullopt;
  }
}

constexpr std::size_t part_header = 8;

/// The first of a list of instructions or actions. Null: its length is wrong.
std::optional<message_view> first_of(message_view list) {
  if (list.size() < part_header) return std::nullopt;
  const std::size_t length = u16(list, 2);
  if (length < part_header || length % 8 != 0 || length > list.size()) return std::nullopt;
  return list.first(length);
}

/// False: it is not plain.
bool take_actions(message_view list, pipeline::rule_mod& into) {
  pipeline::packet_knowledge known(into.match);
  while (!list.empty()) {
    const auto part = first_of(list);
    if (!part) return false;
    auto one = plain_action(*part);
    if (!one || !check_action(*one, pipeline::action_place::rule, known)) return false;
    if (!into.instructions.apply) into.instructions.apply.emplace().reserve(4);  // more are rare
    into.instructions.apply->push_back(std::move(*one));
    list = list.subspan(part->size());
  }
  return true;
}

/// False: it is not plain.
bool take_instructions(message_view list, pipeline::rule_mod& into) {
  bool applies = false;
  while (!list.empty()) {
    const auto part = first_of(list);
    if (!part) return false;
    const std::uint16_t type = u16(*part, 0);
    if (type == instruction_goto_table && !into.instructions.goto_table) {
      const pipeline::table_id next = (*part)[4];
      if (part->size() != part_header || next <= into.table) return false;
      into.instructions.goto_table = next;
    } else if (type == instruction_apply && !applies) {
      applies = true;
      if (!take_actions(part->subspan(part_header), into)) return false;
    } else {
      return false;
    }
    list = list.subspan(part->size());
  }
  return true;
}

}  // namespace

std::optional<pipeline::rule_mod> plain_rule(message_view one) {
  if (one.size() < flow_mod_at::match + 8 || one.size() > bytes_max) return std::nullopt;
  const std::uint8_t command = one[flow_mod_at::command];
  const std::uint16_t flags = u16(one, flow_mod_at::flags);
  if (command > static_cast<std::uint8_t>(rule_command::remove_strict) ||
      one[flow_mod_at::table] == pipeline::table_all ||
      u32(one, flow_mod_at::buffer) != no_buffer_id || (flags & ~known_flags) != 0 ||
      u16(one, flow_mod_at::match) != match_oxm) {
    return std::nullopt;
  }
  const std::size_t match_bytes = u16(one, flow_mod_at::match + 2);
  const std::size_t instructions_at = flow_mod_at::match + (match_bytes + 7) / 8 * 8;
  if (match_bytes < 4 || instructions_at > one.size()) return std::nullopt;
  auto match = plain_match(one.subspan(flow_mod_at::match + 4, match_bytes - 4));
  if (!match) return std::nullopt;

  pipeline::rule_mod made;
  made.command = static_cast<rule_command>(command);
  made.table = one[flow_mod_at::table];
  made.priority = u16(one, flow_mod_at::priority);
  made.match = std::move(*match);
  if (!take_instructions(one.subspan(instructions_at), made)) return std::nullopt;
  made.cookie = u64(one, flow_mod_at::cookie);
  if (made.command != rule_command::add) {
    made.cookie_mask = u64(one, flow_mod_at::cookie_mask);
    made.cookie &= made.cookie_mask;
  }
  made.idle_timeout_s = u16(one, flow_mod_at::idle_timeout);
  made.hard_timeout_s = u16(one, flow_mod_at::hard_timeout);
  made.flags = flags;
  made.out_port = u32(one, flow_mod_at::out_port);
  const bool removal =
      made.command == rule_command::remove || made.command == rule_command::remove_strict;
  if (removal) made.out_group = u32(one, flow_mod_at::out_group);
  return made;
}

}  // namespace coua::ofp
