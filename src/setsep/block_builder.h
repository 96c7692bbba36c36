// SPDX-License-Identifier: Apache-2.0
//
// Makes one block of a table of all keys that belong to it.
#pragma once

#include <span>
#include <vector>

#include "setsep/geometry.h"
#include "simd/index_search/kernels.h"

namespace coua::setsep {

struct keyed_value {
  key_hash hash;
  std::uint16_t value = 0;
  bool operator==(const keyed_value&) const = default;
};

class block_builder {
 public:
  block_builder(const layout& of, isa instruction_set);

  /// Writes of.block_bytes() bytes to `to`. Keys of groups for which no function was found are
  /// appended to `fallback`. No key comes twice.
  void build(std::span<const keyed_value> keys, std::uint8_t* to,
             std::vector<keyed_value>& fallback);

 private:
  bool build_group(std::span<const keyed_value* const> keys, std::uint8_t* to);

  const layout layout_;
  const simd::index_search_kernel search_;
  std::vector<std::vector<const keyed_value*>> groups_;
  std::vector<std::uint32_t> base_, step_;
};

}  // namespace coua::setsep
