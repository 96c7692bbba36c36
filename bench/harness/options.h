// SPDX-License-Identifier: Apache-2.0
//
// Options that every subcommand has, and how lists of words become values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/result.h"

namespace coua::bench {

struct run_options {
  bool json = false;
  double seconds = 0.2;      // length of a window; 0.001 to 60
  unsigned repetitions = 5;  // of every row, interleaved; 1 to 1,000
  std::uint64_t seed = 1;    // of the choice of keys
};

/// Sizes as of parse_size, each from `least` to `most`; `option` names them in the error.
result<std::vector<std::uint64_t>> parse_sizes(const std::string& option,
                                               const std::vector<std::string>& words,
                                               std::uint64_t least, std::uint64_t most);

/// "950", "32Mi", "20K": exact, the shortest text without a fraction that parse_sizes() reads.
std::string size_word(std::uint64_t size);

/// "auto", "1G", "2M", "thp", "4K".
result<page_kind> parse_pages(const std::string& word);

/// The word for the pages that a block of memory got, in the words of parse_pages.
const char* pages_word(page_kind);

/// Memory on these pages. 2 MiB pages are transparent ones where none are reserved.
result<arena> allocate(std::size_t bytes, page_kind pages, unsigned threads = 0);

}  // namespace coua::bench
