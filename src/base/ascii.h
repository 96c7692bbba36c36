// SPDX-License-Identifier: Apache-2.0
//
// Letters of units and words: of ASCII only, whatever the locale says.
#pragma once

namespace coua {

/// Of a letter A to Z the small one; any other character as it is.
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace coua
