// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/cpu.h"
#include "base/system_memory.h"
#include "ctl/config.h"
#include "ctl/port_rules.h"

namespace coua::ctl {
namespace {

constexpr std::size_t mib2 = std::size_t{2} << 20, gib1 = std::size_t{1} << 30;

result<void> check_cores(const config& config, const std::vector<unsigned>& allowed) {
  for (unsigned core : config.cores) {
    if (std::ranges::find(allowed, core) != allowed.end()) continue;
    std::string list;
    for (unsigned cpu : allowed) list += (list.empty() ? "" : ",") + std::to_string(cpu);
    return fail(
        errc::invalid, config.place("workers.cores"),
        "CPU " + std::to_string(core) + " is not one that this process may use (" + list + ")");
  }
  if (config.worker_count > allowed.size())
    return fail(errc::invalid, config.place("workers.count"),
                std::to_string(config.worker_count) +
                    " workers need as many CPUs, and this "
                    "process may use " +
                    std::to_string(allowed.size()));
  return {};
}

result<void> check_numa_node(const config& config) {
  const int node = config.tables.fib_numa_node;
  if (node < 0 || numa_node_exists(node)) return {};
  return fail(errc::invalid, config.place("fib.numa_node"),
              "NUMA node " + std::to_string(node) + " does not exist; " +
                  std::to_string(numa_nodes_online()) + " online");
}

// DPDK asks for memory of one page size: what is free of another does not help.
std::uint64_t free_huge_bytes() {
  return std::max(read_huge_page_pool(mib2, -1).free * mib2,
                  read_huge_page_pool(gib1, -1).free * gib1);
}

result<void> check_packet_memory(const config& config) {
  const std::uint64_t wanted = std::uint64_t{config.packet_mib} << 20;
  const std::uint64_t free_huge = config.huge_pages == huge_page_mode::off ? 0 : free_huge_bytes();
  if (free_huge >= wanted) return {};
  if (config.huge_pages == huge_page_mode::required) {
    const std::uint64_t missing =
        (wanted - read_huge_page_pool(mib2, -1).free * mib2 + mib2 - 1) / mib2;
    return fail(errc::no_memory, config.place("memory.huge_pages"),
                "huge pages are required, and " + std::to_string(free_huge >> 20) + " of " +
                    std::to_string(config.packet_mib) +
                    " MiB are free; as root: " + huge_page_command(mib2, -1, missing));
  }
  // DPDK takes ordinary memory without asking whether there is enough of it.
  const std::uint64_t available = available_memory();
  if (available >= wanted) return {};
  return fail(errc::no_memory, config.place("memory.packet_mib"),
              "only " + std::to_string(available >> 20) + " of " +
                  std::to_string(config.packet_mib) +
                  " MiB are available as ordinary memory, and " + std::to_string(free_huge >> 20) +
                  " MiB as huge pages; ask for less, or free memory");
}

}  // namespace

result<dp::eal_params> resolve_environment(const config& config) {
  const std::vector<unsigned> allowed = allowed_cpus();
  if (auto good = check_cores(config, allowed); !good)
    return tl::unexpected(std::move(good.error()));
  if (auto good = check_numa_node(config); !good) return tl::unexpected(std::move(good.error()));
  if (auto good = check_packet_memory(config); !good)
    return tl::unexpected(std::move(good.error()));
  dp::eal_params params;
  params.huge_pages = config.huge_pages != huge_page_mode::off;
  params.memory_mib = config.packet_mib;
  params.cores = config.cores;
  if (config.worker_count > 0)
    params.cores.assign(allowed.end() - config.worker_count, allowed.end());
  params.pci = config.pci == pci_mode::on ||
               (config.pci == pci_mode::automatic &&
                std::ranges::any_of(config.ports, [](const dp::port_config& port) {
                  return std::ranges::any_of(devices_of(port), is_pci_devargs);
                }));
  params.extra = config.eal_arguments;
  return params;
}

}  // namespace coua::ctl
