// SPDX-License-Identifier: Apache-2.0
#include "setsep/keys_of_block.h"

namespace coua::setsep {

std::uint16_t* keys_of_block::find(const key_hash& hash) noexcept {
  for (std::uint16_t i = first_[bucket_of(hash)]; i != none; i = slots_[i].next) {
    if (slots_[i].hash == hash) return &slots_[i].value;
  }
  return nullptr;
}

void keys_of_block::add(const keyed_value& key) {
  std::uint16_t& first = first_[bucket_of(key.hash)];
  std::uint16_t at = free_;
  if (at != none) {
    free_ = slots_[at].next;
    slots_[at] = {key.hash, key.value, first};
  } else {
    at = static_cast<std::uint16_t>(slots_.size());
    // An eighth more, not twice as much: blocks hardly grow.
    if (slots_.size() == slots_.capacity()) slots_.reserve(slots_.size() + slots_.size() / 8 + 16);
    slots_.push_back({key.hash, key.value, first});
  }
  first = at;
  ++sizes_[bucket_of(key.hash)];
  ++n_;
}

bool keys_of_block::remove(const key_hash& hash) noexcept {
  for (std::uint16_t* link = &first_[bucket_of(hash)]; *link != none; link = &slots_[*link].next) {
    const std::uint16_t at = *link;
    if (slots_[at].hash != hash) continue;
    *link = slots_[at].next;
    slots_[at].next = free_;
    free_ = at;
    --sizes_[bucket_of(hash)];
    --n_;
    return true;
  }
  return false;
}

}  // namespace coua::setsep
