// SPDX-License-Identifier: Apache-2.0
#include "cli/words.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace coua::cli {
namespace {

using list = std::vector<std::string>;

list words_of(const std::string& line) {
  const auto words = split_words(line);
  return words ? *words : list{"error", words.error().what};
}

TEST(words, are_parted_by_blanks) {
  EXPECT_EQ(words_of("port show  p0\t-j \n"), (list{"port", "show", "p0", "-j"}));
  EXPECT_EQ(words_of("  \t"), list{});
  EXPECT_EQ(words_of(""), list{});
}

TEST(words, are_held_together) {
  EXPECT_EQ(words_of("a 'b c' d"), (list{"a", "b c", "d"}));
  EXPECT_EQ(words_of(R"("b \" \\ \n" b\ c\\)"), (list{R"(b " \ \n)", R"(b c\)"}));
  EXPECT_EQ(words_of(R"('a\'b"c d"e)"), list{R"(a\bc de)"});
  EXPECT_EQ(words_of("'' a\"\""), (list{"", "a"}));
  EXPECT_EQ(words_of("flow add tcp,tp_dst=80,actions=output:p1").size(), 3U);
}

TEST(words, end_at_a_comment) {
  EXPECT_EQ(words_of("# port show"), list{});
  EXPECT_EQ(words_of("port list # all"), (list{"port", "list"}));
  EXPECT_EQ(words_of("a#b '#' \\#"), (list{"a#b", "#", "#"}));
}

TEST(words, need_their_end) {
  EXPECT_EQ(words_of("a 'b"), (list{"error", "a quotation is not ended: ' is missing"}));
  EXPECT_EQ(words_of("a \"b\\\""), (list{"error", "a quotation is not ended: \" is missing"}));
  EXPECT_EQ(words_of("a\\"), (list{"error", "nothing follows the last backslash"}));
}

TEST(words, that_are_begun) {
  const auto begun = [](const std::string& line) {
    const begun_line of = split_begun(line);
    return std::make_pair(of.words, of.start);
  };
  EXPECT_EQ(begun(""), std::make_pair(list{""}, std::size_t{0}));
  EXPECT_EQ(begun("port sh"), std::make_pair(list{"port", "sh"}, std::size_t{5}));
  EXPECT_EQ(begun("port "), std::make_pair(list{"port", ""}, std::size_t{5}));
  EXPECT_EQ(begun("fib load 'a b"), std::make_pair(list{"fib", "load", "a b"}, std::size_t{9}));
  EXPECT_EQ(begun("fib load a\\ b"), std::make_pair(list{"fib", "load", "a b"}, std::size_t{9}));
  EXPECT_TRUE(split_begun("a # b").in_comment);
}

RC_GTEST_PROP(words, what_is_quoted_is_read_back, (const list& words)) {
  std::string line;
  for (const std::string& word : words) line += quoted_word(word) + " ";
  const auto back = split_words(line);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == words);
  if (words.empty()) return;
  // The cursor behind the last word, and in front of it.
  line.pop_back();
  const begun_line begun = split_begun(line);
  RC_ASSERT(begun.words == words);
  RC_ASSERT(line.substr(begun.start) == quoted_word(words.back()));
}

RC_GTEST_PROP(words, no_text_is_too_strange, (const std::string& text)) {
  const auto words = split_words(text);
  const begun_line begun = split_begun(text);
  RC_ASSERT(begun.start <= text.size());
  RC_ASSERT(!begun.words.empty());
  if (!words) return;
  const bool same = begun.words == *words;
  const bool one_more = begun.words.size() == words->size() + 1 && begun.words.back().empty();
  RC_ASSERT(same || one_more);
}

}  // namespace
}  // namespace coua::cli
