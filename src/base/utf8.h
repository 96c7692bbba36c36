// SPDX-License-Identifier: Apache-2.0
//
// Whether bytes are a text in UTF-8 (RFC 3629): only such go into a message of the API.
#pragma once

#include <cstddef>
#include <string_view>

namespace coua {

/// Bytes of the first character of a text that is not empty; 0: it is none of UTF-8.
constexpr std::size_t utf8_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t n = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < n) return 0;
  // Neither in more bytes than are needed, nor a surrogate, nor above 0x10ffff.
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < n; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  return n;
}

constexpr bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

/// What some editors put in front of a file, so that it is known to be UTF-8.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

constexpr std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

}  // namespace coua
