// SPDX-License-Identifier: Apache-2.0
#include "pipeline/model/learn.h"

#include <algorithm>
#include <array>

#include "pipeline/model/action_check.h"

namespace coua::pipeline {
namespace {

using part = act::learn::part;
using role = act::learn::part::role;

std::string hex_text(value128 number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (; number != 0 || text.empty(); number >>= 4) text += digits[number & 15];
  text += "x0";
  return {text.rbegin(), text.rend()};
}

bool is_short_port(const field_bits& bits) { return bits == field_bits{field::in_port, 0, 16}; }

/// Adds bits to a term of their field, or makes one; of bits that are there already the last say
/// counts. A port is taken whole: numbers of 16 bits mean the same ports (port_of_bits).
void write_bits(std::vector<match_term>& terms, field_bits to, value128 value) {
  if (is_short_port(to)) {
    to.n_bits = info(field::in_port).n_bits;
    value = port_of_bits(value).value_or(port_any);
  }
  auto at = std::find_if(terms.begin(), terms.end(),
                         [&](const match_term& one) { return one.which == to.which; });
  if (at == terms.end()) at = terms.insert(at, {to.which, 0, 0});
  const value128 mask = mask_of(to);
  at->value = (at->value & ~mask) | (value << to.first & mask);
  at->mask |= mask;
}

act::set_field set_bits(const field_bits& to, value128 value) {
  act::set_field made{to.which, value << to.first & mask_of(to), mask_of(to)};
  // The number of a tag that is there.
  if (to.which == field::vlan_vid) {
    made.value |= vlan_present;
    made.mask |= vlan_present;
  }
  return made;
}

/// As Open vSwitch: not to a controller, and not to the L2 switch.
std::optional<port_no> port_to_learn(value128 number) {
  const std::optional<port_no> to = port_of_bits(number);
  if (!to || *to == port_controller || *to == port_normal || *to == 0) return std::nullopt;
  return to;
}

of_result<void> wrong(of_error code, std::string what) {
  return refuse(code, "learn", std::move(what));
}

/// A port by its number, of 16 or 32 bits, from which no packet can come.
bool is_no_source(const part& one) {
  const bool is_long = one.to == field_bits{field::in_port, 0, info(field::in_port).n_bits};
  if (one.what != role::match || one.from || (!is_long && !is_short_port(one.to))) return false;
  const std::optional<port_no> from =
      is_long ? static_cast<port_no>(one.value) : port_of_bits(one.value);
  constexpr port_no last_of_16_bits = 0xfeff;
  return !from || (*from > last_of_16_bits && *from != port_local && *from != port_controller);
}

of_result<void> check_part(const part& one) {
  if (one.from && !is_within(*one.from)) {
    return wrong(of_error::bad_action_set_argument, "bits must be within the field");
  }
  if (one.what == role::output) {
    if (one.from) return {};
    return wrong(of_error::bad_action_argument, "an output needs bits of the packet");
  }
  if (!is_within(one.to) || (one.from && one.from->n_bits != one.to.n_bits)) {
    return wrong(of_error::bad_action_set_argument, "bits must be within the fields, and as many");
  }
  if (!one.from && (one.value & ~ones(one.to.n_bits)) != 0) {
    return wrong(of_error::bad_action_set_argument, "the value has more bits than it is for");
  }
  if (is_no_source(one)) {
    return wrong(of_error::bad_action_set_argument, "no packet comes from there");
  }
  if (one.what == role::load && !takes_tag_away(one) && one.to.which == field::vlan_vid &&
      (mask_of(one.to) & vlan_present) != 0) {
    return wrong(of_error::bad_action_set_argument,
                 "whether there is a tag is for push_vlan and pop_vlan to say");
  }
  return {};
}

std::string part_text(const part& one) {
  if (one.what == role::output) return "output:" + to_string(*one.from);
  if (one.what == role::match && !one.from &&
      (one.to.n_bits == info(one.to.which).n_bits || is_short_port(one.to))) {
    return std::string(info(one.to.which).name) + "=" +
           format_value(one.to.which, one.value, full_mask(one.to.which));
  }
  if (takes_tag_away(one)) return "load:0x0->vlan_tci[]";
  const std::string to = to_string(one.to);
  if (one.what == role::load) {
    return "load:" + (one.from ? to_string(*one.from) : hex_text(one.value)) + "->" + to;
  }
  return to + "=" + (one.from ? to_string(*one.from) : hex_text(one.value));
}

}  // namespace

part take_tag_away() {
  return {role::load, std::nullopt, 0, {field::vlan_vid, 0, info(field::vlan_vid).n_bits}};
}

bool takes_tag_away(const part& one) { return one == take_tag_away(); }

of_result<rule_mod> learned_rule(const act::learn& how, std::span<const value128> values) {
  std::vector<match_term> terms;
  action_list actions;
  for (const part& each : how.parts) {
    value128 value = each.value;
    if (each.from) {
      value = values.front();
      values = values.subspan(1);
    }
    switch (each.what) {
      case role::match: write_bits(terms, each.to, value); break;
      case role::load:
        actions.push_back(takes_tag_away(each) ? action(act::pop_vlan{})
                                               : set_bits(each.to, value));
        break;
      case role::output:
        if (const auto to = port_to_learn(value)) actions.push_back(act::output{*to});
    }
  }
  auto met = match::make(std::move(terms));
  if (!met) return tl::unexpected(std::move(met.error()));
  rule_mod made;
  made.command = rule_command::learn;
  made.table = how.table;
  made.priority = how.priority;
  made.match = std::move(*met);
  if (!actions.empty()) made.instructions.apply = std::move(actions);
  made.cookie = how.cookie;
  made.idle_timeout_s = how.idle_timeout_s;
  made.hard_timeout_s = how.hard_timeout_s;
  made.flags = how.send_removed ? rule_send_removed : 0;
  made.limit = how.limit;
  made.takes_along = how.takes_along;
  return made;
}

of_result<void> check_learn(const act::learn& how) {
  if (how.parts.size() > learn_parts_max) {
    return wrong(of_error::bad_action_too_many,
                 "it has more than " + std::to_string(learn_parts_max) + " parts");
  }
  std::size_t n_values = 0;
  for (const part& each : how.parts) {
    if (auto good = check_part(each); !good) return good;
    n_values += each.from ? 1 : 0;
  }
  if (n_values > learned_values_max) {
    return wrong(
        of_error::bad_action_too_many,
        "it takes more than " + std::to_string(learned_values_max) + " things from a packet");
  }
  // Whatever it takes: the fields that decide about others are constants, or they are not known.
  const std::array<value128, learned_values_max> nothing{};
  const auto made = learned_rule(how, std::span(nothing).first(n_values));
  if (!made) {
    return wrong(of_error::bad_action_match_inconsistent,
                 "no such match: " + made.error().where + ": " + made.error().what);
  }
  packet_knowledge known(made->match);
  for (const action& each : made->instructions.apply.value_or(action_list{})) {
    if (auto good = check_action(each, action_place::learned_rule, known); !good) {
      return wrong(good.error().code, good.error().where + ": " + good.error().what);
    }
  }
  return {};
}

std::string to_string(const act::learn& how) {
  std::string text = "learn(table=" + std::to_string(how.table);
  const auto add = [&](const std::string& what) { text += "," + what; };
  if (how.idle_timeout_s != 0) add("idle_timeout=" + std::to_string(how.idle_timeout_s));
  if (how.hard_timeout_s != 0) add("hard_timeout=" + std::to_string(how.hard_timeout_s));
  if (how.priority != 0x8000) add("priority=" + std::to_string(how.priority));
  if (how.send_removed) add("send_flow_rem");
  if (how.takes_along) add("delete_learned");
  if (how.cookie != 0) add("cookie=" + hex_text(how.cookie));
  if (how.limit != 0) add("limit=" + std::to_string(how.limit));
  for (const part& each : how.parts) add(part_text(each));
  return text + ")";
}

}  // namespace coua::pipeline
