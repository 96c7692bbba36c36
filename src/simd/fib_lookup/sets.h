// SPDX-License-Identifier: Apache-2.0
//
// The built-in sets of kernels, each an array indexed by distance and layout.
#pragma once

#include "simd/fib_lookup/kernels.h"

// A vector load of words that a writer changes is a data race for the sanitizer; it only nominates
// (kernel_impl.h), so it sits in one function that the sanitizer does not look into.
#if defined(__SANITIZE_THREAD__)
#define COUA_NOMINATE [[gnu::noinline]] __attribute__((no_sanitize("thread")))
#else
#define COUA_NOMINATE [[gnu::always_inline]] inline
#endif

namespace coua::simd {

const fib_kernels* generic_fib_kernels();
const fib_kernels* avx2_fib_kernels();
const fib_kernels* avx512_fib_kernels();

}  // namespace coua::simd
