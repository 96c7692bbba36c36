/* SPDX-License-Identifier: Apache-2.0
 *
 * Headers of fields on the wire, as the library knows them; its own header for this is C only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mf_field;

#ifdef __cplusplus
extern "C" {
#endif

/* The field of a header of 32 bits (no experimenter's); NULL: there is none with this class, number
 * and length. */
const struct mf_field* coua_field_of(uint32_t oxm_header);

/* Whether the library has this field, but with another length. */
bool coua_has_wrong_length(uint32_t oxm_header);

#ifdef __cplusplus
}
#endif
