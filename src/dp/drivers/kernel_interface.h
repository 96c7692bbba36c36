// SPDX-License-Identifier: Apache-2.0
//
// The interface of the kernel that a device of DPDK stands on, and what the kernel says of it.
// Drivers know little: net_af_packet and net_af_xdp of DPDK 22.11 say that their link is up for as
// long as they run, and net_tap looks its interface up by name, wherever the process is.
//
//   in our namespace, by the index that the driver has   up or down, as its flags say
//   else, of a TAP whose files are alive                 hidden: moved (a host's) or renamed
//   else                                                 gone, for good: the driver's sockets and
//                                                        files are bound to nothing any more, and
//                                                        another interface of this name or index
//                                                        is another one
//
// Nothing here waits for the kernel's lock of network devices, which those who make and end
// namespaces hold for long: flags are read without it, and so is whether a file's TAP is alive.
#pragma once

#include <string>

namespace coua::dp {

class kernel_interface {
 public:
  enum class state { up, down, hidden, gone };

  kernel_interface() = default;  // of a device that has none
  /// Of a driver's device, by what the driver says of it (rte_eth_dev_info); index 0 and other
  /// drivers: none. A TAP's files are open.
  static kernel_interface of(const std::string& driver, unsigned index);

  bool any() const { return index_ != 0; }
  state look() const;

 private:
  unsigned index_ = 0;
  std::string tap_;    // the name by which net_tap asks for it; empty: it is no TAP
  int tap_file_ = -1;  // one of the driver's, which stays open as long as the device is there
};

}  // namespace coua::dp
