// SPDX-License-Identifier: Apache-2.0
#include "setsep/group_search.h"

namespace coua::setsep {

group_search::group_search(const layout& of, isa instruction_set)
    : layout_(of), search_(simd::select_index_search(instruction_set)) {}

bool group_search::make(std::span<const keyed_value> keys, std::uint8_t* record) {
  if (keys.size() > keys_max) return fail(record);
  for (unsigned bit = 0; bit < layout_.value_bits; ++bit) {
    if (!find_part(keys, bit, record + bit * layout_.part_bytes(), from::nothing)) {
      return fail(record);
    }
  }
  return true;
}

bool group_search::adapt(std::span<const keyed_value> keys, std::uint8_t* record) {
  if (failed(record)) return make(keys, record);
  if (keys.size() > keys_max) return fail(record);
  for (unsigned bit = 0; bit < layout_.value_bits; ++bit) {
    if (!find_part(keys, bit, record + bit * layout_.part_bytes(), from::record)) {
      return fail(record);
    }
  }
  return true;
}

bool group_search::find_part(std::span<const keyed_value> keys, unsigned bit, std::uint8_t* part,
                             from what) {
  base_.resize(keys.size());
  step_.resize(keys.size());
  // Ones from the front, the others from the back.
  std::size_t n_ones = 0, end = keys.size();
  for (const keyed_value& each : keys) {
    const std::size_t at = (each.value >> bit & 1) != 0 ? n_ones++ : --end;
    base_[at] = base_of(each.hash);
    step_[at] = step_of(each.hash);
  }
  if (what == from::record) {
    // The same function with another array may do.
    const std::uint32_t index = load_part(layout_, part).index;
    std::uint32_t ones = 0, zeros = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint32_t place = (base_[i] + index * step_[i]) >> (32 - layout_.place_bits());
      (i < n_ones ? ones : zeros) |= std::uint32_t{1} << place;
    }
    if ((ones & zeros) == 0) {
      // Places that no key has any more stay: what does not change is not in the delta.
      const std::uint32_t before = load_part(layout_, part).places;
      if ((before & zeros) != 0 || (~before & ones) != 0) store_part(layout_, part, {index, ones});
      return true;
    }
  }
  const simd::separation found = search_({base_.data(), step_.data(), static_cast<unsigned>(n_ones),
                                          static_cast<unsigned>(keys.size())},
                                         layout_.place_bits(), layout_.failed() + 1);
  if (found.index >= layout_.failed()) return false;
  store_part(layout_, part, {found.index, found.places});
  return true;
}

/// All of the record, so that what it is does not depend on what it was.
bool group_search::fail(std::uint8_t* record) const {
  for (unsigned bit = 0; bit < layout_.value_bits; ++bit) {
    store_part(layout_, record + bit * layout_.part_bytes(), {layout_.failed(), 0});
  }
  return false;
}

}  // namespace coua::setsep
