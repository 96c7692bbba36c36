// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/machine.h"

#include <sys/utsname.h>

#include <fstream>
#include <string>

#include "base/cpu.h"

namespace coua::bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The text after "name:" in a file of such lines, without blanks around it.
std::string field(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t end = line.find_last_not_of(" \t", colon - 1);
    if (line.substr(0, end + 1) != name) continue;
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

json caches() {
  json out = json::object();
  for (int index = 0; index < 8; ++index) {
    const std::string path = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    const std::string level = first_line(path + "/level");
    if (level.empty()) break;
    const std::string type = first_line(path + "/type");
    const char* const suffix = type == "Data" ? "d" : type == "Instruction" ? "i" : "";
    out["L" + level + suffix] = first_line(path + "/size");
  }
  return out;
}

/// "madvise" of "always [madvise] never".
std::string chosen(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  return open == std::string::npos || close < open ? line : line.substr(open + 1, close - open - 1);
}

unsigned long number(const std::string& text) {
  return text.empty() ? 0 : std::strtoul(text.c_str(), nullptr, 10);
}

}  // namespace

json describe_machine() {
  utsname system{};
  uname(&system);
  const std::string pools = "/sys/kernel/mm/hugepages/hugepages-";
  return {
      {"cpu", field("/proc/cpuinfo", "model name")},
      {"cpus", allowed_cpus().size()},
      {"simd", to_string(active_isa())},
      {"caches", caches()},
      {"memory_mib", number(field("/proc/meminfo", "MemTotal")) / 1024},
      {"huge_pages_2m", number(first_line(pools + "2048kB/nr_hugepages"))},
      {"huge_pages_1g", number(first_line(pools + "1048576kB/nr_hugepages"))},
      {"transparent_huge_pages", chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
      {"virtual", field("/proc/cpuinfo", "flags").find("hypervisor") != std::string::npos},
      {"kernel", system.release},
      {"compiler", __VERSION__},
  };
}

}  // namespace coua::bench
