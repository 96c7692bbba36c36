// SPDX-License-Identifier: Apache-2.0
#include "simd/setsep_lookup/kernels.h"

namespace coua::simd {

const setsep_kernels& select_setsep_kernels(isa instruction_set, std::uint64_t table_bytes) {
#if defined(__x86_64__)
  if (table_bytes < std::uint64_t{1} << 31) {
    if (instruction_set == isa::avx512) return avx512_setsep_kernels;
    if (instruction_set == isa::avx2) return avx2_setsep_kernels;
  }
#endif
  (void)instruction_set;
  (void)table_bytes;
  return generic_setsep_kernels;
}

}  // namespace coua::simd
