// SPDX-License-Identifier: Apache-2.0
//
// In DPDK 22.11 nothing else than its experimental part makes a handle to take an interrupt's
// handler away.
#define ALLOW_EXPERIMENTAL_API
#include "dp/drivers/memif_listeners.h"

#include <dlfcn.h>
#include <rte_hash.h>
#include <rte_interrupts.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/log.h"

namespace coua::dp {
namespace {

struct listener {
  int file;
  rte_intr_callback_fn handler;
  void* socket;  // the driver's own record of it
};

thread_local bool watching = false;
std::vector<listener> listeners;

bool listens(int file) {
  int on = 0;
  socklen_t bytes = sizeof on;
  return getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &on, &bytes) == 0 && on != 0;
}

/// The driver keeps its sockets by their names in a table that anybody can find, and takes one out
/// with its last port.
bool is_used(const void* socket) {
  const rte_hash* sockets = rte_hash_find_existing("memif-sh");
  if (sockets == nullptr) return false;
  const void* name = nullptr;
  void* found = nullptr;
  for (std::uint32_t next = 0; rte_hash_iterate(sockets, &name, &found, &next) >= 0;)
    if (found == socket) return true;
  return false;
}

/// False: DPDK still watches the file, and would panic if it were closed.
bool take_handler_away(const listener& one) {
  rte_intr_handle* handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  if (handle == nullptr) return false;
  int done = rte_intr_fd_set(handle, one.file);
  if (done == 0)
    done = rte_intr_callback_unregister_sync(handle, one.handler, one.socket);  // how many
  rte_intr_instance_free(handle);
  return done > 0 || done == -EPIPE;  // the latter: gone, and the thread does not know yet
}

}  // namespace

memif_watch::memif_watch() { watching = true; }
memif_watch::~memif_watch() { watching = false; }

void close_left_memif_listeners() {
  std::erase_if(listeners, [](const listener& one) {
    if (is_used(one.socket)) return false;
    if (take_handler_away(one))
      close(one.file);
    else
      log_warning("net_memif: a socket that no port uses stays open");
    return true;
  });
}

}  // namespace coua::dp

/// Drivers are shared objects: their calls arrive here before they reach DPDK's function.
extern "C" __attribute__((visibility("default"))) int rte_intr_callback_register(
    const rte_intr_handle* handle, rte_intr_callback_fn handler, void* argument) {
  static const auto dpdks = reinterpret_cast<decltype(&rte_intr_callback_register)>(
      dlsym(RTLD_NEXT, "rte_intr_callback_register"));
  const int error = dpdks(handle, handler, argument);
  const int file = rte_intr_fd_get(handle);
  if (error == 0 && coua::dp::watching && coua::dp::listens(file))
    coua::dp::listeners.push_back({file, handler, argument});
  return error;
}
