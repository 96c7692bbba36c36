// SPDX-License-Identifier: Apache-2.0
//
// Whoever makes a Unix socket takes away what another one left at its path, and nothing else.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"

namespace coua {

/// Error: invalid, where something that is no socket is at the path. `what` names it for the error.
inline result<void> check_socket_place(const std::string& path, const std::string& what) {
  struct stat there {};
  if (lstat(path.c_str(), &there) != 0 || S_ISSOCK(there.st_mode)) return {};
  return fail(errc::invalid, what, "is there already and is not a socket; remove it");
}

}  // namespace coua
