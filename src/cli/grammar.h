// SPDX-License-Identifier: Apache-2.0
//
// The words of a command line, described once: parsing, help, and the document are all made from
// the same table.
//
//   command   coua
//   verb      "port add"     what it does, its arguments and options, an example, how it answers
//   argument  NAME           in order; the last may be optional
//   option    --vlan VLAN    -v, --long VALUE, --long=VALUE, in any order; "--" ends them
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coua::cli {

/// What a value must look like. It is checked before anything is done.
enum class kind {
  flag,  // an option without a value
  text,
  number,  // low to high
  size,    // low to high, with K, M, G, Ki...
  limit,   // 1000, 10Mbps, 1%, block
  real,    // low to high
  on_off,  // "on" or "off"
  mac,     // aa:bb:cc:dd:ee:ff
  vlans,   // 10,20-30
  words,   // separated by commas
};

/// What a text names: a shell completes it.
enum class thing { other, port, bridge, file };

struct parameter {
  std::string name = {};   // argument: "NAME"; option: "vlan"
  std::string value = {};  // option: what the help calls its value, "VLAN"; empty for a flag
  std::string help = {};
  kind type = kind::text;
  std::uint64_t low = 0, high = UINT64_MAX;
  char letter = 0;  // option: -v
  bool optional = false;
  thing names = thing::other;
  std::vector<std::string> choices = {};  // of a text; empty: any
};

struct verb {
  std::string path = {};  // "port add"
  std::string summary = {};
  std::string details = {};  // further lines for the help and the document; may be empty
  std::vector<parameter> arguments = {};
  std::vector<parameter> options = {};
  std::string example = {};  // a whole command line
  std::string alias = {};    // other last word: "del" for "port remove"
  std::string json = {};     // an example of what --json prints
  int id = 0;                // the caller's, to find what carries it out
};

struct command {
  std::string name;
  std::string summary;
  std::vector<std::pair<std::string, std::string>> groups;  // "port" -> "the ports of the switch"
  std::vector<parameter> options;                           // that every verb takes
  std::vector<verb> verbs;
  std::string epilogue;  // exit codes, environment
};

/// A command line that follows the grammar.
struct invocation {
  const verb* what = nullptr;  // null: only global options
  std::map<std::string, std::string> values;

  bool has(const std::string& name) const { return values.contains(name); }
  std::string text(const std::string& name, std::string fallback = "") const;
  std::uint64_t number(const std::string& name, std::uint64_t fallback = 0) const;
  double real(const std::string& name, double fallback = 0) const;
  bool on(const std::string& name) const;
  std::vector<std::string> words(const std::string& name) const;
};

/// Parses the words after the program's name. -h and --help are everywhere; where one is given,
/// `help` receives the text and the result means nothing. Errors: invalid, with "did you mean".
result<invocation> parse(const command& command, const std::vector<std::string>& words,
                         std::optional<std::string>& help);

/// "coua port add NAME DEVARGS [options]"
std::string usage(const command& command, const verb& verb);
std::string help_command(const command& command);
std::string help_group(const command& command, std::string_view group);
std::string help_verb(const command& command, const verb& verb);

/// The reference part of a document about the command, in Markdown.
std::string reference(const command& command);

/// Ranges of VLANs, "10,20-30": pairs of first and last. Errors: invalid.
result<std::vector<std::pair<unsigned, unsigned>>> parse_vlans(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace coua::cli
