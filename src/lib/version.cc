// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "coua/common.h"

// Two macros, since # takes a macro by its name.
#define COUA_TEXT_OF(number) #number
#define COUA_JOINED(major, minor, patch) \
  COUA_TEXT_OF(major) "." COUA_TEXT_OF(minor) "." COUA_TEXT_OF(patch)

static_assert(COUA_JOINED(COUA_VERSION_MAJOR, COUA_VERSION_MINOR, COUA_VERSION_PATCH) ==
              std::string_view(COUA_VERSION));

extern "C" const char* coua_version() { return COUA_VERSION; }
