// SPDX-License-Identifier: Apache-2.0
//
// raw_io DEVARGS_IN DEVARGS_OUT DESCRIPTORS SECONDS: packets per second from one port to another
// by the switch's worker with the switching taken out: what the ports alone can do here.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "dp/bench_hooks.h"
#include "dp/switch.h"

namespace {

using coua::result;
using coua::dp::l2_switch;

result<void> add_port(l2_switch& target, const char* name, const char* devargs, unsigned count) {
  coua::dp::port_config config;
  config.name = name;
  config.devargs = devargs;
  config.rx_descriptors = config.tx_descriptors = count;
  const auto added = target.add_port(config);
  return added ? result<void>() : tl::unexpected(added.error());
}

std::uint64_t sent(const l2_switch& target) {
  const auto counters = target.port_counters("out");
  if (counters)
    for (const auto& counter : *counters)
      if (counter.name == "tx_packets") return counter.value;
  return 0;
}

result<double> measure(const char* in, const char* out, unsigned descriptors, double seconds) {
  coua::dp::eal_params eal;
  coua::dp::switch_config tables;
  tables.fib_entries = 1000;
  auto target = l2_switch::create(eal, tables);
  if (!target) return tl::unexpected(target.error());
  coua::dp::set_raw_io(**target, true);
  if (auto added = add_port(**target, "out", out, 0); !added) return tl::unexpected(added.error());
  if (auto added = add_port(**target, "in", in, descriptors); !added)
    return tl::unexpected(added.error());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::uint64_t from = sent(**target), start = coua::now_ns();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const std::uint64_t to = sent(**target), end = coua::now_ns();
  return static_cast<double>(to - from) * 1e9 / static_cast<double>(end - start);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: raw_io DEVARGS_IN DEVARGS_OUT DESCRIPTORS SECONDS\n");
    return 2;
  }
  coua::set_log_level(coua::log_level::error);
  const auto rate =
      measure(arguments[1], arguments[2], static_cast<unsigned>(std::atoi(arguments[3])),
              std::atof(arguments[4]));
  if (!rate) {
    std::fprintf(stderr, "raw_io: %s: %s\n", rate.error().where.c_str(), rate.error().what.c_str());
    return 1;
  }
  std::printf("%.0f\n", *rate);
  return 0;
}
