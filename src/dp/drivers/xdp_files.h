// SPDX-License-Identifier: Apache-2.0
//
// Files that the AF_XDP driver of DPDK 22.11 opens for a port and leaves open when the port is
// closed: the socket, which keeps the queue of its interface taken, so that the port could not come
// back before the process ends, and the XDP program and its map.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace coua::dp {

/// Not for ports of other drivers. Thread: the one that adds and removes ports.
class xdp_files {
 public:
  /// Before the driver opens them.
  void begin();
  /// After it opened them.
  void end();
  /// The sockets among them.
  std::vector<int> sockets();
  /// Closes the port by `driver`, and what that leaves: files that it opened, also while it closes
  /// the port, when it opens the program once more.
  void close_by(const std::function<void()>& driver);

 private:
  struct file {
    int number;
    std::uint64_t inode;
    bool operator==(const file&) const = default;
  };
  static std::vector<file> open_now();

  std::vector<file> before_, opened_;
  bool begun_ = false, ended_ = false;
};

}  // namespace coua::dp
