// SPDX-License-Identifier: Apache-2.0
#include "simd/set_match/kernels.h"

namespace coua::simd {

set_match_kernel select_set_match(isa instruction_set) {
#if defined(__x86_64__)
  // A group is a vector of AVX2, and there are few: wider ones would be half empty.
  if (instruction_set >= isa::avx2) return &avx2_set_match;
#endif
  (void)instruction_set;
  return &generic_set_match;
}

}  // namespace coua::simd
