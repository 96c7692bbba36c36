// SPDX-License-Identifier: Apache-2.0
//
// Where the daemon listens and its clients look when nobody says otherwise.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace coua {

/// Bytes that the path of a Unix socket may have (sun_path of Linux, without its end).
inline constexpr std::size_t socket_path_max = 107;

/// "/run/coua/couad.sock" for root, else in $XDG_RUNTIME_DIR, else in /tmp/coua-UID.
inline std::string default_socket() {
  if (geteuid() == 0) return "/run/coua/couad.sock";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/coua/couad.sock";
  return "/tmp/coua-" + std::to_string(geteuid()) + "/couad.sock";
}

}  // namespace coua
