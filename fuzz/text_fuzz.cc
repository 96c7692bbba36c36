// SPDX-License-Identifier: Apache-2.0
//
// The words that people type: sizes and MAC addresses. What is read must be what was written.
#include <cctype>
#include <string>

#include "base/size.h"
#include "fuzz.h"
#include "net/mac.h"

namespace {

void check_size(std::string_view text) {
  auto size = coua::parse_size(text);
  if (!size) {
    COUA_CHECK(size.error().code == coua::errc::invalid && !size.error().message().empty());
    return;
  }
  COUA_CHECK(!text.empty() && std::isalnum(static_cast<unsigned char>(text.back())));
  COUA_CHECK(coua::parse_size(std::to_string(*size)) == *size);
  COUA_CHECK(!coua::format_bytes(*size).empty() && !coua::format_count(*size).empty());
  // The unit in the other case means the same.
  std::string other(text);
  for (char& c : other)
    c = static_cast<char>(std::islower(static_cast<unsigned char>(c)) ? std::toupper(c)
                                                                      : std::tolower(c));
  COUA_CHECK(coua::parse_size(other) == *size);
}

void check_mac(std::string_view text) {
  auto mac = coua::net::parse_mac(text);
  if (!mac) return;
  COUA_CHECK(*mac >> 48 == 0);
  COUA_CHECK(coua::net::parse_mac(coua::net::format_mac(*mac)) == *mac);
  std::size_t digits = 0;
  for (char c : text) digits += std::isxdigit(static_cast<unsigned char>(c)) != 0;
  COUA_CHECK(digits == 12 && (text.size() == 17 || text.size() == 14));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_size(text);
  check_mac(text);
  return 0;
}
