// SPDX-License-Identifier: Apache-2.0
#include "bench/forward/preload.h"

#include <filesystem>

namespace coua::bench {
namespace {

constexpr const char* library_name = "libcoua_bench_preload.so";

/// In the folder that this program was built in, or was installed from; empty: in neither.
std::string find_library() {
  std::error_code trouble;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", trouble);
  if (trouble) return {};
  const auto folder = program.parent_path();
  for (const auto& place : {folder / "bench", folder.parent_path() / COUA_BENCH_LIBRARIES}) {
    const std::string path = (place / library_name).string();
    if (std::filesystem::exists(path, trouble)) return path;
  }
  return {};
}

}  // namespace

result<word_list> preload_settings(const port_plan& ports, std::uint64_t pool_packets) {
  word_list settings;
  if (!ports.frames.empty()) {
    settings.push_back("COUA_BENCH_SOURCE=" + device_of(ports.in));
    settings.push_back("COUA_BENCH_FRAMES=" + ports.frames);
  }
  if (pool_packets != 0) settings.push_back("COUA_BENCH_PACKETS=" + std::to_string(pool_packets));
  if (settings.empty()) return settings;
  const std::string library = find_library();
  if (library.empty()) {
    return fail(errc::not_found, library_name,
                std::string("is neither in the folder bench beside coua-bench nor in ") +
                    COUA_BENCH_LIBRARIES + " of where it was installed" +
                    (ports.frames.empty() ? "" : "; without it, take --feed pcap"));
  }
  settings.push_back("LD_PRELOAD=" + library);
  return settings;
}

}  // namespace coua::bench
