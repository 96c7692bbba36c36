// SPDX-License-Identifier: Apache-2.0
//
// COUA_ASSERT for bugs, in debug builds only; COUA_CHECK for bugs that must never pass unseen
// (not per packet). Bad input is not a bug: it is answered with a result or an error number.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace coua::detail {
[[noreturn, gnu::cold, gnu::noinline]] inline void check_failed(const char* what, const char* file,
                                                                int line) {
  std::fprintf(stderr, "coua: bug: %s at %s:%d\n", what, file, line);
  std::abort();
}
}  // namespace coua::detail

#define COUA_CHECK(condition) \
  ((condition) ? void(0) : ::coua::detail::check_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define COUA_ASSERT(condition) void(0)
#else
#define COUA_ASSERT(condition) COUA_CHECK(condition)
#endif
