// SPDX-License-Identifier: Apache-2.0
//
// Where the kernel says what the doctor wants to know.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/cpu.h"
#include "cli/doctor.h"

namespace coua::cli {
namespace {

namespace files = std::filesystem;

constexpr std::size_t mib2 = std::size_t{2} << 20, gib1 = std::size_t{1} << 30;

/// Empty where there is none.
std::string first_word(const files::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::vector<files::path> entries_of(const files::path& folder) {
  std::vector<files::path> all;
  std::error_code none;
  for (const auto& each : files::directory_iterator(folder, none)) all.push_back(each.path());
  std::ranges::sort(all);
  return all;
}

bool has(std::uint64_t capabilities, unsigned which) { return (capabilities >> which & 1) != 0; }

/// Those that count now; line CapEff of /proc/self/status, in hexadecimal.
std::uint64_t effective_capabilities() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != "CapEff:") continue;
    std::uint64_t bits = 0;
    file >> std::hex >> bits;
    return bits;
  }
  return 0;
}

void examine_privileges(machine_facts& into) {
  const std::uint64_t own = effective_capabilities();
  into.net_admin = has(own, CAP_NET_ADMIN);
  into.net_raw = has(own, CAP_NET_RAW);
  rlimit locked{};
  into.memory_locks = has(own, CAP_IPC_LOCK) ||
                      (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur == RLIM_INFINITY);
  into.tun_there = access("/dev/net/tun", F_OK) == 0;
  const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
  into.tun_opens = tun >= 0;
  if (tun >= 0) close(tun);
}

void examine_nics(machine_facts& into) {
  for (const files::path& device : entries_of("/sys/bus/pci/devices")) {
    if (!first_word(device / "class").starts_with("0x0200")) continue;
    pci_nic nic{.address = device.filename(), .driver = "", .numa_node = -1};
    std::error_code none;
    nic.driver = files::read_symlink(device / "driver", none).filename();
    std::ifstream(device / "numa_node") >> nic.numa_node;
    into.nics.push_back(nic);
  }
  into.iommu = !entries_of("/sys/class/iommu").empty();
}

/// Questions about network interfaces.
class ethtool {
 public:
  ethtool() : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~ethtool() {
    if (socket_ >= 0) close(socket_);
  }
  ethtool(const ethtool&) = delete;
  ethtool& operator=(const ethtool&) = delete;

  std::string driver(const std::string& interface) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    return ask(interface, &info) ? info.driver : "";
  }
  bool is_on(const std::string& interface, std::uint32_t question) {
    ethtool_value value{question, 0};
    return ask(interface, &value) && value.data != 0;
  }

 private:
  bool ask(const std::string& interface, void* question) {
    ifreq request{};
    if (interface.size() >= sizeof request.ifr_name) return false;
    std::memcpy(request.ifr_name, interface.c_str(), interface.size());
    request.ifr_data = static_cast<char*>(question);
    return ioctl(socket_, SIOCETHTOOL, &request) == 0;
  }

  int socket_;
};

/// /sys may show another namespace than the one of this process.
void examine_veths(machine_facts& into) {
  ethtool asked;
  struct if_nameindex* all = if_nameindex();
  for (auto* each = all; each != nullptr && each->if_index != 0; ++each) {
    const std::string name = each->if_name;
    if (asked.driver(name) != "veth") continue;
    into.veths.push_back({name, asked.is_on(name, ETHTOOL_GTXCSUM),
                          asked.is_on(name, ETHTOOL_GTSO) || asked.is_on(name, ETHTOOL_GGSO)});
  }
  if (all != nullptr) if_freenameindex(all);
}

}  // namespace

machine_facts examine_machine() {
  machine_facts made;
  made.pages_2m = read_huge_page_pool(mib2, -1);
  made.pages_1g = read_huge_page_pool(gib1, -1);
  made.transparent_pages = transparent_huge_pages_allowed();
  made.numa_nodes = numa_nodes_online();
  made.cpus = static_cast<unsigned>(std::max<std::size_t>(allowed_cpus().size(), 1));
  made.isolated = !first_word("/sys/devices/system/cpu/isolated").empty();
  made.governor = first_word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  examine_privileges(made);
  examine_nics(made);
  examine_veths(made);
  return made;
}

}  // namespace coua::cli
