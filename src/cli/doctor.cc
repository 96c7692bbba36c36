// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <algorithm>

namespace coua::cli {
namespace {

// What couad asks for where its file does not say another amount (memory.packet_mib).
constexpr std::uint64_t packet_bytes = std::uint64_t{512} << 20;
constexpr std::size_t mib2 = std::size_t{2} << 20, gib1 = std::size_t{1} << 30;

finding huge_pages(const machine_facts& of) {
  const std::string topic = "huge pages";
  const std::uint64_t free_2m = of.pages_2m.free * mib2, free_1g = of.pages_1g.free * gib1;
  const std::string what = std::to_string(of.pages_2m.free) + " of 2 MiB and " +
                           std::to_string(of.pages_1g.free) + " of 1 GiB are free";
  if (std::max(free_2m, free_1g) >= packet_bytes) return {verdict::good, topic, what};
  if (!of.pages_2m.exists && !of.pages_1g.exists) {
    return {verdict::worse, topic, "this kernel has none",
            "random reads in tables of 1 GiB and more at half the rate; no ports on the PCI bus"};
  }
  const std::string tables = of.transparent_pages
                                 ? "packets are in ordinary memory (tables take transparent huge "
                                   "pages, which are allowed); no ports on the PCI bus"
                                 : "random reads in tables of 1 GiB and more at half the rate; no "
                                   "ports on the PCI bus";
  return {verdict::worse, topic, what, tables,
          "sudo " + huge_page_command(mib2, -1, (packet_bytes - free_2m) / mib2)};
}

finding transparent_pages(const machine_facts& of) {
  if (of.transparent_pages) return {verdict::good, "transparent huge pages", "are allowed"};
  return {verdict::worse, "transparent huge pages", "are switched off",
          "tables that find no reserved huge pages use pages of 4 KiB",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

finding tun(const machine_facts& of) {
  const std::string topic = "/dev/net/tun";
  if (of.tun_opens) return {verdict::good, topic, "opens"};
  if (!of.tun_there) {
    return {verdict::missing, topic, "is not there", "no TAP ports",
            "sudo modprobe tun; sudo mkdir -p /dev/net; sudo mknod -m 666 /dev/net/tun c 10 200"};
  }
  return {verdict::missing, topic, "does not open", "no TAP ports", "sudo chmod 666 /dev/net/tun"};
}

std::string listed(const std::vector<std::pair<std::string, bool>>& all) {
  std::string list;
  for (const auto& [name, there] : all) {
    if (!there) list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

finding privileges(const machine_facts& of) {
  const std::string without = listed({{"CAP_NET_ADMIN", of.net_admin},
                                      {"CAP_NET_RAW", of.net_raw},
                                      {"CAP_IPC_LOCK", of.memory_locks}});
  if (without.empty()) return {verdict::good, "privileges", "all that ports need"};
  const std::string ports = listed({{"TAP", of.net_admin},
                                    {"AF_PACKET", of.net_raw},
                                    {"AF_XDP", of.net_admin && of.net_raw && of.memory_locks},
                                    {"PCI", of.memory_locks}});
  return {verdict::missing, "privileges", "this process has no " + without,
          "no ports of these types: " + ports,
          "run couad by sudo; to try it in a namespace of your own: unshare -Urnm"};
}

finding cores(const machine_facts& of) {
  const std::string count = std::to_string(of.cpus);
  if (of.cpus == 1) {
    return {verdict::worse, "cores", "this process may use 1",
            "the worker shares it with everything else",
            "give the machine, or its container, two CPUs or more"};
  }
  if (of.isolated) return {verdict::good, "cores", count + ", some of them isolated"};
  const std::string last = std::to_string(of.cpus - 1);
  const std::string those = of.cpus == 2 ? last : "1-" + last;
  return {verdict::worse, "cores", count + ", none of them isolated",
          "the kernel interrupts workers to run other processes on their cores",
          "add to the kernel's command line: isolcpus=" + those + " nohz_full=" + those +
              "; then set workers.cores"};
}

void add_governor(const machine_facts& of, std::vector<finding>& to) {
  if (of.governor.empty()) return;
  if (of.governor == "performance") {
    to.push_back({verdict::good, "clock of the cores", "governor performance"});
    return;
  }
  to.push_back({verdict::worse, "clock of the cores", "governor " + of.governor,
                "workers that rest between bursts start the next one at a lower clock",
                "echo performance | sudo tee "
                "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"});
}

bool for_dpdk(const std::string& driver) {
  // The mlx drivers leave the device to the kernel and to DPDK at once.
  static const std::vector<std::string> drivers = {"vfio-pci", "igb_uio", "uio_pci_generic",
                                                   "mlx4_core", "mlx5_core"};
  return std::ranges::find(drivers, driver) != drivers.end();
}

void add_nics(const machine_facts& of, std::vector<finding>& to) {
  for (const pci_nic& nic : of.nics) {
    const std::string topic = "NIC " + nic.address;
    const std::string where =
        of.numa_nodes > 1 && nic.numa_node >= 0
            ? ", on NUMA node " + std::to_string(nic.numa_node) +
                  ": a worker for it needs a core of that node (workers.cores)"
            : "";
    if (for_dpdk(nic.driver)) {
      to.push_back({verdict::good, topic, "driver " + nic.driver + where});
      continue;
    }
    const std::string held = nic.driver.empty() ? "no driver" : "driver " + nic.driver;
    if (!of.iommu) {
      to.push_back({verdict::worse, topic, held + ", and there is no IOMMU" + where,
                    "no port by its address; by AF_XDP or AF_PACKET it is one, slower",
                    "switch the IOMMU on in the firmware and on the kernel's command line "
                    "(intel_iommu=on or amd_iommu=on)"});
      continue;
    }
    to.push_back({verdict::worse, topic, held + where,
                  "no port by its address; by AF_XDP or AF_PACKET it is one, slower",
                  "sudo modprobe vfio-pci; sudo dpdk-devbind.py -b vfio-pci " + nic.address +
                      " (the kernel loses the interface)"});
  }
}

void add_veths(const machine_facts& of, std::vector<finding>& to) {
  for (const veth_end& end : of.veths) {
    const std::string topic = "veth " + end.name;
    if (!end.checksums && !end.segments) {
      to.push_back({verdict::good, topic, "leaves nothing to its other end"});
      continue;
    }
    to.push_back({verdict::worse, topic,
                  std::string("leaves ") + (end.checksums ? "checksums" : "") +
                      (end.checksums && end.segments ? " and " : "") +
                      (end.segments ? "segments" : "") + " to its other end",
                  "where that is an AF_PACKET or AF_XDP port, TCP through it stalls",
                  "sudo ethtool -K " + end.name + " tx off tso off gso off gro off rx off"});
  }
}

}  // namespace

const char* to_string(verdict of) {
  switch (of) {
    case verdict::good: return "good";
    case verdict::worse: return "worse";
    case verdict::missing: return "missing";
  }
  return "unknown";
}

std::vector<finding> diagnose(const machine_facts& of) {
  std::vector<finding> found = {privileges(of), tun(of), huge_pages(of), transparent_pages(of),
                                cores(of)};
  add_governor(of, found);
  if (of.numa_nodes > 1) {
    found.push_back({verdict::good, "NUMA", std::to_string(of.numa_nodes) + " nodes"});
  }
  add_nics(of, found);
  add_veths(of, found);
  return found;
}

}  // namespace coua::cli
