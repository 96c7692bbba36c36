// SPDX-License-Identifier: Apache-2.0
#include "ctl/openflow_rules.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "ctl/listen_address.h"

namespace coua::ctl {
namespace {

bool is_port(std::string_view text) {
  return is_tcp_port(text) && text.find_first_not_of('0') != text.npos;
}

/// Of a socket behind "unix:", which goes to the library as a text.
std::string check_path(std::string_view path) {
  if (const std::string reason = check_socket(std::string(path)); !reason.empty())
    return "its path " + reason;
  const auto is_plain = [](unsigned char c) { return c > ' ' && c < 0x7f; };
  return std::ranges::all_of(path, is_plain) ? "" : "its path has a blank, or what is not ASCII";
}

/// The text behind "WORD:"; nothing: it begins with none of these words.
std::optional<std::string_view> behind(std::string_view text,
                                       std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.starts_with(word)) return text.substr(word.size());
  }
  return std::nullopt;
}

}  // namespace

std::string check_controller(const std::string& target) {
  const std::string wrong =
      "is none of tcp:ADDRESS:PORT, ssl:ADDRESS:PORT, unix:PATH, such as tcp:10.0.0.1:6653 or "
      "tcp:[fd00::1]:6653";
  if (const auto path = behind(target, {"unix:"})) return check_path(*path);
  const auto place = behind(target, {"tcp:", "ssl:"});
  if (!place) return wrong;
  const std::size_t colon = place->rfind(':');
  if (colon == std::string_view::npos) return wrong;
  return is_ip_address(place->substr(0, colon)) && is_port(place->substr(colon + 1)) ? "" : wrong;
}

std::string check_listener(const std::string& target) {
  const std::string wrong =
      "is none of ptcp:PORT[:ADDRESS], pssl:PORT[:ADDRESS], punix:PATH, such as "
      "ptcp:6653:127.0.0.1";
  if (const auto path = behind(target, {"punix:"})) return check_path(*path);
  const auto place = behind(target, {"ptcp:", "pssl:"});
  if (!place) return wrong;
  const std::size_t colon = place->find(':');
  if (!is_port(place->substr(0, colon))) return wrong;
  return colon == std::string_view::npos || is_ip_address(place->substr(colon + 1)) ? "" : wrong;
}

std::string check_table_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= 31 &&
                    std::ranges::all_of(name, [](unsigned char c) { return c >= ' ' && c < 0x7f; });
  return good ? "" : "is not a name of 1 to 31 printable characters";
}

std::string check_new_table_name(const std::string& name,
                                 const std::map<std::uint8_t, std::string>& before) {
  const auto same = [&](const auto& each) { return each.second == name; };
  const auto other = std::ranges::find_if(before, same);
  return other == before.end() ? ""
                               : "is the name of table " + std::to_string(other->first) + ", too";
}

bool needs_tls(const std::string& target) {
  return target.starts_with("ssl:") || target.starts_with("pssl:");
}

std::string normal_path(const std::string& path) {
  return std::filesystem::path(path).lexically_normal();
}

std::optional<std::string> socket_of(const std::string& listener) {
  const auto path = behind(listener, {"punix:"});
  return path ? std::optional(normal_path(std::string(*path))) : std::nullopt;
}

std::string management_socket(const std::string& bridge, const std::string& api_socket) {
  return api_socket.substr(0, api_socket.rfind('/') + 1) + bridge + ".mgmt";
}

std::optional<std::uint64_t> parse_datapath_id(const std::string& text) {
  std::string digits = text.starts_with("0x") ? text.substr(2) : text;
  std::erase(digits, ':');
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, wrong] = std::from_chars(digits.data(), end, value, 16);
  if (wrong != std::errc() || at != end || digits.size() > 16 || value == 0) return std::nullopt;
  return value;
}

std::string format_datapath_id(std::uint64_t id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) {
    text += digits[id >> shift & 15];
    if (shift % 8 == 0 && shift > 0) text += ':';
  }
  return text;
}

/// FNV-1a of the name, in bits 0 to 47 as an address that nobody assigns.
std::uint64_t datapath_id_of(const std::string& bridge) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bridge) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return std::uint64_t{2} << 40 | (hash >> 24 & 0xff'ffff'ffff);
}

}  // namespace coua::ctl
