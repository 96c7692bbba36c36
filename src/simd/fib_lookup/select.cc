// SPDX-License-Identifier: Apache-2.0
#include "simd/fib_lookup/sets.h"

namespace coua::simd {

const fib_kernels& select_fib_kernels(fib_layout layout, isa instruction_set, distance where) {
  const fib_kernels* sets = generic_fib_kernels();
#if defined(__x86_64__)
  if (instruction_set == isa::avx2) sets = avx2_fib_kernels();
  if (instruction_set == isa::avx512) sets = avx512_fib_kernels();
#endif
  return sets[static_cast<int>(where) * n_layouts + static_cast<int>(layout)];
}

}  // namespace coua::simd
