// SPDX-License-Identifier: Apache-2.0
#include "simd/setsep_lookup/kernels.h"

namespace coua::simd {

const setsep_kernels& select_setsep_kernels(isa instruction_set, std::uint64_t table_bytes) {
#if defined(__x86_64__)
  // Vectors of 16 words are put together word by word, which takes longer than the arithmetic: on
  // an EPYC with AVX-512 they were 6 to 30 % slower in tables near the second-level cache, and no
  // faster in larger ones.
  if (table_bytes < std::uint64_t{1} << 31 && instruction_set >= isa::avx2) {
    return avx2_setsep_kernels;
  }
#endif
  (void)instruction_set;
  (void)table_bytes;
  return generic_setsep_kernels;
}

}  // namespace coua::simd
