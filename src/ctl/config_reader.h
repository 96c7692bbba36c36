// SPDX-License-Identifier: Apache-2.0
//
// Reads a YAML tree into structs by tables of fields, and writes structs as trees. A field is
// declared once, with its type, range, default and meaning; parsing, writing, error messages and
// documentation all come from there, so they cannot drift apart.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "ctl/config.h"
#include "ctl/config_value.h"

namespace coua::ctl {

/// Where the reader is, what it has found wrong, and on which line each field was.
class config_reader {
 public:
  /// One step down while it lives: ".name" or "[3]".
  class step {
   public:
    step(config_reader& reader, const std::string& part);
    ~step() { reader_.path_.resize(length_); }
    step(const step&) = delete;
    step& operator=(const step&) = delete;

   private:
    config_reader& reader_;
    std::size_t length_;
  };

  const std::string& path() const { return path_; }
  void note_line(const YAML::Node& at) { lines[path_] = line_of(at); }
  void complain(const YAML::Node& at, std::string reason);
  /// At a field that was read, by its full path; at the nearest line above when it is not there.
  void complain_at(const std::string& path, std::string reason);
  bool has(const std::string& path) const { return lines.contains(path); }
  /// Whether `path` or a field below it was complained about: what follows from it needs no words.
  bool troubled(const std::string& path) const;

  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  std::vector<config_error> errors;
  std::map<std::string, int> lines;

 private:
  std::string path_;
  std::set<std::string> wrong_;  // the fields of `errors`
};

/// `text` with everything but printable ASCII as '?': what a message may show of a file.
std::string printable(std::string_view text);

/// The line of `path`, or of the longest part of it that has one; 0: none has.
int nearest_line(const std::map<std::string, int>& lines, std::string path);

/// What documentation and messages say about a field.
struct field_info {
  std::string name;
  std::string meaning;
  std::string example;
  std::string unit = "";  // "s", "us", "MiB", "bytes"
  bool required = false;
  std::string type = "";           // filled in by the maker
  std::string range = "";          // likewise
  std::string default_value = "";  // likewise, unless given
};

/// How much is written: what is not the default, or all.
enum class extent { needed, all };

template <typename Owner>
struct field {
  field_info info;
  std::function<void(config_reader&, const YAML::Node&, Owner&)> read;
  /// What reading it back would bring; none: the file has no words for it. Changes nothing: it gets
  /// at members by the functions that reading does.
  std::function<config_value(Owner&, extent)> write;
};
template <typename Owner>
using field_table = std::vector<field<Owner>>;

// Scalars. Each complains and returns false when the node is not one.
bool read_scalar(config_reader& reader, const YAML::Node& node, std::string& out);
bool read_integer(config_reader& reader, const YAML::Node& node, std::int64_t low,
                  std::int64_t high, std::int64_t& out);
bool read_size(config_reader& reader, const YAML::Node& node, std::uint64_t low, std::uint64_t high,
               std::uint64_t& out);
bool read_real(config_reader& reader, const YAML::Node& node, double low, double high, double& out);
bool read_boolean(config_reader& reader, const YAML::Node& node, bool& out);
bool read_choice(config_reader& reader, const YAML::Node& node,
                 const std::vector<std::string>& words, std::size_t& out);
/// Numbers and ranges: [1, 20-30]; one alone needs no brackets.
bool read_ranges(config_reader& reader, const YAML::Node& node, unsigned low, unsigned high,
                 std::vector<unsigned>& out);
/// "1.5", "0.95": as short as it can be and still be read as the same number.
std::string format_real(double value);
/// [1, 20-30], in that order.
config_value ranges_value(const std::vector<unsigned>& numbers);
config_value texts_value(const std::vector<std::string>& texts);

/// Reads a mapping: complains of unknown, repeated and missing keys and of what the fields find.
template <typename Owner>
void read_mapping(config_reader& reader, const YAML::Node& node, const field_table<Owner>& fields,
                  Owner& out) {
  if (node.IsNull()) return;  // "ports:" with nothing below is an empty one
  if (!node.IsMap()) return reader.complain(node, "is not a mapping (key: value)");
  std::vector<std::string> known;
  for (const auto& f : fields) known.push_back(f.info.name);
  std::map<std::string, int> seen;
  for (const auto& pair : node) {
    const YAML::Node &key = pair.first, &value = pair.second;
    if (!key.IsScalar()) {
      reader.complain(key, "a key is not a plain word");
      continue;
    }
    const std::string name = key.Scalar().substr(0, 64);
    config_reader::step step(reader, name);
    if (const auto [before, fresh] = seen.emplace(name, config_reader::line_of(key)); !fresh) {
      reader.complain(key, "is given twice, first in line " + std::to_string(before->second));
      continue;
    }
    reader.note_line(key);
    const auto match = std::find(known.begin(), known.end(), name);
    if (match == known.end()) {
      const std::string near = nearest(name, known);
      reader.complain(key, near.empty() ? "is unknown; known here: " + [&] {
        std::string all;
        for (const auto& word : known) all += (all.empty() ? "" : ", ") + word;
        return all;
      }()
                                        : "is unknown; did you mean '" + near + "'?");
      continue;
    }
    fields[static_cast<std::size_t>(match - known.begin())].read(reader, value, out);
  }
  for (const auto& f : fields) {
    if (f.info.required && !seen.contains(f.info.name)) {
      config_reader::step step(reader, f.info.name);
      reader.complain(node, "is missing");
    }
  }
}

/// What of `owner` differs from a fresh one, or all of it. None: nothing does.
template <typename Owner>
config_value write_mapping(const field_table<Owner>& fields, Owner& owner, extent how) {
  config_value out{.is = config_value::shape::mapping};
  Owner fresh{};
  for (const auto& f : fields) {
    config_value value = f.write(owner, how);
    if (value.is == config_value::shape::none) continue;
    if (how == extent::needed && !f.info.required && value == f.write(fresh, how)) continue;
    out.members.emplace_back(f.info.name, std::move(value));
  }
  return out.members.empty() ? config_value() : out;
}

/// Reads a list; `element` is called once per item, below "[i]".
template <typename Element>
void read_list(config_reader& reader, const YAML::Node& node, Element element) {
  if (node.IsNull()) return;
  if (!node.IsSequence()) return reader.complain(node, "is not a list (- item)");
  for (std::size_t i = 0; i < node.size(); i++) {
    config_reader::step step(reader, "[" + std::to_string(i) + "]");
    if (!node[i].IsNull()) reader.note_line(node[i]);
    element(node[i]);
  }
}

// Makers of fields. `get` returns a reference to the member, whose value in a fresh Owner is the
// default of the field. -----------------------------------------------------------------------

template <typename Owner, typename Get>
field<Owner> integer_field(field_info info, std::int64_t low, std::int64_t high, Get get) {
  Owner fresh{};
  info.type = "integer";
  info.range = std::to_string(low) + " to " + std::to_string(high);
  if (info.default_value.empty() && !info.required) info.default_value = std::to_string(get(fresh));
  return {info,
          [low, high, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            std::int64_t value = 0;
            if (read_integer(reader, node, low, high, value))
              get(owner) = static_cast<std::remove_reference_t<decltype(get(owner))>>(value);
          },
          [get](Owner& owner, extent) { return bare_value(std::to_string(get(owner))); }};
}

template <typename Owner, typename Get>
field<Owner> size_field(field_info info, std::uint64_t low, std::uint64_t high, Get get) {
  Owner fresh{};
  info.type = "count";
  info.range = std::to_string(low) + " to " + std::to_string(high);
  info.default_value = std::to_string(get(fresh));
  return {info,
          [low, high, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            std::uint64_t value = 0;
            if (read_size(reader, node, low, high, value)) get(owner) = value;
          },
          [get](Owner& owner, extent) { return bare_value(std::to_string(get(owner))); }};
}

template <typename Owner, typename Get>
field<Owner> real_field(field_info info, double low, double high, Get get) {
  Owner fresh{};
  info.type = "number";
  info.range = format_real(low) + " to " + format_real(high);
  info.default_value = format_real(get(fresh));
  return {info,
          [low, high, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            read_real(reader, node, low, high, get(owner));
          },
          [get](Owner& owner, extent) { return bare_value(format_real(get(owner))); }};
}

template <typename Owner, typename Get>
field<Owner> boolean_field(field_info info, Get get) {
  Owner fresh{};
  info.type = "boolean";
  info.range = "true, false";
  info.default_value = get(fresh) ? "true" : "false";
  return {info,
          [get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            read_boolean(reader, node, get(owner));
          },
          [get](Owner& owner, extent) { return bare_value(get(owner) ? "true" : "false"); }};
}

/// `words` in the order of the enum's values, which count from 0.
template <typename Owner, typename Get>
field<Owner> choice_field(field_info info, std::vector<std::string> words, Get get) {
  Owner fresh{};
  info.type = "word";
  for (const auto& word : words) info.range += (info.range.empty() ? "" : ", ") + word;
  if (info.default_value.empty()) info.default_value = words[static_cast<std::size_t>(get(fresh))];
  return {info,
          [words, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            std::size_t index = 0;
            if (read_choice(reader, node, words, index))
              get(owner) = static_cast<std::remove_reference_t<decltype(get(owner))>>(index);
          },
          [words, get](Owner& owner, extent) {
            return word_value(words[static_cast<std::size_t>(get(owner))]);
          }};
}

/// `check` returns the reason why a text is wrong, or nothing; `range` says the same in the
/// documentation.
template <typename Owner, typename Check, typename Get>
field<Owner> text_field(field_info info, std::string range, Check check, Get get) {
  info.type = "text";
  info.range = std::move(range);
  return {info,
          [check, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            std::string text;
            if (!read_scalar(reader, node, text)) return;
            if (const std::string reason = check(text); !reason.empty())
              return reader.complain(node, reason);
            get(owner) = text;
          },
          [get](Owner& owner, extent) {
            return get(owner).empty() ? config_value() : text_value(get(owner));
          }};
}

/// `check` is asked with each text and the list of those before it.
template <typename Owner, typename Check, typename Get>
field<Owner> texts_field(field_info info, std::string range, Check check, Get get) {
  info.type = "list of texts";
  info.range = std::move(range);
  if (!info.required) info.default_value = "none";
  return {info,
          [check, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            read_list(reader, node, [&](const YAML::Node& item) {
              std::string text;
              if (!read_scalar(reader, item, text)) return;
              if (const std::string reason = check(text, get(owner)); !reason.empty())
                return reader.complain(item, reason);
              get(owner).push_back(text);
            });
          },
          [get](Owner& owner, extent) { return texts_value(get(owner)); }};
}

/// Numbers and ranges; `range` says of the documentation what `low` and `high` are, and more.
template <typename Owner, typename Get>
field<Owner> ranges_field(field_info info, std::string range, unsigned low, unsigned high,
                          Get get) {
  info.type = "list of integers and ranges";
  info.range = std::move(range);
  info.default_value = "none";
  return {info,
          [low, high, get](config_reader& reader, const YAML::Node& node, Owner& owner) {
            std::vector<unsigned> numbers;
            if (read_ranges(reader, node, low, high, numbers))
              get(owner).assign(numbers.begin(), numbers.end());
          },
          [get](Owner& owner, extent) {
            return ranges_value(std::vector<unsigned>(get(owner).begin(), get(owner).end()));
          }};
}

/// The same field, with something done after it was read.
template <typename Owner, typename Then>
field<Owner> and_then(field<Owner> made, Then then) {
  made.read = [inner = made.read, then](config_reader& reader, const YAML::Node& node,
                                        Owner& owner) {
    inner(reader, node, owner);
    then(owner);
  };
  return made;
}

}  // namespace coua::ctl
