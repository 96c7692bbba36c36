// SPDX-License-Identifier: Apache-2.0
//
// Sockets on which the net_memif driver of DPDK 22.11 listens (role=server), and which it leaves
// open when the last of their ports is closed: the address stays taken, so that the port could not
// come back before the process ends. Their handlers stay with DPDK's interrupt thread, too, and
// would be called with the driver's freed memory. A handler can only be taken away by who knows it,
// and it is the driver's alone; so this file stands in front of rte_intr_callback_register(), and
// notes it.
#pragma once

namespace coua::dp {

/// Notes the sockets on which drivers begin to listen by calls of this thread while one lives.
/// Thread: the one that adds and removes ports, like all of this file.
class memif_watch {
 public:
  memif_watch();
  ~memif_watch();
  memif_watch(const memif_watch&) = delete;
  memif_watch& operator=(const memif_watch&) = delete;
};

/// After the driver closed a port: closes the sockets that no port has any more.
void close_left_memif_listeners();

}  // namespace coua::dp
