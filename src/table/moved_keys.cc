// SPDX-License-Identifier: Apache-2.0
#include "table/moved_keys.h"

#include <algorithm>
#include <bit>

namespace coua {
namespace {

constexpr std::uint64_t used = std::uint64_t{1} << 63;
constexpr std::uint64_t seen_bit = std::uint64_t{1} << 62;
constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;

std::uint64_t word_of(std::uint64_t key, moved_keys::kind as) {
  return used | key | (as == moved_keys::kind::seen ? seen_bit : 0);
}

}  // namespace

result<moved_keys> moved_keys::create(std::uint64_t table_slots,
                                      const key_permutation& permutation) {
  const auto capacity =
      std::bit_ceil(std::clamp<std::size_t>(static_cast<std::size_t>(table_slots), least, most));
  arena_params params;
  params.pages = page_kind::kib4;
  params.populate = false;
  auto memory = arena::create(3 * capacity * sizeof(std::uint64_t), params);
  if (!memory) return tl::unexpected(memory.error());
  return moved_keys(std::move(*memory), capacity, permutation);
}

moved_keys::moved_keys(arena memory, std::size_t capacity, const key_permutation& permutation)
    : memory_(std::move(memory)),
      slots_(static_cast<std::uint64_t*>(memory_.data())),
      late_(slots_ + 2 * capacity),
      mask_(2 * capacity - 1),
      permutation_(permutation),
      shift_(64 - static_cast<unsigned>(std::countr_zero(2 * capacity))) {}

/// The permutation alone would crowd them: keys on one side of a cursor share their top bits.
std::size_t moved_keys::home(std::uint64_t word) const noexcept {
  return static_cast<std::size_t>(permutation_.p(word & key_permutation::key_mask) * golden >>
                                  shift_);
}

std::size_t moved_keys::find(std::uint64_t word) const noexcept {
  std::size_t at = home(word);
  while (slots_[at] != 0 && slots_[at] != word) at = (at + 1) & mask_;
  return at;
}

bool moved_keys::add(std::uint64_t key, kind as) noexcept {
  if (n_late_ + n_seen_ == capacity()) return false;
  if (as == kind::late) {
    if (n_listed_ == capacity()) return false;
    late_[n_listed_++] = key;
  }
  const std::uint64_t word = word_of(key, as);
  std::uint64_t& slot = slots_[find(word)];
  if (slot == 0) ++(as == kind::late ? n_late_ : n_seen_);
  slot = word;
  return true;
}

bool moved_keys::erase(std::uint64_t key, kind as) noexcept {
  const std::size_t at = find(word_of(key, as));
  if (slots_[at] == 0) return false;
  close_gap(at);
  --(as == kind::late ? n_late_ : n_seen_);
  if (n_late_ == 0) n_listed_ = 0;
  return true;
}

/// Moves back what could no longer be found behind a free slot.
void moved_keys::close_gap(std::size_t gap) noexcept {
  for (std::size_t at = (gap + 1) & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
    const std::size_t from_home = (at - home(slots_[at])) & mask_;
    if (from_home < ((at - gap) & mask_)) continue;
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = 0;
}

bool moved_keys::take_late(std::uint64_t& key) noexcept {
  while (n_late_ > 0) {
    key = late_[--n_listed_];
    if (erase(key, kind::late)) return true;
  }
  return false;
}

}  // namespace coua
