// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/forward/forward_options.h"
#include "bench/forward/frame_loop.h"
#include "bench/forward/worker_mover.h"
#include "dp/switch.h"

namespace coua::bench {

/// How the ports of a case are made, in any process.
struct port_plan {
  std::string in, out;            // devargs of the source and of where its packets go
  std::string frames;             // the file whose frames the source gets; empty: it has its own
  std::vector<std::string> more;  // of further ports that packets may leave by
  unsigned buffers = 0;           // of packets, in the pool of the source
  unsigned buffer_bytes = 0;      // data room, without DPDK's headroom
  std::uint64_t memory_mib = 0;   // that they need
  std::uint64_t frames_mib = 0;   // of ordinary memory, for `frames`, in each process
};

/// What is sent again and again.
struct packet_source {
  std::string file;
  std::uint64_t packets = 0;
  unsigned frame_bytes = 0;  // without the check sequence
};
port_plan plan_ports(const packet_source&, unsigned serial, const forward_options&);
/// The device of devargs: "net_pcap0".
std::string device_of(const std::string& devargs);

/// Memory for the packets of all switches of this process; testpmd takes its own.
struct packet_memory {
  std::uint64_t mib = 0;
  bool huge_pages = false;
  /// Why they are not, where some are reserved; empty: nothing to say.
  std::string why_small = {};
};

/// Starts DPDK as every bench_switch does, for who needs it before there is one. Errors: of the
/// switch.
result<void> start_eal_for(const forward_options&, const packet_memory&);

/// The real switch, with its workers at rest.
class bench_switch {
 public:
  /// `config` without what the plan and the options say. The memory is the same at every call.
  /// Errors: of the switch.
  static result<std::unique_ptr<bench_switch>> create(dp::switch_config config, const port_plan&,
                                                      const forward_options&, const packet_memory&);
  ~bench_switch();

  /// Errors: of the switch. Returns its number.
  result<unsigned> add_port(const dp::port_config&);
  /// The port that packets come in by, by the devargs of the plan. The workers rest. Errors: of the
  /// switch, and of frame_loop.
  result<unsigned> add_source(dp::port_config, const port_plan&);
  dp::l2_switch& device() { return *device_; }
  /// Their threads.
  const std::vector<pid_t>& workers() const { return workers_; }
  /// Of all ports that were added.
  std::unique_ptr<worker_mover> make_mover(worker_mode) const;

 private:
  bench_switch() = default;

  std::unique_ptr<dp::l2_switch> device_;
  std::unique_ptr<frame_loop> frames_;
  std::vector<pid_t> workers_;
  std::vector<std::string> ports_;
};

}  // namespace coua::bench
