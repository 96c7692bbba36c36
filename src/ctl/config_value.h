// SPDX-License-Identifier: Apache-2.0
//
// What a configuration says, as a tree, and the tree as text. A struct is written by the same
// tables of fields that read it (config_reader.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace coua::ctl {

struct config_value {
  enum class shape {
    none,  // left out
    bare,  // a number or boolean: as it is in YAML and JSON
    word,  // as it is in YAML, quoted in JSON: "auto", "20-30"
    text,  // quoted where it needs to be
    list,
    mapping
  };

  shape is = shape::none;
  std::string text{};
  std::vector<config_value> items{};
  std::vector<std::pair<std::string, config_value>> members{};

  bool operator==(const config_value&) const = default;
  /// Null: there is no such member.
  const config_value* find(const std::string& name) const;
};

config_value bare_value(std::string text);
config_value word_value(std::string text);
config_value text_value(std::string text);
/// No items: none.
config_value list_value(std::vector<config_value> items);

/// In one line, as in the file: `{mode: trunk, tagged: [10, 20-30]}`; none: "none".
std::string to_line(const config_value& value);
/// A document of the file's format: sections as blocks, a list of mappings with an item to a line
/// where that is short enough.
std::string to_yaml(const config_value& root);
std::string to_json(const config_value& root);

}  // namespace coua::ctl
