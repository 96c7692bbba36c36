// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace coua {
namespace {

TEST(utf8, takes_what_is_a_text) {
  for (const char* text : {"", "plain", "B\u00fcro", "\u20ac", "\U0001f600", "\ud7ff", "\ue000",
                           "\xf4\x8f\xbf\xbf", "\xc2\x80", "\xe0\xa0\x80", "\xf0\x90\x80\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("\0", 1)));
}

TEST(utf8, refuses_what_is_none) {
  for (const char* text : {
           "B\xfcro",  // Latin-1
           "\x80",
           "\xbf",  // the middle of a character
           "\xc3",
           "\xe2\x82",  // its beginning
           "\xf0\x9f\x98",
           "\xc0\xaf",
           "\xe0\x9f\xbf",
           "\xf0\x8f\xbf\xbf",  // more bytes than are needed
           "\xed\xa0\x80",      // a surrogate
           "\xf4\x90\x80\x80",
           "\xf5\x80\x80\x80",
           "\xff",  // too large
           "\xe2\x28\xa1",
           "\xe2\x82\x28",
       }) {
    EXPECT_FALSE(is_utf8(text));
  }
}

}  // namespace
}  // namespace coua
