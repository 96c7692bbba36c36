/* SPDX-License-Identifier: Apache-2.0 */
/* What all headers of libcoua share. */
#ifndef COUA_COMMON_H
#define COUA_COMMON_H

#if defined(__GNUC__)
#define COUA_API __attribute__((visibility("default")))
#else
#define COUA_API
#endif

/* In C++ the enums that a caller passes hold any int: a value that is not in the list is refused,
 * not undefined. */
#ifdef __cplusplus
#define COUA_ANY_INT : int
#else
#define COUA_ANY_INT
#endif

/* Of these headers; meson.build has the same. */
#define COUA_VERSION_MAJOR 0
#define COUA_VERSION_MINOR 1
#define COUA_VERSION_PATCH 0
#define COUA_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* COUA_VERSION of the library that runs, which may be another one than that of the headers. [any]
 */
COUA_API const char* coua_version(void);

#ifdef __cplusplus
}
#endif
#endif
