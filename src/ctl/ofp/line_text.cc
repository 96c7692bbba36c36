// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <utility>

#include "base/error_place.h"
#include "base/utf8.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/text_check.h"

namespace coua::ofp {
namespace {

using kind = line_defaults::kind;
using pipeline::mod_command;
using pipeline::rule_command;

/// Takes the first word away from the text when it is one of these.
template <class Value, std::size_t n>
std::optional<Value> take_word(std::string_view& text,
                               const std::array<std::pair<std::string_view, Value>, n>& words) {
  const std::string_view first = text.substr(0, text.find_first_of(", \t"));
  for (const auto& [word, value] : words) {
    if (first != word) continue;
    text.remove_prefix(word.size());
    text = trimmed(text);
    return value;
  }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, kind>, 3> kinds = {{
    {"flow", kind::rule},
    {"group", kind::group},
    {"meter", kind::meter},
}};
constexpr std::array<std::pair<std::string_view, rule_command>, 5> rule_words = {{
    {"add", rule_command::add},
    {"modify", rule_command::modify},
    {"modify_strict", rule_command::modify_strict},
    {"delete", rule_command::remove},
    {"delete_strict", rule_command::remove_strict},
}};
constexpr std::array<std::pair<std::string_view, mod_command>, 3> other_words = {{
    {"add", mod_command::add},
    {"modify", mod_command::modify},
    {"delete", mod_command::remove},
}};

template <class Mod>
result<pipeline::operation> widen(result<Mod> made) {
  if (!made) return tl::unexpected(made.error());
  return pipeline::operation(std::move(*made));
}

result<pipeline::operation> parse_line(std::string_view text, const line_defaults& defaults,
                                       const port_names& names) {
  const auto said = [&](const auto& words) {
    return defaults.bare ? std::nullopt : take_word(text, words);
  };
  const kind about = said(kinds).value_or(defaults.about);
  if (about == kind::rule) {
    const rule_command command = said(rule_words).value_or(defaults.rule);
    return widen(parse_rule(text, command, names));
  }
  const mod_command command = said(other_words).value_or(defaults.other);
  return about == kind::group ? widen(parse_group(text, command, names))
                              : widen(parse_meter(text, command));
}

}  // namespace

result<parsed_lines> parse_lines(std::string_view text, const line_defaults& defaults,
                                 const port_names& names) {
  parsed_lines made;
  text = without_byte_order_mark(text);
  const bool several = text.find('\n') != std::string_view::npos;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view said = trimmed(line.substr(0, line.find('#')));
    // Nothing is said: no operation, least of all one that is for all there is.
    if (said.empty()) continue;
    const std::string place = several ? "line " + std::to_string(number) : "";
    auto one = parse_line(said, defaults, names);
    if (!one) return tl::unexpected(at_place(place, one.error()));
    made.operations.push_back(std::move(*one));
    made.places.push_back(place);
  }
  return made;
}

}  // namespace coua::ofp
