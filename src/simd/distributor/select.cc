// SPDX-License-Identifier: Apache-2.0
#include "simd/distributor/kernels.h"

namespace coua::simd {

const hint_kernels& select_hint_kernels(isa instruction_set) {
#if defined(__x86_64__)
  if (instruction_set == isa::avx512) return avx512_hints;
  if (instruction_set == isa::avx2) return avx2_hints;
#endif
  (void)instruction_set;
  return generic_hints;
}

}  // namespace coua::simd
