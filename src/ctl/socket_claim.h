// SPDX-License-Identifier: Apache-2.0
//
// The right to listen on a path. Two daemons on one socket would take each other's clients, so the
// path is claimed by a lock on "PATH.lock" before anything else starts. The kernel drops the lock
// when its holder dies, however it dies: what a dead daemon left behind is replaced.
#pragma once

#include <string>

#include "base/result.h"

namespace coua::ctl {

class socket_claim {
 public:
  /// Makes the directory if it is missing (0750 for root, else 0700; only the last part of the
  /// path), takes the lock, and removes a stale socket. Errors: busy (another daemon listens there;
  /// says its process number where it is known), invalid (path too long, or something that is not a
  /// socket is in the way), denied, io. They name the setting that says another path.
  static result<socket_claim> take(const std::string& path,
                                   const std::string& setting = "api.socket");

  socket_claim(socket_claim&& other) noexcept;
  socket_claim& operator=(socket_claim&&) = delete;
  /// Removes the socket and the lock.
  ~socket_claim();

  const std::string& path() const { return path_; }

 private:
  socket_claim(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

}  // namespace coua::ctl
