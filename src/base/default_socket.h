// SPDX-License-Identifier: Apache-2.0
//
// Where the daemon listens and its clients look when nobody says otherwise.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace coua {

/// Bytes that the path of a Unix socket may have (sun_path of Linux, without its end).
inline constexpr std::size_t socket_path_max = 107;

/// Of the daemon that root runs; the members of its group may use it.
inline constexpr const char* system_socket = "/run/coua/couad.sock";

/// Where a daemon listens: `system_socket` for root, else in $XDG_RUNTIME_DIR, else in
/// /tmp/coua-UID.
inline std::string default_socket() {
  if (geteuid() == 0) return system_socket;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/coua/couad.sock";
  return "/tmp/coua-" + std::to_string(geteuid()) + "/couad.sock";
}

/// Where a client looks: at this user's own daemon; where there is none, at root's, if it may.
inline std::string socket_to_ask() {
  const std::string own = default_socket();
  struct stat of {};  // below /tmp it may be another user's
  const bool is_there =
      lstat(own.c_str(), &of) == 0 && S_ISSOCK(of.st_mode) && of.st_uid == geteuid();
  return !is_there && access(system_socket, R_OK | W_OK) == 0 ? system_socket : own;
}

}  // namespace coua
