// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_slab.h"

namespace coua {

result<flow_slab> flow_slab::create(std::uint64_t n, std::size_t cell_bytes) {
  if (n == 0 || n >= in_use) return fail(errc::invalid, "n", "must be 1 to 2^32 - 3");
  if (cell_bytes == 0 || cell_bytes > std::size_t{1} << 20) {
    return fail(errc::invalid, "cell_bytes", "must be 1 to 2^20");
  }
  auto memory = arena::create(n * cell_bytes, {}, 64);
  if (!memory) return tl::unexpected(memory.error());
  return flow_slab(static_cast<std::uint32_t>(n), cell_bytes, std::move(*memory));
}

bool flow_slab::take(std::uint32_t& index) {
  if (top_ != none) {
    index = top_;
    top_ = next_[index];
  } else if (n_fresh_ < n_) {
    index = n_fresh_++;
  } else {
    return false;
  }
  next_[index] = in_use;
  ++n_taken_;
  return true;
}

bool flow_slab::give(std::uint32_t index) {
  if (index >= n_fresh_ || next_[index] != in_use) return false;
  next_[index] = top_;
  top_ = index;
  --n_taken_;
  return true;
}

}  // namespace coua
