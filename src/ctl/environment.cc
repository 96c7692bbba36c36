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

result<void> check_huge_pages(const config& config) {
  if (config.huge_pages != huge_page_mode::required) return {};
  const std::uint64_t wanted = std::uint64_t{config.packet_mib} << 20;
  const std::uint64_t free =
      read_huge_page_pool(mib2, -1).free * mib2 + read_huge_page_pool(gib1, -1).free * gib1;
  if (free >= wanted) return {};
  const std::uint64_t missing = (wanted - free + mib2 - 1) / mib2;
  return fail(errc::no_memory, config.place("memory.huge_pages"),
              "huge pages are required, and " + std::to_string(free >> 20) + " of " +
                  std::to_string(config.packet_mib) +
                  " MiB are free; as root: " + huge_page_command(mib2, -1, missing));
}

}  // namespace

result<dp::eal_params> resolve_environment(const config& config) {
  const std::vector<unsigned> allowed = allowed_cpus();
  if (auto good = check_cores(config, allowed); !good)
    return tl::unexpected(std::move(good.error()));
  if (auto good = check_huge_pages(config); !good) return tl::unexpected(std::move(good.error()));
  dp::eal_params params;
  params.huge_pages = config.huge_pages != huge_page_mode::off;
  params.memory_mib = config.packet_mib;
  params.cores = config.cores;
  if (config.worker_count > 0)
    params.cores.assign(allowed.end() - config.worker_count, allowed.end());
  params.pci = config.pci == pci_mode::on ||
               (config.pci == pci_mode::automatic &&
                std::ranges::any_of(config.ports, [](const dp::port_config& port) {
                  return is_pci_devargs(port.devargs);
                }));
  params.extra = config.eal_arguments;
  return params;
}

}  // namespace coua::ctl
