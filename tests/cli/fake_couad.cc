// SPDX-License-Identifier: Apache-2.0
//
// A daemon without packets: the real API before a switch in memory. It serves until SIGTERM.
//
// usage: fake_couad SOCKET [capacity N] [traffic N] [fail-port NAME] [stall SECONDS] [dumps N]
//        [pipeline none] [config FILE] [connect-after LOOKS] [link-after LOOKS] [captured FRAMES at
//        each look] [capture-hangs SECONDS at each look, which it says]
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "ctl/api_server.h"
#include "ctl/fake_bridges.h"
#include "ctl/fake_controllers.h"
#include "ctl/fake_switch.h"
#include "ctl/running_config.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  coua::ctl::fake_switch sw;
  coua::ctl::running_bridges bridges(sw);
  coua::ctl::fake_bridges fakes(bridges);
  coua::ctl::fake_controllers controllers;
  fakes.give("br0", controllers);
  coua::ctl::api_params params;
  params.version = "0.0.0-fake";
  coua::ctl::config config;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string what = argv[i], value = argv[i + 1];
    if (what == "capacity") sw.set_capacity(std::stoull(value));
    if (what == "traffic") sw.set_traffic(std::stoull(value));
    if (what == "fail-port")
      sw.fail_port(value, {coua::errc::denied, "port " + value, "the device is not ours"});
    if (what == "captured") {
      static const std::vector<std::uint8_t> frame(60, 7);
      coua::dp::captured_packet one;
      one.time_ns = 1;
      one.length = 60;
      one.bytes = frame;
      sw.on_capture([packets = coua::ctl::fake_switch::packets(std::stoull(value), one)](
                        const coua::dp::capture_spec&) { return packets; });
    }
    if (what == "capture-hangs") {
      sw.on_capture([time = std::chrono::seconds(std::stoul(value))](const auto&) {
        std::puts("hangs");
        std::fflush(stdout);
        std::this_thread::sleep_for(time);
        return coua::ctl::fake_switch::packets{};
      });
    }
    if (what == "stall") params.stall = std::chrono::seconds(std::stoul(value));
    if (what == "connect-after")
      controllers.connect_after(static_cast<unsigned>(std::stoul(value)));
    if (what == "link-after") sw.link_after(static_cast<unsigned>(std::stoul(value)));
    if (what == "config") config.file = value;
    if (what == "dumps") params.dumps = static_cast<unsigned>(std::stoul(value));
  }
  auto claim = coua::ctl::socket_claim::take(argv[1]);
  if (!claim) {
    std::fprintf(stderr, "%s\n", claim.error().message().c_str());
    return 1;
  }
  coua::ctl::running_config running(sw, bridges, config);
  if (const auto started = running.start_bridges(config); !started) {
    std::fprintf(stderr, "%s\n", started.error().message().c_str());
    return 1;
  }
  const auto server = coua::ctl::api_server::create(sw, running, std::move(*claim), params);
  if (!server) {
    std::fprintf(stderr, "%s\n", server.error().message().c_str());
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop, &signal);
  return 0;
}
