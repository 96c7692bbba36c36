/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ctl/ofp/subfield_text.h"

#include <nx-match.h>
#include <stdlib.h>

bool coua_read_subfield(const char* text, struct mf_subfield* made) {
  char* wrong = mf_parse_subfield(made, text);
  free(wrong);
  return wrong == NULL;
}
