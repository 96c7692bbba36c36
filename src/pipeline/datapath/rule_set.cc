// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/rule_set.h"

#include <cstring>

#include "base/check.h"

namespace coua::pipeline {

rule_set::rule_set(unsigned n_words, std::span<const row> rows)
    : n_groups_((rows.size() + simd::set_match::group - 1) / simd::set_match::group),
      lines_(n_groups_ * (n_words + 1)) {
  constexpr unsigned group = simd::set_match::group;
  COUA_CHECK(!rows.empty() && rows.size() <= rows_max);
  for (std::size_t r = 0; r < n_groups_ * group; ++r) {
    for (unsigned w = 0; w < n_words; ++w) {
      std::uint64_t* const words = lines_[r / group * n_words + w].words;
      words[r % group] = r < rows.size() ? rows[r].asks[2 * w] : simd::set_match::never;
      words[group + r % group] = r < rows.size() ? rows[r].asks[2 * w + 1] : 0;
    }
    if (r >= rows.size()) continue;
    auto* const answers = lines_[n_groups_ * n_words + r / group].words;
    std::memcpy(answers + r % group * 2, &rows[r].found, sizeof(answer));
  }
}

std::uint64_t rule_set::reference() const {
  return reinterpret_cast<std::uintptr_t>(lines_.data()) + n_groups_;
}

}  // namespace coua::pipeline
