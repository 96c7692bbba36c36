// SPDX-License-Identifier: Apache-2.0
#include "setsep/fallback_table.h"

#include <algorithm>

#include "base/atomic_word.h"

namespace coua::setsep {
namespace {

constexpr std::size_t first_slots = 16;

}  // namespace

fallback_table::fallback_table() : now_(new array(first_slots)) {}
fallback_table::~fallback_table() { delete now_; }

std::size_t fallback_table::home(const array& in, const key_hash& hash) noexcept {
  return (hash.high ^ hash.low * 0x9e3779b97f4a7c15) >> 20 & (in.slots.size() - 1);
}

int fallback_table::find(const key_hash& hash) const noexcept {
  // With the store in rebuild(): what the array has is there to see.
  const array& in = *load_acquire(&now_);
  for (std::size_t i = home(in, hash);; i = (i + 1) & (in.slots.size() - 1)) {
    const slot& at = in.slots[i];
    // With the stores in put(): the key of a used slot is there to see.
    const std::uint64_t state = load_acquire(&at.state);
    if (state == empty) return -1;
    if (state == gone) continue;
    if (load_acquire(&at.high) == hash.high && load_acquire(&at.low) == hash.low) {
      return static_cast<std::uint16_t>(state);
    }
  }
}

fallback_table::slot* fallback_table::look_for(const key_hash& hash) noexcept {
  for (std::size_t i = home(*now_, hash);; i = (i + 1) & (now_->slots.size() - 1)) {
    slot& at = now_->slots[i];
    if (at.state == empty) return nullptr;
    if (at.state != gone && key_hash{at.high, at.low} == hash) return &at;
  }
}

// Three quarters: probes stay short, and there is always an empty slot that ends them.
void fallback_table::reserve(std::size_t n, reclaimer* retired) {
  if ((n_taken_ + n) * 4 <= now_->slots.size() * 3) return;
  rebuild(std::max(first_slots, std::bit_ceil((n_ + n) * 2)), retired);
}

void fallback_table::put(const keyed_value& entry, reclaimer* retired) {
  if (slot* there = look_for(entry.hash); there != nullptr) {
    store_release(&there->state, used | entry.value);
    return;
  }
  reserve(1, retired);
  std::size_t i = home(*now_, entry.hash);
  while (now_->slots[i].state > gone) i = (i + 1) & (now_->slots.size() - 1);
  slot& at = now_->slots[i];
  n_taken_ += at.state == empty;
  ++n_;
  store_release(&at.high, entry.hash.high);
  store_release(&at.low, entry.hash.low);
  store_release(&at.state, used | entry.value);
}

void fallback_table::drop(const key_hash& hash) noexcept {
  slot* const there = look_for(hash);
  if (there == nullptr) return;
  --n_;
  store_release(&there->state, gone);
  // In front of an empty slot nobody probes on: it may be empty itself.
  const std::size_t mask = now_->slots.size() - 1;
  auto i = static_cast<std::size_t>(there - now_->slots.data());
  if (now_->slots[(i + 1) & mask].state != empty) return;
  for (; now_->slots[i].state == gone; i = (i - 1) & mask) {
    store_release(&now_->slots[i].state, empty);
    --n_taken_;
  }
}

void fallback_table::rebuild(std::size_t n_slots, reclaimer* retired) {
  // What can fail comes first. The old one is freed later, whether or not it is known by now.
  auto made = std::make_unique<array>(n_slots);
  const auto old = std::make_shared<std::unique_ptr<array>>();
  if (retired != nullptr) retired->defer([old] { old->reset(); });
  for (const slot& each : now_->slots) {
    if (each.state <= gone) continue;
    std::size_t i = home(*made, {each.high, each.low});
    while (made->slots[i].state != empty) i = (i + 1) & (n_slots - 1);
    made->slots[i] = each;
  }
  n_taken_ = n_;
  old->reset(now_);
  store_release(&now_, made.release());
}

std::vector<keyed_value> fallback_table::entries() const {
  std::vector<keyed_value> all;
  for (const slot& each : now_->slots) {
    if (each.state <= gone) continue;
    all.push_back({{each.high, each.low}, static_cast<std::uint16_t>(each.state)});
  }
  std::sort(all.begin(), all.end(),
            [](const keyed_value& a, const keyed_value& b) { return before(a.hash, b.hash); });
  return all;
}

std::uint64_t fallback_table::bytes() const noexcept {
  return sizeof(array) + now_->slots.size() * sizeof(slot);
}

}  // namespace coua::setsep
