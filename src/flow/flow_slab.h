// SPDX-License-Identifier: Apache-2.0
//
// Cells of equal size at addresses that stay, taken and given back by number. The numbers of free
// cells form a stack: the cell given back last, which is most likely in the cache, is taken first.
// One thread takes and gives; any thread may use the cells that it was told of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "base/result.h"

namespace coua {

class flow_slab {
 public:
  /// `n` 1 to 2^32 - 3, `cell_bytes` 1 to 2^20. Errors: invalid, and those of arena::create.
  static result<flow_slab> create(std::uint64_t n, std::size_t cell_bytes);

  bool take(std::uint32_t& index);
  /// False when the cell is not taken.
  bool give(std::uint32_t index);
  void* cell(std::uint32_t index) const {
    return static_cast<char*>(memory_.data()) + index * cell_bytes_;
  }
  std::uint64_t taken() const { return n_taken_; }

 private:
  flow_slab(std::uint32_t n, std::size_t cell_bytes, arena memory)
      : n_(n), cell_bytes_(cell_bytes), memory_(std::move(memory)), next_(n) {}

  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t in_use = UINT32_MAX - 1;

  std::uint32_t n_;
  std::size_t cell_bytes_;
  arena memory_;
  // Of a free cell the next lower one of the stack, of a taken one `in_use`. Cells from n_fresh_
  // on were never taken.
  std::vector<std::uint32_t> next_;
  std::uint32_t top_ = none;
  std::uint32_t n_fresh_ = 0;
  std::uint64_t n_taken_ = 0;
};

}  // namespace coua
