// SPDX-License-Identifier: Apache-2.0
//
// The keys of each block, one after the other, by several threads: each counts those of its share
// by block, and when all know where theirs begin, each puts its own there. That is as many places
// as there are blocks, so the keys lie on huge pages where there are any.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.h"
#include "setsep/keyed_value.h"

namespace coua::setsep {

class sorted_keys {
 public:
  /// Throws bad_alloc.
  sorted_keys(std::span<const keyed_value> keys, extent blocks, unsigned threads);
  std::span<const keyed_value> of(std::uint64_t block) const {
    return {keys() + begin_[block], begin_[block + 1] - begin_[block]};
  }

 private:
  keyed_value* keys() const { return static_cast<keyed_value*>(memory_.data()); }

  std::vector<std::uint64_t> begin_;  // by block, and the end
  arena memory_;
};

}  // namespace coua::setsep
