// SPDX-License-Identifier: Apache-2.0
//
// The DPDK environment (EAL). It starts once per process and stays until the process ends: DPDK
// cannot be started a second time after its clean-up, so a switch that is destroyed leaves the
// environment for the next one.
//
// No privilege and no configuration is needed: memory comes from huge pages when enough are free,
// else from ordinary pages; nothing is shared with other processes (no runtime files, no telemetry
// socket), so any number of daemons run side by side; IOVA is the virtual address; PCI is scanned
// only if asked for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "dp/switch.h"

namespace coua::dp {

struct eal_info {
  bool huge_pages;                // packets are on huge pages
  std::string memory;             // "2 MiB huge pages", "ordinary memory (no huge pages are free)"
  std::vector<unsigned> cores;    // CPUs of the workers
  std::vector<unsigned> control;  // CPUs of all other threads: those left over, at least one
};

/// Starts the environment, or returns the running one when `params` asks for the same memory and
/// devices (the cores may differ). Errors: invalid (no such core), no_memory (says how much is
/// missing), unsupported (already running with other parameters), io (the reason DPDK gives). Their
/// place is the field of the configuration, "memory.packet_mib". The calling thread keeps its CPU
/// affinity. One thread at a time.
result<eal_info> start_eal(const eal_params& params);

/// Around calls of DPDK by a control thread. Most of them return a bare number and put the reason
/// into the log; drivers also log errors on the way to success. So while such an object lives, what
/// this thread makes DPDK log is kept for the caller's own error, and is shown only at level debug.
/// One for each step: what DPDK complained of in a step before that succeeded is not the reason.
class eal_call {
 public:
  eal_call();
  ~eal_call();
  eal_call(const eal_call&) = delete;
  eal_call& operator=(const eal_call&) = delete;

  /// The first error that DPDK logged in this thread since the newest of them, or `otherwise`.
  static std::string reason(const std::string& otherwise);
};

/// Makes the calling thread known to DPDK for as long as the object lives: packet pools then keep a
/// cache for it. Without it everything works, slower.
class eal_thread {
 public:
  eal_thread();
  ~eal_thread();
  eal_thread(const eal_thread&) = delete;
  eal_thread& operator=(const eal_thread&) = delete;

 private:
  bool registered_;
};

}  // namespace coua::dp
