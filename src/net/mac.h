// SPDX-License-Identifier: Apache-2.0
//
// MAC addresses as text. In a number, the first byte on the wire is in bits 40-47.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coua::net {

/// "aa:bb:cc:dd:ee:ff", "aa-bb-cc-dd-ee-ff" or "aabb.ccdd.eeff", in upper or lower case; every
/// digit must be there.
inline std::optional<std::uint64_t> parse_mac(std::string_view text) {
  // Groups of two digits between ':' or '-', or of four between '.'.
  const bool dotted = text.size() == 14;
  if (!dotted && text.size() != 17) return std::nullopt;
  const std::size_t group = dotted ? 4 : 2;
  const char separator = text[group];
  if (dotted ? separator != '.' : separator != ':' && separator != '-') return std::nullopt;
  std::uint64_t mac = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (i % (group + 1) == group) {
      if (c != separator) return std::nullopt;
      continue;
    }
    unsigned digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<unsigned>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<unsigned>(c - 'A' + 10);
    else
      return std::nullopt;
    mac = mac << 4 | digit;
  }
  return mac;
}

/// Writes 17 characters, "aa:bb:cc:dd:ee:ff", without an end.
inline void write_mac(std::uint64_t mac, char* out) {
  constexpr const char* digits = "0123456789abcdef";
  for (int byte = 5; byte >= 0; byte--) {
    *out++ = digits[mac >> (8 * byte + 4) & 15];
    *out++ = digits[mac >> (8 * byte) & 15];
    if (byte > 0) *out++ = ':';
  }
}

inline std::string format_mac(std::uint64_t mac) {
  std::string text(17, '\0');
  write_mac(mac, text.data());
  return text;
}

}  // namespace coua::net
