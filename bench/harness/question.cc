// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/question.h"

#include <algorithm>
#include <cstring>

namespace coua::bench {

result<sequence> sequence::create(std::size_t words) {
  sequence made;
  result<arena> memory = arena::create((words + slack_keys) * sizeof(std::uint64_t));
  if (!memory) return tl::unexpected(memory.error());
  made.memory_ = std::move(*memory);
  made.words_ = words;
  made.tallies_.resize(words / chunk_keys);
  made.present_.resize(words);
  return made;
}

void sequence::fill_keys(const population& people, unsigned miss_percent, std::uint64_t seed) {
  random_words random(seed);
  std::size_t at = 0;
  for (tally& each : tallies_) {
    each = {};
    for (std::size_t i = 0; i < chunk_keys; ++i) {
      std::uint64_t index = random.below(people.entries);
      const bool miss = miss_percent != 0 && random.below(100) < miss_percent;
      if (miss) index += people.entries;
      const std::uint64_t key = people.key(index);
      if (!miss) {
        ++each.hits;
        each.values += people.value(key);
      }
      present_[at] = !miss;
      data()[at++] = key;
    }
  }
  repeat_start();
}

void sequence::fill_lines(std::uint64_t bytes, std::uint64_t seed) {
  random_words random(seed);
  const std::uint64_t lines = std::max<std::uint64_t>(1, bytes / 64);
  for (std::size_t i = 0; i < words_; ++i) data()[i] = random.below(lines) * 64;
  repeat_start();
}

void sequence::repeat_start() {
  std::memcpy(data() + words_, data(), slack_keys * sizeof(std::uint64_t));
}

std::uint64_t sequence::expected(std::size_t i, const answer_code& code) const {
  const tally& each = tallies_[i];
  return each.values * code.scale + each.hits * code.offset + (chunk_keys - each.hits) * code.miss;
}

std::optional<std::uint32_t> sequence::expected_value(std::size_t i, std::size_t k,
                                                      const population& people) const {
  if (!present_[i * chunk_keys + k]) return std::nullopt;
  return people.value(chunk(i)[k]);
}

std::size_t sequence_words(std::uint64_t bytes) {
  constexpr std::size_t most = std::size_t{4} << 20;
  constexpr std::size_t least = std::size_t{256} << 10;
  return std::clamp<std::size_t>(bytes / 8, least, most) / chunk_keys * chunk_keys;
}

}  // namespace coua::bench
