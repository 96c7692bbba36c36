// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/question.h"

#include <algorithm>
#include <cstring>

namespace coua::bench {

result<sequence> sequence::create(std::size_t keys, std::size_t key_words) {
  sequence made;
  result<arena> memory = arena::create((keys + slack_keys) * key_words * sizeof(std::uint64_t));
  if (!memory) return tl::unexpected(memory.error());
  made.memory_ = std::move(*memory);
  made.keys_ = keys;
  made.key_words_ = key_words;
  made.tallies_.resize(keys / chunk_keys);
  made.present_.resize(keys);
  return made;
}

void sequence::fill_lines(std::uint64_t bytes, std::uint64_t seed) {
  random_words random(seed);
  const std::uint64_t lines = std::max<std::uint64_t>(1, bytes / 64);
  for (std::size_t i = 0; i < keys_; ++i) data()[i] = random.below(lines) * 64;
  repeat_start();
}

void sequence::repeat_start() {
  std::memcpy(data() + keys_ * key_words_, data(), slack_keys * key_words_ * sizeof(std::uint64_t));
}

std::uint64_t sequence::expected(std::size_t i, const answer_code& code) const {
  const tally& each = tallies_[i];
  return each.values * code.scale + each.hits * code.offset + (chunk_keys - each.hits) * code.miss;
}

std::optional<std::uint32_t> sequence::expected_value(std::size_t i, std::size_t k,
                                                      const population& people) const {
  if (!present(i, k)) return std::nullopt;
  return people.value(chunk(i)[k]);
}

std::size_t sequence_words(std::uint64_t bytes) {
  constexpr std::size_t most = std::size_t{4} << 20;
  constexpr std::size_t least = std::size_t{256} << 10;
  return std::clamp<std::size_t>(bytes / 8, least, most) / chunk_keys * chunk_keys;
}

}  // namespace coua::bench
