/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ctl/ofp/oxm_header.h"

#include <nx-match.h>

enum { length_bits = 0xff, has_mask = 0x100, field_bytes_max = 16 };

const struct mf_field* coua_field_of(uint32_t oxm_header) {
  /* A value and a mask are of one length. */
  if ((oxm_header & has_mask) != 0 && oxm_header % 2 != 0) return NULL;
  return mf_from_nxm_header(oxm_header, NULL);
}

bool coua_has_wrong_length(uint32_t oxm_header) {
  if (coua_field_of(oxm_header) != NULL) return false;
  uint32_t field = oxm_header & ~(uint32_t)(has_mask | length_bits);
  for (uint32_t length = 1; length <= field_bytes_max; ++length) {
    if (mf_from_nxm_header(field | length, NULL) != NULL) return true;
  }
  return false;
}
