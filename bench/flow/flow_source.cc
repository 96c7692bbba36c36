// SPDX-License-Identifier: Apache-2.0
#include "bench/flow/flow_source.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/check.h"

namespace coua::bench {
namespace {

struct counted {
  std::string_view variant;
  int lines;
};
constexpr counted all[] = {
#include "bench/flow_source_lines.inc"
};

int lines_of(std::string_view variant) {
  const auto* const found = std::find_if(
      std::begin(all), std::end(all), [&](const counted& each) { return each.variant == variant; });
  COUA_CHECK(found != std::end(all));
  return found->lines;
}

}  // namespace

void add_source_lines(const flow_options& options, report& out) {
  for (const flow_variant_word& variant : options.variants) {
    const int lines = lines_of(variant.word);
    row each;
    each.name = variant.word + "/source";
    each.more = {{"lines", lines}, {"added", lines - lines_of("pessimistic")}};
    out.rows.push_back(std::move(each));
  }
}

}  // namespace coua::bench
