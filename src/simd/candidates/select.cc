// SPDX-License-Identifier: Apache-2.0
#include "simd/candidates/kernels.h"

namespace coua::simd {

candidate_kernel select_candidates(isa instruction_set) {
#if defined(__x86_64__)
  if (instruction_set == isa::avx512) return &avx512_candidates;
  if (instruction_set == isa::avx2) return &avx2_candidates;
#endif
  (void)instruction_set;
  return &generic_candidates;
}

}  // namespace coua::simd
