// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "cli/doctor.h"
#include "cli/words.h"

namespace coua::cli {
namespace {

enum class hold { kernel, nobody, vfio, physical, both };

hold holder(const std::string& driver) {
  if (driver.empty()) return hold::nobody;
  if (driver == "vfio-pci") return hold::vfio;
  // They know no IOMMU: DPDK has to use physical addresses.
  if (driver == "igb_uio" || driver == "uio_pci_generic") return hold::physical;
  // These leave the device to the kernel and to DPDK at once.
  if (driver == "mlx4_core" || driver == "mlx5_core" || driver == "mana") return hold::both;
  return hold::kernel;
}

// couad gives devices virtual addresses, and DPDK then starts none that wants physical ones.
constexpr const char* physical_addresses =
    "in couad's file: dpdk: {arguments: [--iova-mode=pa]}, with huge pages and as root";
constexpr const char* unsafe =
    "the device can then write to all memory of the machine, and the kernel marks itself tainted";

void give_to_dpdk(const machine_facts& of, const pci_nic& nic, finding& found) {
  if (of.iommu == iommu_state::none) {
    found.mend = {as_root(of, "modprobe vfio"),
                  write_as_root(of, "1", "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode")};
  }
  found.mend.push_back(as_root(of, "driverctl set-override " + nic.address + " vfio-pci"));
  found.then = "then its devargs are \"" + nic.address + "\"";
  found.then +=
      nic.interface.empty() ? "" : ", and the kernel has no " + nic.interface + " any more";
  found.then += "; packages: driverctl, librte-meta-net";
  if (of.iommu == iommu_state::works) return;
  found.then +=
      std::string("; ") + physical_addresses + "; " + unsafe +
      ". An IOMMU is the better way: switch it on in the firmware and by intel_iommu=on on "
      "the kernel's command line (AMD's needs only the firmware), or in the hypervisor";
}

void add_nic(const machine_facts& of, const pci_nic& nic, std::vector<finding>& to) {
  const std::string topic = "NIC " + nic.address;
  const std::string what = (nic.driver.empty() ? "no driver" : "driver " + nic.driver) +
                           (nic.interface.empty() ? "" : ", interface " + nic.interface);
  const bool safe = of.iommu == iommu_state::works;
  switch (holder(nic.driver)) {
    case hold::both: return to.push_back({verdict::good, topic, what + ", which DPDK shares"});
    case hold::vfio:
      if (safe) return to.push_back({verdict::good, topic, what});
      return to.push_back(
          {verdict::note, topic, what + ", and no IOMMU", unsafe, {}, physical_addresses});
    case hold::physical:
      return to.push_back({verdict::note, topic, what, unsafe, {}, physical_addresses});
    case hold::kernel:
    case hold::nobody: break;
  }
  finding found{verdict::note, topic, what};
  if (nic.is_elsewhere) {
    found.what += nic.interface.empty() ? ", no interface in this network namespace"
                                        : ", which is in another network namespace";
    found.cost = "what uses it there is not seen from here, so DPDK is not to have it untold";
    found.then = "ask in the network namespace of the machine itself, or in that of the interface";
    return to.push_back(found);
  }
  if (!nic.use.empty()) {
    found.what += ", which " + nic.use;
    found.cost = "it stays the kernel's: given to DPDK, this machine would lose that network";
    return to.push_back(found);
  }
  if (!safe) found.what += ", and no IOMMU";
  found.cost = nic.driver.empty()
                   ? "it is no port, neither of DPDK nor of the kernel"
                   : "as a port by AF_XDP or AF_PACKET, packets take the way through the kernel";
  give_to_dpdk(of, nic, found);
  to.push_back(found);
}

const numa_node* node_of(const machine_facts& of, int number) {
  const auto found = std::ranges::find(of.nodes, number, &numa_node::number);
  return found == of.nodes.end() ? nullptr : &*found;
}

// Packets lie on the node of their port; workers should be there, too.
void add_placement(const machine_facts& of, std::vector<finding>& to) {
  if (of.nodes.size() < 2) return;
  const std::size_t before = to.size();
  constexpr const char* cost = "each packet crosses between the nodes, at a higher latency";
  for (const pci_nic& nic : of.nics) {
    const numa_node* node = node_of(of, nic.node);
    if (node == nullptr || holder(nic.driver) == hold::kernel) continue;
    const std::string topic = "NUMA node " + std::to_string(node->number);
    const auto is_there = [&](unsigned cpu) {
      return std::ranges::find(node->cpus, cpu) != node->cpus.end();
    };
    const auto& places = of.workers.empty() ? of.allowed : of.workers;
    if (!places.empty() && std::ranges::none_of(places, is_there)) {
      to.push_back(
          {verdict::worse,
           topic,
           "has NIC " + nic.address + ", and no " +
               (of.workers.empty() ? "CPU that couad may use" : "worker"),
           cost,
           {},
           "workers: {cores: [...]} in couad's file, with some of " + cpu_list(node->cpus)});
    }
    if (of.held_bytes == 0 && node->pages_2m.free + 512 * node->pages_1g.free == 0) {
      const std::string file = "/sys/devices/system/node/node" + std::to_string(node->number) +
                               "/hugepages/hugepages-2048kB/nr_hugepages";
      to.push_back({verdict::worse,
                    topic,
                    "has NIC " + nic.address + ", and no free huge pages",
                    cost,
                    {write_as_root(of, std::to_string(node->pages_2m.total + 256), file)}});
    }
  }
  if (to.size() == before) {
    to.push_back({verdict::good, "NUMA placement",
                  std::to_string(of.nodes.size()) + " nodes; CPUs and memory are where NICs are"});
  }
}

}  // namespace

void add_nics(const machine_facts& of, std::vector<finding>& to) {
  if (of.nodes.size() < 2) to.push_back({verdict::good, "NUMA placement", "one node"});
  add_placement(of, to);
  for (const pci_nic& nic : of.nics) add_nic(of, nic, to);
}

void add_veths(const machine_facts& of, std::vector<finding>& to) {
  for (const veth_end& end : of.veths) {
    const std::string topic = "veth " + end.name + (end.space.empty() ? "" : " in " + end.space);
    const std::string command = "ethtool -K " + shell_word(end.name) + " tx off";
    if (!end.has_peer) {
      to.push_back({verdict::note,
                    topic,
                    "is a port of couad; its other end is in a network namespace without a name",
                    "where that end leaves checksums to this one, TCP through it stalls",
                    {},
                    "run in that namespace: ethtool -K INTERFACE tx off"});
    } else if (!end.checksums) {
      to.push_back({verdict::good, topic, "sends packets with their checksums"});
    } else {
      // Without checksums it gets no segments to make either: the kernel cuts them before.
      to.push_back(
          {end.to_couad ? verdict::worse : verdict::note,
           topic,
           std::string("leaves checksums and segments to its other end") +
               (end.to_couad ? ", which is a port of couad" : ""),
           end.to_couad ? "TCP through that port stalls"
                        : "where that is an AF_PACKET or AF_XDP port, TCP through it stalls",
           {as_root(of, (end.space.empty() ? "" : "ip netns exec " + shell_word(end.space) + " ") +
                            command)}});
    }
  }
}

}  // namespace coua::cli
