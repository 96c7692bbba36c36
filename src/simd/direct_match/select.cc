// SPDX-License-Identifier: Apache-2.0
#include "simd/direct_match/kernels.h"

namespace coua::simd {

direct_match_kernel select_direct_match(isa instruction_set) {
#if defined(__x86_64__)
  if (instruction_set == isa::avx512) return &avx512_direct_match;
  if (instruction_set == isa::avx2) return &avx2_direct_match;
#endif
  (void)instruction_set;
  return &generic_direct_match;
}

}  // namespace coua::simd
