// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "cli/line_editor.h"
#include "cli/words.h"

namespace coua::cli {
namespace {

namespace files = std::filesystem;

/// Files whose names begin so; folders end in '/'.
void add_files(const std::string& begun, std::vector<candidate>& to) {
  const std::size_t slash = begun.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : begun.substr(0, slash + 1);
  const std::string name = begun.substr(folder.size());
  std::error_code none;
  for (const auto& each : files::directory_iterator(folder.empty() ? "." : folder, none)) {
    const std::string found = each.path().filename();
    if (!found.starts_with(name) || (name.empty() && found[0] == '.')) continue;
    to.push_back({folder + found + (each.is_directory(none) ? "/" : "")});
  }
}

std::size_t n_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // no later byte of a character
  }));
}

std::string common_start(const std::vector<candidate>& of) {
  std::string common = of[0].word;
  for (const candidate& each : of) {
    const auto [end, other] = std::ranges::mismatch(common, each.word);
    common.erase(end, common.end());
  }
  return common;
}

}  // namespace

continuation continue_line(const std::string& line, const completer_of_words& complete) {
  const begun_line begun = split_begun(line);
  if (begun.in_comment) return {};
  std::vector<std::string> words = begun.words;
  if (words.size() > 1 && words[0] == "coua") words.erase(words.begin());
  completion found = complete(words);
  if (found.files) add_files(words.back(), found.words);
  if (found.words.empty()) return {};
  std::ranges::sort(found.words, {}, &candidate::word);
  const std::string common = common_start(found.words);
  const bool only_one = found.words.size() == 1;
  // "--vlan=" and "folder/" go on.
  const bool goes_on = common.ends_with('/') || common.ends_with('=');
  continuation made;
  if (only_one || common.size() > words.back().size()) {
    made.n_replaced = n_characters(std::string_view(line).substr(begun.start));
    made.text = quoted_word(common);
    // A quotation mark at the end would stand in the way of what follows.
    if ((!only_one || goes_on) && made.text.ends_with('\'')) made.text.pop_back();
    if (only_one && !goes_on) made.text += ' ';
  } else {
    made.shown = std::move(found.words);
  }
  return made;
}

}  // namespace coua::cli
