// SPDX-License-Identifier: Apache-2.0
//
// The interfaces of the kernel that a port stands on, which it has alone: what one port receives
// another one on its interface would receive too, and each frame would be switched twice. Of
// AF_XDP, the driver of DPDK 22.11 takes the XDP program away from an interface whenever a port on
// it is closed, so that another port would receive nothing any more.
//
// They are known by the names that devargs say, and by the numbers that the kernel has for them: it
// may have several names for one.
//
// A TAP interface is made by its port. One that is up before has it from another program.
//
// What was an AF_XDP port's is not free at once: the kernel gives up the queue of a socket some
// time after that was closed, in a thread of its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace coua::dp {

/// Holds interfaces of this process for a port; an empty one holds none. Thread: the one that adds
/// and removes ports.
class held_interfaces {
 public:
  /// How long the kernel may still have the queue of a port that went.
  static constexpr std::uint64_t is_left_ns = 3'000'000'000;

  held_interfaces() = default;
  held_interfaces(held_interfaces&& other) noexcept;
  held_interfaces& operator=(held_interfaces&& other) noexcept;
  ~held_interfaces() { give_back(); }

  /// Those in devargs (devargs.h). `port`: whose they are to be, for messages. Errors: exists
  /// (another port has one, or another program a TAP interface that is up).
  static result<held_interfaces> take(const std::string& devargs, const std::string& port);

  /// The port has just closed a socket of AF_XDP on them.
  void left_queue() const;
  /// A port closed such a socket on one not long ago.
  bool was_left_lately() const;

 private:
  void give_back();

  std::vector<std::string> names_;
};

}  // namespace coua::dp
