// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/options.h"

#include <utility>

#include "base/size.h"

namespace coua::bench {

result<std::vector<std::uint64_t>> parse_sizes(const std::string& option,
                                               const std::vector<std::string>& words,
                                               std::uint64_t least, std::uint64_t most) {
  std::vector<std::uint64_t> out;
  for (const std::string& word : words) {
    const result<std::uint64_t> size = parse_size(word);
    if (!size) return fail(errc::invalid, option + " " + word, size.error().what);
    if (*size < least || *size > most) {
      return fail(errc::invalid, option + " " + word,
                  "must be " + std::to_string(least) + " to " + std::to_string(most));
    }
    out.push_back(*size);
  }
  return out;
}

std::string size_word(std::uint64_t size) {
  std::string shortest = std::to_string(size);
  for (const auto& [step, mark] : {std::pair(1000U, ""), {1024U, "i"}}) {
    std::uint64_t left = size;
    for (std::size_t i = 0; i < 4 && left != 0 && left % step == 0; ++i) {
      left /= step;
      const std::string text = std::to_string(left) + "KMGT"[i] + mark;
      if (text.size() < shortest.size()) shortest = text;
    }
  }
  return shortest;
}

result<page_kind> parse_pages(const std::string& word) {
  if (word == "auto") return page_kind::automatic;
  if (word == "1G") return page_kind::gib1;
  if (word == "2M") return page_kind::mib2;
  if (word == "thp") return page_kind::transparent;
  if (word == "4K") return page_kind::kib4;
  return fail(errc::invalid, "--pages " + word, "must be auto, 1G, 2M, thp or 4K");
}

const char* pages_word(page_kind kind) {
  switch (kind) {
    case page_kind::automatic: return "auto";
    case page_kind::gib1: return "1G";
    case page_kind::mib2: return "2M";
    case page_kind::transparent: return "thp";
    case page_kind::kib4: return "4K";
    case page_kind::caller: return "caller";
  }
  return "?";
}

result<arena> allocate(std::size_t bytes, page_kind pages, unsigned threads) {
  arena_params params;
  params.pages = pages;
  params.populate_threads = threads;
  result<arena> made = arena::create(bytes, params);
  if (made || pages != page_kind::mib2) return made;
  params.pages = page_kind::transparent;
  result<arena> transparent = arena::create(bytes, params);
  return transparent ? std::move(transparent) : std::move(made);
}

}  // namespace coua::bench
