// SPDX-License-Identifier: Apache-2.0
#include "simd/distributor/kernel_impl.h"

namespace coua::simd {
namespace {

struct generic_hint_match {
  [[gnu::always_inline]] static std::uint32_t find(const hint_line& first, const hint_line& second,
                                                   std::uint16_t signature) noexcept {
    std::uint32_t found = 0;
    for (unsigned i = 0; i < hint_line::n_slots; ++i) {
      found |= std::uint32_t{first.signatures[i] == signature} << i;
      found |= std::uint32_t{second.signatures[i] == signature} << (hint_line::n_slots + i);
    }
    return found;
  }
};

}  // namespace

const hint_kernels generic_hints = {"generic", &find_hints<generic_hint_match>};

}  // namespace coua::simd
