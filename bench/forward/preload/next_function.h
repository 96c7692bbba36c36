// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstdlib>

/// Of a function that stands before one of DPDK's.
#define COUA_BENCH_SEEN __attribute__((visibility("default")))

namespace coua::bench {

/// The function of this name in the library behind this one.
template <typename F>
F* next_function(F* /*ours*/, const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<F*>(found);
}

}  // namespace coua::bench
