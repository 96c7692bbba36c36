// SPDX-License-Identifier: Apache-2.0
#include "simd/lpm_lookup/kernels.h"

namespace coua::simd {

lpm_kernels select_lpm(isa instruction_set) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  if (instruction_set == isa::avx512) return {&avx512_lpm_ipv4, &avx512_lpm_ipv6};
#endif
  (void)instruction_set;
  return {nullptr, nullptr};
}

}  // namespace coua::simd
