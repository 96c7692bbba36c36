// SPDX-License-Identifier: Apache-2.0
#include "bench/fib/peers/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <array>
#include <string>

#include "base/cpu.h"
#include "bench/harness/scratch_folder.h"

namespace coua::bench {

result<void> start_eal(unsigned memory_mib) {
  static const result<void> started = [memory_mib]() -> result<void> {
    const std::vector<unsigned> cpus = allowed_cpus();
    const std::string core = std::to_string(cpus.front());
    std::array<std::string, 8> words = {"coua-bench",
                                        "--no-huge",
                                        "--no-pci",
                                        "--no-telemetry",
                                        "-m" + std::to_string(memory_mib),
                                        "-l" + core,
                                        "--log-level=error",
                                        "--no-shconf"};
    std::array<char*, words.size()> arguments{};
    for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
    const auto folder = eal_folder::create();
    if (!folder) return tl::unexpected(folder.error());
    const int code = rte_eal_init(static_cast<int>(arguments.size()), arguments.data());
    // The EAL pins its caller to the main lcore.
    (void)pin_this_thread(cpus);
    if (code >= 0) return {};
    return fail(errc::unsupported, "rte_hash",
                std::string("DPDK does not start: ") + rte_strerror(rte_errno));
  }();
  return started;
}

}  // namespace coua::bench
