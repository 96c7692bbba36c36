// SPDX-License-Identifier: Apache-2.0
//
// Errors as the C API returns them.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/result.h"

namespace coua {

inline int errno_of(errc code) {
  switch (code) {
    case errc::invalid: return EINVAL;
    case errc::no_memory: return ENOMEM;
    case errc::denied: return EPERM;
    case errc::unsupported: return ENOTSUP;
    case errc::interrupted: return ECANCELED;
    case errc::not_found: return ENOENT;
    case errc::exists: return EEXIST;
    case errc::no_room: return ENOSPC;
    case errc::busy: return EBUSY;
    case errc::unavailable: return EAGAIN;
    case errc::io: return EIO;
  }
  return EIO;
}

/// Writes the text for the caller; returns -code.
inline int refuse(int code, const std::string& text, char* message, std::size_t message_bytes) {
  if (message != nullptr && message_bytes > 0) {
    std::snprintf(message, message_bytes, "%s", text.c_str());
  }
  return -code;
}

}  // namespace coua
