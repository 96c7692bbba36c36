// SPDX-License-Identifier: Apache-2.0
#include "table/moved_keys.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace coua {

result<moved_keys> moved_keys::create(std::uint64_t table_slots, std::uint32_t key_words) {
  return with_room(std::bit_ceil(std::clamp<std::size_t>(table_slots, least, most)), key_words);
}

result<moved_keys> moved_keys::with_room(std::size_t capacity, std::uint32_t key_words) {
  COUA_ASSERT(std::has_single_bit(capacity) && capacity <= most && key_words >= 1);
  arena_params params;
  params.pages = page_kind::kib4;
  params.populate = false;
  const std::size_t bytes_of_one =
      key_words * sizeof(std::uint64_t) + sizeof(node) + 2 * sizeof(std::uint32_t);
  auto memory = arena::create(capacity * bytes_of_one, params);
  if (!memory) return tl::unexpected(memory.error());
  return moved_keys(std::move(*memory), capacity, key_words);
}

moved_keys::moved_keys(arena memory, std::size_t capacity, std::uint32_t key_words)
    : memory_(std::move(memory)),
      keys_(static_cast<std::uint64_t*>(memory_.data())),
      nodes_(reinterpret_cast<node*>(keys_ + capacity * key_words)),
      slots_(reinterpret_cast<std::uint32_t*>(nodes_ + capacity)),
      key_words_(key_words),
      mask_(2 * capacity - 1),
      shift_(32 - static_cast<unsigned>(std::countr_zero(2 * capacity))) {}

std::size_t moved_keys::find(const std::uint64_t* key, std::uint32_t hash) const noexcept {
  std::size_t at = home(hash);
  for (; slots_[at] != 0; at = (at + 1) & mask_) {
    const std::uint32_t there = slots_[at] - 1;
    if (nodes_[there].hash == hash && std::equal(key, key + key_words_, key_of(there))) break;
  }
  return at;
}

bool moved_keys::add(const std::uint64_t* key, std::uint32_t hash, kind as) noexcept {
  const std::size_t slot = find(key, hash);
  if (slots_[slot] != 0) {
    COUA_ASSERT(nodes_[slots_[slot] - 1].as == as);
    return true;
  }
  if (n_late_ + n_seen_ == capacity()) return false;
  const std::uint32_t at = free_ != none ? free_ : n_used_++;
  if (at == free_) free_ = nodes_[at].after;
  std::copy_n(key, key_words_, key_of(at));
  nodes_[at] = {hash, as, none, none};
  slots_[slot] = at + 1;
  if (as == kind::seen) {
    ++n_seen_;
    return true;
  }
  ++n_late_;
  nodes_[at].after = late_;
  if (late_ != none) nodes_[late_].before = at;
  late_ = at;
  return true;
}

bool moved_keys::erase(const std::uint64_t* key, std::uint32_t hash, kind as) noexcept {
  const std::size_t slot = find(key, hash);
  if (slots_[slot] == 0 || nodes_[slots_[slot] - 1].as != as) return false;
  remove(slot);
  return true;
}

void moved_keys::remove(std::size_t slot) noexcept {
  const std::uint32_t at = slots_[slot] - 1;
  node& gone = nodes_[at];
  close_gap(slot);
  if (gone.as == kind::late) {
    --n_late_;
    (gone.before != none ? nodes_[gone.before].after : late_) = gone.after;
    if (gone.after != none) nodes_[gone.after].before = gone.before;
  } else {
    --n_seen_;
  }
  gone.after = free_;
  free_ = at;
}

/// Moves back what could no longer be found behind a free slot.
void moved_keys::close_gap(std::size_t gap) noexcept {
  for (std::size_t at = (gap + 1) & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
    const std::size_t from_home = (at - home(nodes_[slots_[at] - 1].hash)) & mask_;
    if (from_home < ((at - gap) & mask_)) continue;
    slots_[gap] = slots_[at];
    gap = at;
  }
  slots_[gap] = 0;
}

bool moved_keys::take_late(std::uint64_t* key) noexcept {
  if (late_ == none) return false;
  std::copy_n(key_of(late_), key_words_, key);
  remove(find(key, nodes_[late_].hash));
  return true;
}

}  // namespace coua
