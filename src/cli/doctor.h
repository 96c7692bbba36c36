// SPDX-License-Identifier: Apache-2.0
//
// `coua doctor`: what of this machine stands in the way of couad, or slows it down, what that costs
// and the commands that mend it.
//
//   examine_machine()  reads facts from the kernel         doctor_machine.cc, doctor_links.cc,
//   doctor_veth.cc diagnose()         says what they mean                 doctor.cc,
//   doctor_devices.cc
//
// It looks at a process: the couad that runs, where one does, for it may have other privileges and
// CPUs than who asks; else the process that asks, as couad started by it would have them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coua::cli {

/// The huge pages of one size, of the machine or of one NUMA node.
struct page_pool {
  bool exists = false;  // the kernel has this page size
  std::uint64_t total = 0, free = 0;
};

struct numa_node {
  int number = 0;
  page_pool pages_2m = {}, pages_1g = {};
  std::vector<unsigned> cpus = {};
};

/// An Ethernet device on the PCI bus.
struct pci_nic {
  std::string address;         // "0000:01:00.0"
  std::string driver;          // that holds it; empty: none
  std::string interface = {};  // the kernel's name for it; empty: none
  int node = -1;               // -1: unknown, or there is one
  std::string use = {};        // what would be cut off without it: "is below bond0"; empty: nothing
  bool is_elsewhere = false;   // its interface is in another network namespace, so who knows
};

/// An end of a virtual cable.
struct veth_end {
  std::string name;
  std::string space = {};  // the network namespace that it is in; empty: this one
  bool has_peer = true;    // false: the other end is in a namespace that nobody could look into
  bool checksums = false;  // it leaves checksums, and so segments, to its other end
  bool to_couad = false;   // the other end is an AF_PACKET or AF_XDP port
};

/// How opening /dev/net/tun ended.
enum class tun_state { opens, no_driver, no_node, denied, forbidden, dead };

struct privileges {
  bool in_user_namespace = false;  // what it has, it has over the namespace, not over the machine
  bool net_admin = false, net_raw = false, bpf = false;
  bool locks_memory = false;  // any amount: CAP_IPC_LOCK, or no limit
  bool known = true;          // /proc says so
};

/// Where DPDK can have a device that it moves memory with.
enum class iommu_state {
  works,
  none,
  none_allowed
};  // none_allowed: VFIO without one is switched on

struct machine_facts {
  bool is_root = false;          // who asks needs no sudo
  unsigned couad = 0;            // the process that this is about; 0: the one that asks
  bool couad_is_unit = false;    // of systemd's couad.service
  std::uint64_t held_bytes = 0;  // of huge pages, by every couad

  bool sysctl_sets_2m = true;  // vm.nr_hugepages is about 2 MiB pages
  page_pool pages_2m, pages_1g;
  bool transparent_exist = true, transparent_pages = false;  // are there, and allowed
  std::vector<numa_node> nodes = {};

  std::vector<unsigned> cpus = {};      // online
  std::vector<unsigned> allowed = {};   // that the process may use
  std::vector<unsigned> isolated = {};  // kept free of other work by the kernel
  std::vector<unsigned> workers = {};   // that run, by their CPUs
  std::string governor = {};            // of the CPUs' clock; empty: the machine does not say

  tun_state tun = tun_state::opens;
  privileges may = {};
  iommu_state iommu = iommu_state::works;
  std::vector<pci_nic> nics = {};
  std::vector<veth_end> veths = {};
};

/// `root` stands for "/" before /proc, /sys and /dev; tests have their own. `couad`: the process of
/// the daemon, 0: none runs.
machine_facts examine_machine(const std::string& root, unsigned couad);

/// The virtual cables of this network namespace, and those of others that lead here, as far as this
/// process may look into them. `ports`: kernel interfaces that are ports of couad.
std::vector<veth_end> examine_veths(const std::vector<std::string>& ports);

/// In rising order of what it means. `note`: nothing is wrong; a choice that one should know of.
enum class verdict { good, note, worse, missing };
const char* to_string(verdict of);

struct finding {
  verdict is = verdict::good;
  std::string topic;                   // "huge pages"
  std::string what;                    // what there is
  std::string cost = {};               // what is slower or does not work; empty when it is good
  std::vector<std::string> mend = {};  // commands as one would type them, one after another
  std::string then = {};               // what no command does: a setting, a restart
  bool operator==(const finding&) const = default;
};

/// In the order in which to mend them.
std::vector<finding> diagnose(const machine_facts& of);

/// Those of NICs and of virtual cables; diagnose() has them, too.
void add_nics(const machine_facts& of, std::vector<finding>& to);
void add_veths(const machine_facts& of, std::vector<finding>& to);

/// `command` as who asks has to type it: with sudo, unless it is root.
std::string as_root(const machine_facts& of, const std::string& command);
/// The command that writes a line into a file of root's.
std::string write_as_root(const machine_facts& of, const std::string& line,
                          const std::string& file);

/// "0-3,8" and back. What is no list is empty.
std::vector<unsigned> parse_cpus(const std::string& list);
std::string cpu_list(const std::vector<unsigned>& cpus);

}  // namespace coua::cli
