// SPDX-License-Identifier: Apache-2.0
//
// The network interface of an AF_XDP port, which has it alone: the driver of DPDK 22.11 takes the
// XDP program away from an interface whenever a port on it is closed, and another port that used it
// would receive nothing any more.
//
// What was a port's is not free at once: the kernel gives up the queue of a socket some time after
// that was closed, in a thread of its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace coua::dp {

/// Holds an interface of this process for a port; an empty one holds none. Thread: the one that
/// adds and removes ports.
class xdp_interface {
 public:
  /// How long the kernel may still have the queue of a port that went.
  static constexpr std::uint64_t is_left_ns = 3'000'000'000;

  xdp_interface() = default;
  xdp_interface(xdp_interface&& other) noexcept;
  xdp_interface& operator=(xdp_interface&& other) noexcept;
  ~xdp_interface() { give_back(); }

  /// That of `iface=` in devargs; those of other drivers name none. `port`: whose it is to be, for
  /// messages. Errors: exists (another port has it).
  static result<xdp_interface> take(const std::string& devargs, const std::string& port);

  /// The port has just closed a socket on it.
  void left_queue() const;
  /// A port closed a socket on it not long ago.
  bool was_left_lately() const;

 private:
  explicit xdp_interface(std::string name) : name_(std::move(name)) {}
  void give_back();

  std::string name_;
};

}  // namespace coua::dp
