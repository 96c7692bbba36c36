// SPDX-License-Identifier: Apache-2.0
//
// Makes one block of a table of all keys that belong to it.
#pragma once

#include <span>
#include <vector>

#include "setsep/group_search.h"
#include "setsep/keyed_value.h"

namespace coua::setsep {

class block_builder {
 public:
  block_builder(const layout& of, isa instruction_set);

  /// Writes of.block_bytes() bytes to `to`. Keys of groups for which no function was found are
  /// appended to `fallback`. No key comes twice.
  void build(std::span<const keyed_value> keys, std::uint8_t* to,
             std::vector<keyed_value>& fallback);

 private:
  const layout layout_;
  group_search search_;
  std::vector<std::vector<keyed_value>> groups_;
};

}  // namespace coua::setsep
