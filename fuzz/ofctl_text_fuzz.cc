// SPDX-License-Identifier: Apache-2.0
//
// Texts in ovs-ofctl's syntax. Nothing ends the program or leaves memory behind; an error says why;
// what was taken is printed as a text that is taken again and means the same; the model takes or
// refuses it. The first byte picks what the text is, or that the bytes make a random operation.
#include <cctype>

#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/packet_text.h"
#include "ctl/ofp/test_random_operations.h"
#include "ctl/ofp/test_round_trip.h"
#include "fuzz.h"
#include "pipeline/model/bridge.h"

namespace coua::ofp {
namespace {

using pipeline::field;
using pipeline::mod_command;
using pipeline::rule_command;

/// The library takes an IPv6 mask that begins with a decimal digit for a number of bits.
bool is_misread(field which, pipeline::value128 mask) {
  return pipeline::info(which).format == pipeline::field_format::ipv6 &&
         mask != pipeline::full_mask(which) &&
         std::isdigit(static_cast<unsigned char>(
             pipeline::format_value(which, mask, pipeline::full_mask(which)).front())) != 0;
}
bool is_misread(const pipeline::action_list& list) {
  for (const pipeline::action& one : list) {
    const auto* set = std::get_if<pipeline::act::set_field>(&one);
    if (set != nullptr && is_misread(set->which, set->mask)) return true;
  }
  return false;
}
bool is_misread(const pipeline::rule& one) {
  for (const pipeline::match_term& term : one.match.terms()) {
    if (is_misread(term.which, term.mask)) return true;
  }
  return (one.instructions.apply && is_misread(*one.instructions.apply)) ||
         (one.instructions.write && is_misread(*one.instructions.write));
}

/// True when there is a value; an error must say something.
template <class T>
bool taken(const result<T>& made) {
  COUA_CHECK(made.has_value() || !made.error().message().empty());
  return made.has_value();
}

void check_rule(const pipeline::rule_mod& asked) {
  pipeline::rule one = pipeline::to_rule(asked);
  if (one.table == pipeline::table_all) one.table = 0;
  const std::string text = print_rule(one, {{1, 60}, 0}, 5);
  const auto again = parse_rule(text, rule_command::add);
  if (!again) {
    COUA_CHECK(is_misread(one));
    return;
  }
  COUA_CHECK(print_rule(pipeline::to_rule(*again), {{1, 60}, 0}, 5) == text);
}

void check_group(const pipeline::group_mod& asked) {
  if (asked.command == mod_command::remove) return;
  const std::string text = print_group(asked.what);
  const auto again = parse_group(text, mod_command::add);
  if (!again) {
    bool misread = asked.what.id > pipeline::group_max;
    for (const pipeline::bucket& one : asked.what.buckets) misread |= is_misread(one.actions);
    COUA_CHECK(misread);
    return;
  }
  COUA_CHECK(test::same(again->what, asked.what));
}

void check_meter(const pipeline::meter_mod& asked) {
  if (asked.command == mod_command::remove || asked.what.id > pipeline::meter_max) return;
  const auto again = parse_meter(print_meter(asked.what), mod_command::add);
  COUA_CHECK(again.has_value() && again->what == asked.what);
}

/// The model refuses, or takes it and gives it up again.
void apply(const pipeline::operation& asked) {
  static pipeline::bridge model = pipeline::test::make_bridge({.n_tables = 4});
  if (!model.apply(asked, 0)) return;
  pipeline::rule_mod rules;
  rules.command = rule_command::remove;
  rules.table = pipeline::table_all;
  pipeline::test::must(model, rules);
  pipeline::group_mod groups{mod_command::remove, {}};
  groups.what.id = pipeline::group_all;
  pipeline::test::must(model, groups);
  pipeline::test::must(model,
                       pipeline::meter_mod{mod_command::remove, {.id = pipeline::meter_all}});
}

void check(const pipeline::operation& asked) {
  if (const auto* rule = std::get_if<pipeline::rule_mod>(&asked)) check_rule(*rule);
  if (const auto* group = std::get_if<pipeline::group_mod>(&asked)) check_group(*group);
  if (const auto* meter = std::get_if<pipeline::meter_mod>(&asked)) check_meter(*meter);
  apply(asked);
}

void check_packet(std::string_view text) {
  const auto made = parse_packet(text);
  if (!taken(made)) return;
  COUA_CHECK(!made->bytes.empty());
  const std::string printed = print_packet(*made);
  const auto again = parse_packet(printed);
  if (again) COUA_CHECK(print_packet(*again) == printed);
}

void check_random(fuzz::input& from) {
  test::random_operations any([&from] { return from.take<std::uint64_t>(); });
  switch (from.take<std::uint8_t>() % 3) {
    case 0: check(any.rule()); break;
    case 1: check(any.group()); break;
    default: check(any.meter()); break;
  }
}

void check_text(std::uint8_t kind, std::string_view text) {
  if (kind < 5) {
    const auto made = parse_rule(text, static_cast<rule_command>(kind));
    if (taken(made)) check(*made);
  } else if (kind < 8) {
    const auto made = parse_group(text, static_cast<mod_command>(kind - 5));
    if (taken(made)) check(*made);
  } else if (kind < 11) {
    const auto made = parse_meter(text, static_cast<mod_command>(kind - 8));
    if (taken(made)) check(*made);
  } else if (kind == 11) {
    const auto made = parse_lines(text, {});
    if (!taken(made)) return;
    for (const pipeline::operation& one : made->operations) check(one);
  } else if (kind == 12) {
    taken(parse_filter(text, {{1, "p0"}, {2, "up:link"}}));
  } else {
    check_packet(text);
  }
}

}  // namespace
}  // namespace coua::ofp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coua::fuzz::input from(data, size);
  const auto kind = static_cast<std::uint8_t>(from.take<std::uint8_t>() - 'a');
  if (kind == 14) {
    coua::ofp::check_random(from);
  } else if (size > 0) {
    coua::ofp::check_text(kind % 14, {reinterpret_cast<const char*>(data) + 1, size - 1});
  }
  return 0;
}
