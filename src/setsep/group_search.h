// SPDX-License-Identifier: Apache-2.0
//
// Makes the record of a group of the keys that are in it, and changes one when its keys change: of
// the bits of the value only those are searched for whose function does not serve any more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "setsep/keyed_value.h"
#include "simd/index_search/kernels.h"

namespace coua::setsep {

class group_search {
 public:
  /// More keys than this fail without a search: among all functions hardly one separates them, and
  /// the time of a change has a limit.
  static constexpr std::size_t keys_max = 40;

  group_search(const layout& of, isa instruction_set);

  /// Writes a record of group_bytes() bytes; false: no function separates the keys, and the record
  /// says so. No key comes twice.
  bool make(std::span<const keyed_value> keys, std::uint8_t* record);
  /// The same, of a record that serves some of these keys already.
  bool adapt(std::span<const keyed_value> keys, std::uint8_t* record);
  bool failed(const std::uint8_t* record) const {
    return load_part(layout_, record).index == layout_.failed();
  }

 private:
  enum class from { nothing, record };
  bool find_part(std::span<const keyed_value> keys, unsigned bit, std::uint8_t* part, from what);
  bool fail(std::uint8_t* record) const;

  const layout layout_;
  const simd::index_search_kernel search_;
  std::vector<std::uint32_t> base_, step_;
};

}  // namespace coua::setsep
