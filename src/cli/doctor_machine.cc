// SPDX-License-Identifier: Apache-2.0
//
// Where the kernel says what the doctor wants to know.
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/doctor.h"

namespace coua::cli {
namespace {

namespace files = std::filesystem;

std::string read_text(const files::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Empty where there is none.
std::string first_word(const files::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// The rest of the line behind `field`, without blanks before it; empty where there is none.
std::string field_of(const files::path& path, const std::string& field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field)) continue;
    const std::size_t at = line.find_first_not_of(" \t", field.size());
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "";
}

std::uint64_t number_of(const std::string& text, int base = 10) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

std::vector<files::path> entries_of(const files::path& folder) {
  std::vector<files::path> all;
  std::error_code none;
  for (const auto& each : files::directory_iterator(folder, none)) all.push_back(each.path());
  std::ranges::sort(all);
  return all;
}

bool is_there(const files::path& path) {
  std::error_code none;
  return files::exists(path, none);
}

/// Of the entry "node0", "123".
unsigned number_at_end(const files::path& path) {
  const std::string name = path.filename();
  const std::size_t at = name.find_first_of("0123456789");
  return at == std::string::npos ? 0 : static_cast<unsigned>(number_of(name.substr(at)));
}

page_pool pool_of(const files::path& folder) {
  page_pool pool;
  const std::string total = first_word(folder / "nr_hugepages");
  pool.exists = !total.empty();
  pool.total = number_of(total);
  pool.free = number_of(first_word(folder / "free_hugepages"));
  // Pages that others reserved and have not touched yet are still counted as free.
  const std::uint64_t reserved = number_of(first_word(folder / "resv_hugepages"));
  pool.free -= std::min(pool.free, reserved);
  return pool;
}

/// Interfaces of this network namespace that have an address of IPv4. No file says so.
std::set<std::string> with_addresses() {
  std::set<std::string> names;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return names;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == AF_INET) {
      const std::string label = each->ifa_name;  // "eth0:1" is one of eth0
      names.insert(label.substr(0, label.find(':')));
    }
  }
  freeifaddrs(all);
  return names;
}

class examination {
 public:
  examination(const std::string& root, unsigned couad)
      : proc_(root + "/proc"),
        sys_(root + "/sys"),
        dev_(root + "/dev"),
        addresses_(root.empty() ? with_addresses() : std::set<std::string>()) {
    made_.couad = couad;
  }

  machine_facts run() {
    find_couad();
    read_privileges();
    read_tun();
    read_memory();
    read_cores();
    read_nics();
    return std::move(made_);
  }

 private:
  files::path process() const {
    return proc_ / (made_.couad != 0 ? std::to_string(made_.couad) : "self");
  }

  void find_couad() {
    for (const files::path& each : entries_of(proc_)) {
      if (first_word(each / "comm") != "couad" || each.filename() == "self") continue;
      const std::string kib = field_of(each / "status", "HugetlbPages:");
      made_.held_bytes += number_of(kib) << 10;
    }
    const std::string group = read_text(process() / "cgroup");
    made_.couad_is_unit = made_.couad != 0 && group.find("couad.service") != std::string::npos;
    for (const files::path& task : entries_of(process() / "task")) {
      if (!first_word(task / "comm").starts_with("coua-worker")) continue;
      const auto cpus = parse_cpus(field_of(task / "status", "Cpus_allowed_list:"));
      made_.workers.insert(made_.workers.end(), cpus.begin(), cpus.end());
    }
    std::ranges::sort(made_.workers);
  }

  bool is_in_user_namespace(const files::path& of) const {
    std::istringstream map(read_text(of / "uid_map"));
    std::uint64_t inside = 0, outside = 0, count = 0;
    // The first namespace maps all numbers to themselves. A kernel without such namespaces has no
    // such file.
    return map >> inside >> outside >> count &&
           !(inside == 0 && outside == 0 && count == UINT32_MAX);
  }

  void read_privileges() {
    const std::string sets = field_of(process() / "status", "CapEff:");
    made_.may.known = !sets.empty();  // others' may be hidden
    const std::uint64_t own = number_of(sets, 16);
    const auto has = [own](unsigned which) { return (own >> which & 1) != 0; };
    made_.may.in_user_namespace = is_in_user_namespace(process());
    made_.may.net_admin = has(CAP_NET_ADMIN);
    made_.may.net_raw = has(CAP_NET_RAW);
    made_.may.bpf = has(CAP_BPF) || has(CAP_SYS_ADMIN);
    const bool unlimited =
        field_of(process() / "limits", "Max locked memory").starts_with("unlimited");
    made_.may.locks_memory = has(CAP_IPC_LOCK) || unlimited;
    reads_all_files_ = has(CAP_DAC_OVERRIDE) && !made_.may.in_user_namespace;
    // Who asks, not couad.
    made_.is_root = field_of(proc_ / "self/status", "Uid:").starts_with("0\t") &&
                    !is_in_user_namespace(proc_ / "self");
  }

  void read_tun() {
    const files::path path = dev_ / "net/tun";
    if (!is_there(path)) {
      const bool has_driver = is_there(sys_ / "class/misc/tun");
      made_.tun = has_driver ? tun_state::no_node : tun_state::no_driver;
      return;
    }
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
      close(fd);
      return;
    }
    made_.tun = errno == EACCES  ? reads_all_files_ ? tun_state::opens : tun_state::denied
                : errno == EPERM ? tun_state::forbidden
                                 : tun_state::dead;
  }

  void read_memory() {
    const files::path pools = sys_ / "kernel/mm/hugepages";
    made_.pages_2m = pool_of(pools / "hugepages-2048kB");
    made_.pages_1g = pool_of(pools / "hugepages-1048576kB");
    made_.sysctl_sets_2m = field_of(proc_ / "meminfo", "Hugepagesize:").starts_with("2048 ");
    const std::string modes = read_text(sys_ / "kernel/mm/transparent_hugepage/enabled");
    made_.transparent_exist = !modes.empty();
    made_.transparent_pages = !modes.empty() && modes.find("[never]") == std::string::npos;
    for (const files::path& each : entries_of(sys_ / "devices/system/node")) {
      if (!each.filename().string().starts_with("node")) continue;
      made_.nodes.push_back({.number = static_cast<int>(number_at_end(each)),
                             .pages_2m = pool_of(each / "hugepages/hugepages-2048kB"),
                             .pages_1g = pool_of(each / "hugepages/hugepages-1048576kB"),
                             .cpus = parse_cpus(first_word(each / "cpulist"))});
    }
    std::ranges::sort(made_.nodes, {}, &numa_node::number);
  }

  void read_cores() {
    const files::path cpus = sys_ / "devices/system/cpu";
    made_.cpus = parse_cpus(first_word(cpus / "online"));
    made_.isolated = parse_cpus(first_word(cpus / "isolated"));
    // couad's threads share out what it was given.
    for (const files::path& task : entries_of(process() / "task")) {
      const auto cpus = parse_cpus(field_of(task / "status", "Cpus_allowed_list:"));
      made_.allowed.insert(made_.allowed.end(), cpus.begin(), cpus.end());
    }
    std::ranges::sort(made_.allowed);
    const auto [first, last] = std::ranges::unique(made_.allowed);
    made_.allowed.erase(first, last);
    made_.governor = first_word(cpus / "cpu0/cpufreq/scaling_governor");
  }

  /// The folders of a device's interfaces. virtio has them one level further down.
  static std::vector<files::path> interfaces_of(const files::path& device) {
    std::vector<files::path> all = entries_of(device / "net");
    for (const files::path& inner : entries_of(device)) {
      if (!inner.filename().string().starts_with("virtio")) continue;
      for (const files::path& each : entries_of(inner / "net")) all.push_back(each);
    }
    return all;
  }

  /// Whether this process is in another network namespace than the first process of the machine, as
  /// far as it may know.
  bool is_in_other_space() const {
    std::error_code none;
    const files::path first = files::read_symlink(proc_ / "1/ns/net", none);
    return !first.empty() && first != files::read_symlink(proc_ / "self/ns/net", none);
  }

  /// /sys may be that of another network namespace than /proc/net.
  bool is_here(const std::string& interface) const {
    std::istringstream all(read_text(proc_ / "net/dev"));
    for (std::string line; std::getline(all, line);) {
      const std::size_t at = line.find_first_not_of(' ');
      if (at != std::string::npos && line.substr(at).starts_with(interface + ":")) return true;
    }
    return false;
  }

  bool has_address(const std::string& interface) const {
    if (addresses_.contains(interface)) return true;
    std::istringstream all(read_text(proc_ / "net/if_inet6"));
    for (std::string line; std::getline(all, line);) {
      std::istringstream words(line);
      std::string address, number, prefix, scope, flags, name;
      words >> address >> number >> prefix >> scope >> flags >> name;
      const bool is_of_link = scope == "20";  // each interface that is up has one
      if (name == interface && !is_of_link) return true;
    }
    return false;
  }

  /// What would be cut off without the interface.
  std::string use_of(const files::path& folder) const {
    const std::string interface = folder.filename();
    if (carries_default_route(interface)) return "carries the default route";
    for (const files::path& each : entries_of(folder)) {
      const std::string name = each.filename();
      if (name.starts_with("upper_")) return "is below " + name.substr(6);
      if (name == "master") return "belongs to another interface";
    }
    if (has_address(interface)) return "has an address";
    return has_route(interface) ? "has a route" : "";
  }

  bool has_route(const std::string& interface) const {
    std::istringstream routes(read_text(proc_ / "net/route"));
    for (std::string line; std::getline(routes, line);) {
      if (line.starts_with(interface + "\t")) return true;
    }
    return false;
  }

  bool carries_default_route(const std::string& interface) const {
    std::istringstream routes(read_text(proc_ / "net/route"));
    for (std::string line; std::getline(routes, line);) {
      std::istringstream words(line);
      std::string name, destination, gateway;
      words >> name >> destination >> gateway;
      if (name == interface && destination == "00000000") return true;
    }
    std::istringstream routes6(read_text(proc_ / "net/ipv6_route"));
    for (std::string line; std::getline(routes6, line);) {
      if (line.starts_with(std::string(32, '0') + " 00 ") && line.ends_with(" " + interface))
        return true;
    }
    return false;
  }

  void read_nics() {
    const bool elsewhere = is_in_other_space();
    for (const files::path& device : entries_of(sys_ / "bus/pci/devices")) {
      if (!first_word(device / "class").starts_with("0x0200")) continue;
      pci_nic nic{.address = device.filename(), .driver = ""};
      std::error_code none;
      nic.driver = files::read_symlink(device / "driver", none).filename();
      const std::vector<files::path> interfaces = interfaces_of(device);
      nic.is_elsewhere = elsewhere || (interfaces.empty() && !nic.driver.empty());
      for (const files::path& each : interfaces) {
        if (nic.interface.empty()) nic.interface = each.filename();
        if (nic.use.empty()) nic.use = use_of(each);
        nic.is_elsewhere = nic.is_elsewhere || !is_here(each.filename());
      }
      std::ifstream(device / "numa_node") >> nic.node;
      made_.nics.push_back(nic);
    }
    const bool allowed =
        first_word(sys_ / "module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y";
    if (!entries_of(sys_ / "class/iommu").empty()) return;
    made_.iommu = allowed ? iommu_state::none_allowed : iommu_state::none;
  }

  const files::path proc_, sys_, dev_;
  const std::set<std::string> addresses_;  // interfaces that have one of IPv4
  bool reads_all_files_ = false;
  machine_facts made_;
};

}  // namespace

machine_facts examine_machine(const std::string& root, unsigned couad) {
  return examination(root, couad).run();
}

}  // namespace coua::cli
