// SPDX-License-Identifier: Apache-2.0
#include "simd/crc32c/kernels.h"

namespace coua::simd {

crc32c_kernel select_crc32c(isa instruction_set) {
#if defined(__x86_64__)
  if (instruction_set >= isa::avx2) return &avx2_crc32c;
#endif
  (void)instruction_set;
  return &generic_crc32c;
}

}  // namespace coua::simd
