// SPDX-License-Identifier: Apache-2.0
#include "pipeline/datapath/wildcard_table.h"

#include <algorithm>

#include "base/check.h"

namespace coua::pipeline {
namespace {

using bytes_in = const std::uint8_t*;

static_assert(key_words::max * sizeof(std::uint64_t) <= COUA_CLASSIFIER_KEY_BYTES_MAX);

constexpr const char* too_wide =
    "a rule of a classifier may take bits of 16 words of 8 bytes of a packet";
// A field is in three words at most, and the layers are in one.
constexpr std::size_t wide_terms_min = (COUA_CLASSIFIER_MASK_WORDS_MAX - 1) / 3 + 1;

const char* why_full(int refused) {
  switch (refused) {
    case -ERANGE: return too_wide;
    case -E2BIG:
    case -EAGAIN: return "too many different masks in one table";
    default: return "the table is full";
  }
}

bytes_in bytes_of(const std::uint64_t* words) { return reinterpret_cast<bytes_in>(words); }

}  // namespace

result<std::unique_ptr<wildcard_table>> wildcard_table::create(const key_layout& layout,
                                                               unsigned n_workers) {
  std::unique_ptr<wildcard_table> made(new wildcard_table(layout));
  coua_classifier_params params = COUA_CLASSIFIER_PARAMS_INIT;
  params.key_bytes = made->stride() * sizeof(std::uint64_t);
  params.masks_max = COUA_CLASSIFIER_MASKS_MAX;
  auto rules = classifier::create(params);
  if (!rules) return tl::unexpected(std::move(rules.error()));
  made->rules_ = std::move(*rules);
  for (unsigned i = 0; i < n_workers; ++i) {
    auto reader = classifier_reader::create(*made->rules_);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    made->readers_.push_back(std::move(*reader));
  }
  return made;
}

result<void> wildcard_table::check(const match& what) const {
  if (what.terms().size() < wide_terms_min) return {};
  const auto words = layout_.terms_of(what);
  COUA_CHECK(words.has_value());
  const auto n = std::count_if(words->mask, words->mask + layout_.n_words(),
                               [](std::uint64_t mask) { return mask != 0; });
  const unsigned n_words = static_cast<unsigned>(n) + (layout_.has_layers() ? 1 : 0);
  if (n_words <= COUA_CLASSIFIER_MASK_WORDS_MAX) return {};
  return fail(errc::no_room, what.to_string(), too_wide);
}

result<void> wildcard_table::put(const match& what, std::uint32_t rank, record_id head) {
  const auto ways = layout_.words_of(what);
  COUA_CHECK(ways.has_value());
  for (const key_words& each : *ways) {
    const int done = rules_->add(bytes_of(each.value), bytes_of(each.mask), rank, head);
    if (done < 0) {
      return fail(done == -ENOMEM ? errc::no_memory : errc::no_room, what.to_string(),
                  why_full(done));
    }
  }
  return {};
}

void wildcard_table::erase(const match& what, std::uint32_t rank) {
  const auto ways = layout_.words_of(what);
  for (const key_words& each : *ways) {
    (void)rules_->remove(bytes_of(each.value), bytes_of(each.mask), rank);
  }
}

record_id wildcard_table::head(const match& what, std::uint32_t rank) const {
  std::uint32_t value = 0;
  const auto ways = layout_.words_of(what);
  const key_words& one = ways->front();
  return rules_->get(bytes_of(one.value), bytes_of(one.mask), rank, &value) == 0 ? value : 0;
}

void wildcard_table::look_up(unsigned worker, const std::uint64_t* keys, std::size_t n,
                             record_id* heads, std::uint32_t* ranks) const noexcept {
  coua_classifier_answer answers[64];
  std::uint64_t hits = 0;
  readers_[worker]->lookup(bytes_of(keys), n, answers, &hits);
  for (std::size_t i = 0; i < n; ++i) {
    const bool hit = (hits >> i & 1) != 0;
    heads[i] = hit ? answers[i].value : 0;
    if (hit) ranks[i] = answers[i].priority;
  }
}

record_id wildcard_table::look_up_below(unsigned worker, const std::uint64_t* key,
                                        std::uint32_t& rank) const noexcept {
  coua_classifier_answer answer{};
  if (!readers_[worker]->lookup_below(bytes_of(key), rank, answer)) return 0;
  rank = answer.priority;
  return answer.value;
}

}  // namespace coua::pipeline
