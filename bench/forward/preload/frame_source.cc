// SPDX-License-Identifier: Apache-2.0
//
// With this library before DPDK's, the device that COUA_BENCH_SOURCE names gives the frames of the
// file COUA_BENCH_FRAMES, from its first start until the program ends.
#include <rte_ethdev.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/forward/frame_loop.h"
#include "bench/forward/preload/frames_line.h"
#include "bench/forward/preload/next_function.h"

namespace {

bool is_source(std::uint16_t port) {
  const char* const source = std::getenv("COUA_BENCH_SOURCE");
  char name[RTE_ETH_NAME_MAX_LEN];
  return source != nullptr && rte_eth_dev_get_name_by_port(port, name) == 0 &&
         std::string_view(name) == source;
}

}  // namespace

extern "C" COUA_BENCH_SEEN int rte_eth_dev_start(std::uint16_t port) {
  static const coua::bench::frame_loop* running = nullptr;  // used after the program's own statics
  const char* const file = std::getenv("COUA_BENCH_FRAMES");
  if (running == nullptr && file != nullptr && is_source(port)) {
    auto made = coua::bench::frame_loop::start(std::getenv("COUA_BENCH_SOURCE"), file);
    if (!made) {
      std::fprintf(stderr, "%s\n", made.error().message().c_str());
      return -EIO;
    }
    running = made->release();
    std::fprintf(stderr, "%s\n", coua::bench::frames_line);
  }
  return coua::bench::next_function(&rte_eth_dev_start, "rte_eth_dev_start")(port);
}
