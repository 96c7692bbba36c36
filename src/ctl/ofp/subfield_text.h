/* SPDX-License-Identifier: Apache-2.0
 *
 * "reg0[4..7]" as the library reads it; its own header for this is C only.
 */
#pragma once

#include <stdbool.h>

struct mf_subfield;

#ifdef __cplusplus
extern "C" {
#endif

bool coua_read_subfield(const char* text, struct mf_subfield* made);

#ifdef __cplusplus
}
#endif
