// SPDX-License-Identifier: Apache-2.0
//
// Whether a sanitizer keeps a shadow of all memory: it writes to that of whatever is mapped, and
// has its own idea of how much memory there may be.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COUA_HAS_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUA_HAS_SHADOW 1
#endif
#endif
#ifndef COUA_HAS_SHADOW
#define COUA_HAS_SHADOW 0
#endif
