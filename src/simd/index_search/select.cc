// SPDX-License-Identifier: Apache-2.0
#include "simd/index_search/kernels.h"

namespace coua::simd {

index_search_kernel select_index_search(isa instruction_set) {
#if defined(__x86_64__)
  if (instruction_set == isa::avx512) return &avx512_index_search;
  if (instruction_set == isa::avx2) return &avx2_index_search;
#endif
  (void)instruction_set;
  return &generic_index_search;
}

}  // namespace coua::simd
