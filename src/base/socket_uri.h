// SPDX-License-Identifier: Apache-2.0
//
// The path of a Unix socket as gRPC reads it, which is a URI (RFC 3986): all but what stands for
// itself there is escaped.
#pragma once

#include <cstdio>
#include <string>

namespace coua {

inline std::string socket_uri(const std::string& path) {
  std::string made = "unix:";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~' ||
                          c == '/';
    if (is_plain) {
      made += c;
    } else {
      char escaped[4];
      std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<unsigned char>(c));
      made += escaped;
    }
  }
  return made;
}

}  // namespace coua
