// SPDX-License-Identifier: Apache-2.0
//
// The built-in sets of kernels. `shape` is an enum flow_shapes of kernel_sets.h.
#pragma once

#include "simd/flow_lookup/kernels.h"
#include "simd/flow_lookup/probes.h"

// A vector load of words that a writer changes is a data race for the sanitizer; it only nominates
// (steps.h), so it sits in one function that the sanitizer does not look into.
#if defined(__SANITIZE_THREAD__)
#define COUA_FLOW_NOMINATE [[gnu::noinline]] __attribute__((no_sanitize("thread")))
#else
#define COUA_FLOW_NOMINATE [[gnu::always_inline]] inline
#endif

namespace coua::simd {

const flow_kernels& generic_flow_kernels(flow_kind kind, unsigned shape);
const flow_kernels& avx2_flow_kernels(flow_kind kind, unsigned shape);
/// Of flow_variant::bloom only.
const flow_kernels& avx512_bloom_kernels(flow_kind kind, unsigned shape);

flow_probe_kernel generic_flow_probes();
flow_probe_kernel avx2_flow_probes();

}  // namespace coua::simd
