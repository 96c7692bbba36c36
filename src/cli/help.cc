// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/grammar.h"

namespace coua::cli {
namespace {

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 2, width), ' ');
  return text;
}

std::string option_words(const parameter& p) {
  const std::string value = p.value.empty() ? "" : " " + p.value;
  return (p.letter != 0 ? std::string("-") + p.letter + ", " : "    ") + "--" + p.name + value;
}

std::string wrapped(const std::string& text) {
  std::string out;
  std::size_t width = 0;
  for (const auto& word : split(text, ' ')) {
    if (width > 0 && width + 1 + word.size() > 96) {
      out += '\n';
      width = 0;
    }
    out += (width > 0 ? " " : "") + word;
    width += word.size() + 1;
  }
  return out + "\n";
}

// Help that is longer than a line goes on below, aligned.
std::string row(const std::string& left, const std::string& right) {
  constexpr std::size_t column = 30, width = 96;
  std::string out, line = padded("  " + left, column);
  if (line.size() > column) {
    out = line + "\n";
    line = std::string(column, ' ');
  }
  for (const auto& word : split(right, ' ')) {
    if (line.size() + word.size() > width) {
      out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = std::string(column, ' ');
    }
    line += word + " ";
  }
  return out + line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string rows(const char* title, const std::vector<parameter>& options) {
  if (options.empty()) return "";
  std::string out = std::string("\n") + title + "\n";
  for (const auto& p : options) out += row(option_words(p), p.help);
  return out;
}

std::string verbs_of(const command& command, std::string_view group) {
  std::string out;
  for (const auto& verb : command.verbs)
    if (verb.path == group || verb.path.starts_with(std::string(group) + " "))
      out += row(verb.path, verb.summary);
  return out;
}

}  // namespace

std::string usage(const command& command, const verb& verb) {
  std::string out = command.name + " " + verb.path;
  for (const auto& p : verb.arguments) out += p.optional ? " [" + p.name + "]" : " " + p.name;
  return out + " [options]";
}

std::string help_command(const command& command) {
  std::string out = command.name + ": " + command.summary + "\n\nusage: " + command.name +
                    (command.verbs.empty() ? " [options]\n" : " VERB [arguments] [options]\n");
  for (const auto& [group, summary] : command.groups)
    out += "\n" + summary + "\n" + verbs_of(command, group);
  out += rows("options", command.options);
  out += row("-h, --help", "this help; after a verb, that of the verb");
  return out + (command.epilogue.empty() ? "" : "\n" + command.epilogue);
}

std::string help_group(const command& command, std::string_view group) {
  std::string out =
      "usage: " + command.name + " " + std::string(group) + " VERB\n\n" + verbs_of(command, group);
  return out + "\n" + command.name + " help " + std::string(group) + " VERB says more.\n";
}

std::string help_verb(const command& command, const verb& verb) {
  std::string out = "usage: " + usage(command, verb) + "\n\n" + verb.summary + ".\n";
  if (!verb.details.empty()) out += wrapped(verb.details);
  if (!verb.alias.empty())
    out += "Also: " + verb.path.substr(0, verb.path.find(' ') + 1) + verb.alias + ".\n";
  if (!verb.arguments.empty()) out += "\narguments\n";
  for (const auto& p : verb.arguments) out += row(p.name, p.help);
  out += rows("options", verb.options) + rows("options of every verb", command.options);
  return out + "\nexample\n  " + verb.example + "\n";
}

std::string reference(const command& command) {
  std::string out;
  for (const auto& verb : command.verbs) {
    out += "### `" + usage(command, verb) + "`\n\n" + verb.summary + ".";
    if (!verb.details.empty()) out += " " + verb.details;
    if (!verb.alias.empty())
      out += " Also `" + verb.path.substr(0, verb.path.find(' ') + 1) + verb.alias + "`.";
    out += "\n\n";
    for (const auto& p : verb.arguments) out += "- `" + p.name + "`: " + p.help + "\n";
    for (const auto& p : verb.options) {
      const std::string words = option_words(p);
      out += "- `" + words.substr(words.find('-')) + "`: " + p.help + "\n";
    }
    if (!verb.arguments.empty() || !verb.options.empty()) out += "\n";
    out += "```sh\n" + verb.example + "\n```\n\n";
    if (!verb.json.empty()) out += "With `--json`:\n\n```json\n" + verb.json + "\n```\n\n";
  }
  return out;
}

}  // namespace coua::cli
