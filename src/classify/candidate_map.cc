// SPDX-License-Identifier: Apache-2.0
#include "classify/candidate_map.h"

#include <algorithm>
#include <bitset>

namespace coua {
namespace {

std::uint8_t byte_of(const wide_words& words, unsigned byte) {
  return reinterpret_cast<const std::uint8_t*>(words.words)[byte];
}

/// Calls `each(value)` for the values of a byte that agree with `key` where `mask` is set.
template <class Each>
void each_value(std::uint8_t key, std::uint8_t mask, Each each) {
  const unsigned free = static_cast<std::uint8_t>(~mask);
  for (unsigned bits = free;; bits = (bits - 1) & free) {
    each(key | bits);
    if (bits == 0) break;
  }
}

}  // namespace

std::vector<std::uint8_t> candidate_map::choose_bytes(const std::vector<subtable*>& tables,
                                                      unsigned n_words) {
  std::vector<std::pair<unsigned, std::uint8_t>> used;
  for (unsigned byte = 0; byte < 8 * n_words; ++byte) {
    unsigned n_bits = 0;
    for (const subtable* table : tables) {
      n_bits += static_cast<unsigned>(std::popcount(byte_of(table->whole_mask(), byte)));
    }
    if (n_bits > 0) used.emplace_back(n_bits, static_cast<std::uint8_t>(byte));
  }
  std::stable_sort(used.begin(), used.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (used.size() > max_bytes) used.resize(max_bytes);
  std::vector<std::uint8_t> bytes;
  for (const auto& [n_bits, byte] : used) bytes.push_back(byte);
  std::sort(bytes.begin(), bytes.end());
  return bytes;
}

bool candidate_map::should_look_at(const wide_words& mask, unsigned n_words) const {
  if (bytes_.size() == max_bytes) return false;
  for (unsigned byte = 0; byte < 8 * n_words; ++byte) {
    const bool known = std::binary_search(bytes_.begin(), bytes_.end(), byte);
    if (!known && byte_of(mask, byte) != 0) return true;
  }
  return false;
}

void candidate_map::put(std::size_t byte, unsigned value, subtable_id id, bool set) {
  std::uint64_t* const at = word(byte, value, id);
  const std::uint64_t bit = std::uint64_t{1} << id % 64;
  const std::uint64_t before = load_relaxed(at);
  const std::uint64_t after = set ? before | bit : before & ~bit;
  if (after != before) store_release(at, after);
}

void candidate_map::add(subtable_id id, const wide_words& key, const wide_words& mask) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const std::uint8_t bits = byte_of(mask, bytes_[i]);
    // All rules of a subtable leave the same bits out: the first one set the whole column.
    if (bits == 0 && (load_relaxed(word(i, 255, id)) >> id % 64 & 1) != 0) continue;
    each_value(byte_of(key, bytes_[i]), bits, [&](unsigned value) { put(i, value, id, true); });
  }
}

void candidate_map::renew(const subtable& table) {
  const compact_mask& mask = table.mask();
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    const unsigned at_word = bytes_[i] / 8, shift = 8 * (bytes_[i] % 8);
    unsigned part = 0;
    while (part < mask.n() && mask.at(part) != at_word) ++part;
    const std::uint8_t bits = byte_of(table.whole_mask(), bytes_[i]);
    std::bitset<256> values;
    if (part == mask.n() || bits == 0) {
      if (table.n_rules() != 0) values.set();
    } else {
      std::bitset<256> keys;
      for (std::size_t at = 0; at < table.n_rules(); ++at) {
        keys.set(table.key(static_cast<subtable::position>(at))[part] >> shift & 0xff);
      }
      for (unsigned key = 0; key < 256; ++key) {
        if (!keys[key]) continue;
        each_value(static_cast<std::uint8_t>(key), bits, [&](unsigned v) { values.set(v); });
      }
    }
    for (unsigned value = 0; value < 256; ++value) put(i, value, table.id(), values[value]);
  }
}

void candidate_map::clear(subtable_id id) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    for (unsigned value = 0; value < 256; ++value) put(i, value, id, false);
  }
}

}  // namespace coua
