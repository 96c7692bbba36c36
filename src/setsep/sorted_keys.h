// SPDX-License-Identifier: Apache-2.0
//
// The keys of each block, one after the other, by several threads: each counts those of its share
// by block, and when all know where theirs begin, each puts its own there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "setsep/keyed_value.h"

namespace coua::setsep {

class sorted_keys {
 public:
  /// Throws bad_alloc.
  sorted_keys(std::span<const keyed_value> keys, extent blocks, unsigned threads);
  std::span<const keyed_value> of(std::uint64_t block) const {
    return {keys_.get() + begin_[block], begin_[block + 1] - begin_[block]};
  }

 private:
  std::vector<std::uint64_t> begin_;  // by block, and the end
  std::unique_ptr<keyed_value[]> keys_;
};

}  // namespace coua::setsep
