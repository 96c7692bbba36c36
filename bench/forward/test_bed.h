// SPDX-License-Identifier: Apache-2.0
//
// One case of a forwarding benchmark: the real switch with two ports, its FIB loaded, and an
// endless packet source.
//
//   packet file, repeated --net_pcap--> in | switch | out --net_null--> nowhere
//
// The same ports, packets and buffers serve the raw I/O rate (the switching taken out of the
// worker's loop), loops with other tables, and, in a process of its own, testpmd.
#pragma once

#include <memory>
#include <string>

#include "bench/forward/forward_options.h"
#include "bench/forward/worker_mover.h"
#include "bench/traffic/l2_traffic.h"
#include "dp/switch.h"

namespace coua::bench {

/// How the ports of a case are made, in any process.
struct port_plan {
  std::string in, out;           // devargs
  unsigned buffers = 0;          // of packets, in the pool of the first port
  unsigned buffer_bytes = 0;     // data room, without DPDK's headroom
  std::uint64_t memory_mib = 0;  // that they need
};
port_plan plan_ports(const l2_traffic&, const std::string& packets, unsigned serial,
                     unsigned workers, unsigned mbuf_bytes);

/// Memory for the packets of all test beds of this process; testpmd takes its own.
struct packet_memory {
  std::uint64_t mib = 0;
  bool huge_pages = false;
};

class test_bed {
 public:
  /// The packet file must be there. The memory is the same at every call. Errors: of the switch.
  static result<std::unique_ptr<test_bed>> create(const l2_traffic&, const port_plan&,
                                                  const forward_options&, const packet_memory&);
  ~test_bed();

  /// The switch; fails when a packet was flooded or dropped.
  mover& switching() { return *switching_; }
  /// The worker's loop without the switching.
  mover& raw() { return *raw_; }

  /// While a writer erases and inserts, some destinations are not there, and flooding is right.
  void set_churning(bool on);

  dp::l2_switch& device() { return *switch_; }
  const l2_traffic& traffic() const { return traffic_; }
  unsigned out_port() const { return out_; }
  double bytes_per_entry() const;

 private:
  explicit test_bed(const l2_traffic& traffic) : traffic_(traffic) {}
  result<void> load_fib();
  result<void> settle();

  l2_traffic traffic_;
  std::unique_ptr<dp::l2_switch> switch_;
  unsigned out_ = 0;
  std::unique_ptr<worker_mover> switching_, raw_;
};

}  // namespace coua::bench
