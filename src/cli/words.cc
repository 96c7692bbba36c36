// SPDX-License-Identifier: Apache-2.0
#include "cli/words.h"

#include <algorithm>
#include <cctype>

namespace coua::cli {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// One character after another; where it stands when the line ends is what completion asks.
class splitter {
 public:
  explicit splitter(std::string_view line) : line_(line) {
    for (; at_ < line_.size() && !in_comment; ++at_) take(line_[at_]);
  }

  std::vector<std::string> words;
  std::size_t start = 0;    // of the word that is not ended
  bool in_word = false;     // one is begun
  bool in_comment = false;  // the rest says nothing
  bool escaped = false;     // a backslash waits for its character
  char quotation = 0;       // that is open

 private:
  void take(char c) {
    if (escaped) {
      if (quotation == '"' && c != '"' && c != '\\') word() += '\\';
      word() += c;
      escaped = false;
    } else if (quotation != 0) {
      if (c == quotation) {
        quotation = 0;
      } else if (c == '\\' && quotation == '"') {
        escaped = true;
      } else {
        word() += c;
      }
    } else if (is_blank(c)) {
      in_word = false;
    } else if (c == '#' && !in_word) {
      in_comment = true;
    } else if (c == '\\') {
      word();
      escaped = true;
    } else if (c == '\'' || c == '"') {
      word();
      quotation = c;
    } else {
      word() += c;
    }
  }

  std::string& word() {
    if (!in_word) {
      start = at_;
      words.emplace_back();
      in_word = true;
    }
    return words.back();
  }

  const std::string_view line_;
  std::size_t at_ = 0;
};

bool is_plain(char c) {
  return !is_blank(c) && c != '\'' && c != '"' && c != '\\' && c != '#' && c != '\0';
}

std::string in_quotes(std::string_view word) {
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace

result<std::vector<std::string>> split_words(std::string_view line) {
  splitter done(line);
  if (done.quotation != 0)
    return fail(errc::invalid, "coua",
                std::string("a quotation is not ended: ") + done.quotation + " is missing");
  if (done.escaped) return fail(errc::invalid, "coua", "nothing follows the last backslash");
  return std::move(done.words);
}

begun_line split_begun(std::string_view line) {
  splitter done(line);
  if (!done.in_word) {
    done.words.emplace_back();
    done.start = line.size();
  }
  return {std::move(done.words), done.start, done.in_comment};
}

std::string quoted_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, is_plain);
  return plain ? std::string(word) : in_quotes(word);
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  return plain ? std::string(word) : in_quotes(word);
}

}  // namespace coua::cli
