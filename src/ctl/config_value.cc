// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_value.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace coua::ctl {
namespace {

using shape = config_value::shape;

constexpr std::size_t width = 100;  // of a line that is written without a break

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Whether every reader of YAML takes it for this text. The words are those that some take for
/// something else.
bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> others = {"true", "false", "yes", "no", "on",
                                                             "off",  "null",  "y",   "n"};
  if (text.empty() || (!is_letter(text[0]) && text[0] != '/')) return false;
  const auto is_safe = [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') ||
           std::string_view("_./-").find(c) != std::string_view::npos;
  };
  const auto same = [&](std::string_view other) {
    return std::ranges::equal(text, other, [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  };
  return std::ranges::all_of(text, is_safe) && std::ranges::none_of(others, same);
}

/// Good in YAML and in JSON.
std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string flow(const config_value& value) {
  std::string out;
  switch (value.is) {
    case shape::none: return "none";
    case shape::bare:
    case shape::word: return value.text;
    case shape::text: return is_plain(value.text) ? value.text : quoted(value.text);
    case shape::list:
      for (const config_value& item : value.items) out += (out.empty() ? "" : ", ") + flow(item);
      return "[" + out + "]";
    case shape::mapping:
      for (const auto& [name, member] : value.members)
        out += (out.empty() ? "" : ", ") + name + ": " + flow(member);
      return "{" + out + "}";
  }
  return out;
}

bool has_mappings(const config_value& list) {
  return list.is == shape::list && !list.items.empty() && list.items[0].is == shape::mapping;
}

bool has_texts(const config_value& list) {
  return list.is == shape::list && !list.items.empty() && list.items[0].is == shape::text;
}

/// The members of a mapping, each on a line of its own. `first` stands before the first one, where
/// it belongs to a list.
std::string block(const config_value& mapping, std::size_t indent, std::string first = "") {
  const std::string pad(indent, ' ');
  std::string out;
  for (const auto& [name, member] : mapping.members) {
    const std::string head = (out.empty() && !first.empty() ? first : pad) + name + ":";
    if (has_mappings(member)) {
      out += head + "\n";
      for (const config_value& item : member.items) {
        const std::string line = pad + "  - " + flow(item);
        out += line.size() <= width ? line + "\n" : block(item, indent + 4, pad + "  - ");
      }
      continue;
    }
    const bool nests = member.is == shape::mapping;
    const std::string line = head + " " + flow(member);
    if (has_texts(member) && line.size() > width) {
      out += head + "\n";
      for (const config_value& item : member.items) out += pad + "  - " + flow(item) + "\n";
      continue;
    }
    out += nests && (indent == 0 || line.size() > width) ? head + "\n" + block(member, indent + 2)
                                                         : line + "\n";
  }
  return out;
}

std::string json(const config_value& value) {
  std::string out;
  switch (value.is) {
    case shape::none: return "null";
    case shape::bare: return value.text;
    case shape::word:
    case shape::text: return quoted(value.text);
    case shape::list:
      for (const config_value& item : value.items) out += (out.empty() ? "" : ", ") + json(item);
      return "[" + out + "]";
    case shape::mapping:
      for (const auto& [name, member] : value.members)
        out += (out.empty() ? "" : ", ") + quoted(name) + ": " + json(member);
      return "{" + out + "}";
  }
  return out;
}

}  // namespace

const config_value* config_value::find(const std::string& name) const {
  for (const auto& [known, member] : members)
    if (known == name) return &member;
  return nullptr;
}

config_value bare_value(std::string text) { return {.is = shape::bare, .text = std::move(text)}; }
config_value word_value(std::string text) { return {.is = shape::word, .text = std::move(text)}; }
config_value text_value(std::string text) { return {.is = shape::text, .text = std::move(text)}; }

config_value list_value(std::vector<config_value> items) {
  if (items.empty()) return {};
  return {.is = shape::list, .items = std::move(items)};
}

std::string to_line(const config_value& value) { return flow(value); }
std::string to_yaml(const config_value& root) { return block(root, 0); }
std::string to_json(const config_value& root) { return root.is == shape::none ? "{}" : json(root); }

}  // namespace coua::ctl
