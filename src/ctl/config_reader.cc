// SPDX-License-Identifier: Apache-2.0
#include "ctl/config_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/size.h"

namespace coua::ctl {
namespace {

std::string quote(std::string_view text) {
  return "'" + printable(text.substr(0, 40)) + (text.size() > 40 ? "...'" : "'");
}

template <typename Number>
bool parse_number(std::string_view text, Number& out) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), out);
  return status == std::errc{} && end == text.data() + text.size();
}

std::string not_in(const std::string& value, const std::string& low, const std::string& high) {
  return value + " is not from " + low + " to " + high;
}

bool read_range(config_reader& reader, const YAML::Node& node, unsigned low, unsigned high,
                std::vector<unsigned>& out) {
  std::string text;
  if (!read_scalar(reader, node, text)) return false;
  const std::size_t dash = text.find('-', 1);
  unsigned first = 0, last = 0;
  const std::string_view view = text;
  const bool good =
      dash == std::string::npos
          ? parse_number(view, first) && parse_number(view, last)
          : parse_number(view.substr(0, dash), first) && parse_number(view.substr(dash + 1), last);
  if (!good) {
    reader.complain(node, quote(text) + " is neither a number nor a range such as 20-30");
    return false;
  }
  if (first < low || last > high || first > last) {
    const std::string reason = first > last
                                   ? text + ": the range ends before it starts"
                                   : not_in(text, std::to_string(low), std::to_string(high));
    reader.complain(node, reason);
    return false;
  }
  if (out.size() > high - low)
    return reader.complain(node, "lists more numbers than there are"), false;
  for (unsigned value = first; value <= last; value++) out.push_back(value);
  return true;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out;
}

config_reader::step::step(config_reader& reader, const std::string& part)
    : reader_(reader), length_(reader.path_.size()) {
  if (!reader.path_.empty() && part[0] != '[') reader.path_ += '.';
  reader.path_ += printable(part);
}

int nearest_line(const std::map<std::string, int>& lines, std::string path) {
  while (true) {
    if (const auto found = lines.find(path); found != lines.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    if (cut == std::string::npos) return 0;
    path.resize(cut);
  }
}

// An empty value has the place of whatever follows it, so its key's line is used instead.
void config_reader::complain(const YAML::Node& at, std::string reason) {
  errors.push_back({at.IsNull() ? nearest_line(lines, path_) : line_of(at), path_, reason});
  wrong_.insert(path_);
}

void config_reader::complain_at(const std::string& path, std::string reason) {
  errors.push_back({nearest_line(lines, path), path, std::move(reason)});
  wrong_.insert(path);
}

bool config_reader::troubled(const std::string& path) const {
  const auto below = wrong_.lower_bound(path + ".");
  return wrong_.contains(path) || (below != wrong_.end() && below->starts_with(path + "."));
}

bool read_scalar(config_reader& reader, const YAML::Node& node, std::string& out) {
  if (node.IsNull()) return reader.complain(node, "has no value"), false;
  if (!node.IsScalar()) return reader.complain(node, "is not a single value"), false;
  out = node.Scalar();
  return true;
}

bool read_integer(config_reader& reader, const YAML::Node& node, std::int64_t low,
                  std::int64_t high, std::int64_t& out) {
  std::string text;
  if (!read_scalar(reader, node, text)) return false;
  std::int64_t value = 0;
  const bool digits = !text.empty() && std::ranges::all_of(text.substr(text[0] == '-'), [](char c) {
    return c >= '0' && c <= '9';
  }) && text != "-";
  if (!digits) return reader.complain(node, quote(text) + " is not a whole number"), false;
  if (!parse_number(std::string_view(text), value) || value < low || value > high) {
    reader.complain(node, not_in(text.size() > 24 ? quote(text) : text, std::to_string(low),
                                 std::to_string(high)));
    return false;
  }
  out = value;
  return true;
}

bool read_size(config_reader& reader, const YAML::Node& node, std::uint64_t low, std::uint64_t high,
               std::uint64_t& out) {
  std::string text;
  if (!read_scalar(reader, node, text)) return false;
  const auto value = parse_size(text);
  if (!value) {
    reader.complain(node, quote(text) + " is not a count such as 1000, 64K, 10M or 1Gi");
    return false;
  }
  if (*value < low || *value > high) {
    reader.complain(node, not_in(text, std::to_string(low), std::to_string(high)));
    return false;
  }
  out = *value;
  return true;
}

bool read_real(config_reader& reader, const YAML::Node& node, double low, double high,
               double& out) {
  std::string text;
  if (!read_scalar(reader, node, text)) return false;
  double value = 0;
  if (!parse_number(std::string_view(text), value) || !std::isfinite(value))
    return reader.complain(node, quote(text) + " is not a number"), false;
  if (value < low || value > high) {
    reader.complain(node, not_in(text, format_real(low), format_real(high)));
    return false;
  }
  out = value;
  return true;
}

bool read_boolean(config_reader& reader, const YAML::Node& node, bool& out) {
  std::string text;
  if (!read_scalar(reader, node, text)) return false;
  if (text != "true" && text != "false")
    return reader.complain(node, quote(text) + " is neither true nor false"), false;
  out = text == "true";
  return true;
}

bool read_choice(config_reader& reader, const YAML::Node& node,
                 const std::vector<std::string>& words, std::size_t& out) {
  std::string text;
  if (!read_scalar(reader, node, text)) return false;
  for (std::size_t i = 0; i < words.size(); i++) {
    if (words[i] == text) {
      out = i;
      return true;
    }
  }
  std::string all;
  for (const auto& word : words) all += (all.empty() ? "" : ", ") + word;
  const std::string near = nearest(text, words);
  reader.complain(node, quote(text) + " is not one of " + all +
                            (near.empty() ? "" : "; did you mean '" + near + "'?"));
  return false;
}

bool read_ranges(config_reader& reader, const YAML::Node& node, unsigned low, unsigned high,
                 std::vector<unsigned>& out) {
  if (node.IsScalar()) return read_range(reader, node, low, high, out);
  if (!node.IsSequence()) return reader.complain(node, "is not a list such as [1, 20-30]"), false;
  bool good = true;
  read_list(reader, node,
            [&](const YAML::Node& item) { good &= read_range(reader, item, low, high, out); });
  return good;
}

std::string format_real(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

config_value ranges_value(const std::vector<unsigned>& numbers) {
  std::vector<config_value> items;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) last++;
    const std::string first = std::to_string(numbers[i]);
    items.push_back(last == i ? bare_value(first)
                              : word_value(first + "-" + std::to_string(numbers[last])));
    i = last + 1;
  }
  return list_value(std::move(items));
}

config_value texts_value(const std::vector<std::string>& texts) {
  std::vector<config_value> items;
  for (const std::string& each : texts) items.push_back(text_value(each));
  return list_value(std::move(items));
}

}  // namespace coua::ctl
