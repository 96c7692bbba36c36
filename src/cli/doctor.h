// SPDX-License-Identifier: Apache-2.0
//
// `coua doctor`: what of this machine stands in the way of couad, or slows it down, what that costs
// and the command that mends it. It asks the kernel, not the daemon, which may not even start.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/system_memory.h"

namespace coua::cli {

/// An Ethernet device on the PCI bus.
struct pci_nic {
  std::string address;  // "0000:01:00.0"
  std::string driver;   // that holds it; empty: none
  int numa_node = -1;   // -1: unknown, or there is one
};

/// An end of a virtual cable in this network namespace, and what it leaves to its other end.
struct veth_end {
  std::string name;
  bool checksums = false, segments = false;
};

struct machine_facts {
  huge_page_pool pages_2m, pages_1g;
  bool transparent_pages = false;
  unsigned numa_nodes = 1;
  unsigned cpus = 1;      // that this process may use
  bool isolated = false;  // some are kept free of other work (isolcpus)
  std::string governor;   // of the CPUs' clock; empty: the machine does not say
  bool tun_there = false, tun_opens = false;
  bool net_admin = false, net_raw = false;  // privileges of this process
  bool memory_locks = false;                // any amount: CAP_IPC_LOCK, or no limit
  bool iommu = false;
  std::vector<pci_nic> nics;
  std::vector<veth_end> veths;
};

/// Of this machine, this process and its network namespace.
machine_facts examine_machine();

enum class verdict { good, worse, missing };
const char* to_string(verdict of);

struct finding {
  verdict is = verdict::good;
  std::string topic;      // "huge pages"
  std::string what;       // what there is
  std::string cost = {};  // what is slower or does not work; empty when it is good
  std::string mend = {};  // a command as one would type it, or what to change; may be empty
  bool operator==(const finding&) const = default;
};

/// In the order in which to mend them.
std::vector<finding> diagnose(const machine_facts& of);

}  // namespace coua::cli
