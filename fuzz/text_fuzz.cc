// SPDX-License-Identifier: Apache-2.0
//
// The words that people type: sizes, MAC addresses, and lines of words. What is read must be what
// was written.
#include <cctype>
#include <string>

#include "base/size.h"
#include "cli/words.h"
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

void check_words(std::string_view text) {
  const auto words = coua::cli::split_words(text);
  const coua::cli::begun_line begun = coua::cli::split_begun(text);
  COUA_CHECK(begun.start <= text.size() && !begun.words.empty());
  if (!words) {
    COUA_CHECK(words.error().code == coua::errc::invalid);
    return;
  }
  std::string line;
  for (const std::string& word : *words) line += coua::cli::quoted_word(word) + " ";
  COUA_CHECK(coua::cli::split_words(line) == *words);
  // What the cursor stands in is the last word, or a new one.
  auto with_new = *words;
  with_new.emplace_back();
  COUA_CHECK(begun.words == *words || begun.words == with_new);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_size(text);
  check_mac(text);
  check_words(text);
  return 0;
}
