// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <algorithm>

namespace coua::cli {
namespace {

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  return text;
}

std::string option_head(const parameter& p) {
  const std::string letter = p.letter != 0 ? bold(std::string("-") + p.letter) + ", " : "";
  return letter + bold("--" + p.name) + (p.value.empty() ? "" : " " + italic(p.value));
}

std::string listed(const std::vector<parameter>& arguments, const std::vector<parameter>& options) {
  std::string out;
  for (const parameter& p : arguments) out += ".TP\n" + italic(p.name) + "\n" + roff(p.help) + "\n";
  for (const parameter& p : options) out += ".TP\n" + option_head(p) + "\n" + roff(p.help) + "\n";
  return out;
}

std::string usage_of(const command& command, const verb& verb) {
  std::string out = bold(command.name + " " + verb.path);
  for (const parameter& p : verb.arguments) {
    out += p.optional ? " [" + italic(p.name) + "]" : " " + italic(p.name);
  }
  return out + (verb.options.empty() ? "" : " [" + italic("options") + "]");
}

std::string as_it_is(const std::string& text) { return ".EX\n" + roff(text) + "\n.EE\n"; }

std::string entry(const command& command, const verb& verb) {
  std::string out = ".SS " + usage_of(command, verb) + "\n" + roff(verb.summary + ".") + "\n";
  if (!verb.details.empty()) out += roff(verb.details) + "\n";
  if (!verb.alias.empty()) {
    out += "Also: " + bold(verb.path.substr(0, verb.path.find(' ') + 1) + verb.alias) + ".\n";
  }
  return out + listed(verb.arguments, verb.options) + ".PP\n" + as_it_is(verb.example);
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  bool first = true;  // of its line
  for (const char c : text) {
    if (first && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    first = c == '\n';
  }
  return out;
}

std::string manual(const command& command, const manual_page& page) {
  std::string out = ".\\\" Made from the grammar of the command.\n";
  out += ".TH " + upper(command.name) + " " + std::to_string(page.section) + " \"\" \"Coua " +
         page.version + "\" \"Coua\"\n";
  out += ".SH NAME\n" + roff(command.name) + " \\- " + roff(command.summary) + "\n";
  out += ".SH SYNOPSIS\n" + bold(command.name) +
         (command.verbs.empty() ? "" : " " + italic("VERB") + " [" + italic("arguments") + "]") +
         " [" + italic("options") + "]\n";
  out += ".SH OPTIONS\n" + listed({}, command.options);
  out += ".TP\n" + bold("-h") + ", " + bold("--help") + "\nprint help, also after a verb\n";
  if (!command.verbs.empty()) out += ".SH VERBS\n";
  for (const verb& each : command.verbs) out += entry(command, each);
  if (!command.epilogue.empty()) {
    std::string text = command.epilogue;
    while (text.ends_with('\n')) text.pop_back();
    out += ".SH NOTES\n" + as_it_is(text);
  }
  return out + ".SH SEE ALSO\n" + bold(page.see_also) + "\n";
}

}  // namespace coua::cli
