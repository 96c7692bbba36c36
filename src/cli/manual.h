// SPDX-License-Identifier: Apache-2.0
//
// Manual pages, made from the grammar. In the macros of man(7).
#pragma once

#include <string>
#include <string_view>

#include "cli/grammar.h"

namespace coua::cli {

struct manual_page {
  int section = 1;
  std::string version;   // "0.1.0"
  std::string see_also;  // "couad(8)"
};

std::string manual(const command& command, const manual_page& page);

/// Text as man(7) wants it, whatever is in it.
std::string roff(std::string_view text);

}  // namespace coua::cli
