// SPDX-License-Identifier: Apache-2.0
//
// Packets that come at a chosen rate and are timed: one thread, on the CPU beside the workers,
// sends them into one port of a switch and takes them from its others, through shared memory
// (net_memif), which Open vSwitch and Coua both open like any other device.
//
//        +------------------------ switch ------------------------+
//        | server of port 1                      server of port 2 |
//        +------^----------------------------------------|--------+
//          ring | 1,024 slots, packets are copied        | ring
//        +------|----------------------------------------v--------+
//        | client: stamp, send                   receive, compare |
//        +--------------------- this thread ----------------------+
//
// The stamp is the cycle counter, in the TCP sequence numbers, which no case looks at, just before
// the call that sends; the other one is read just after the call that receives. So a time has the
// copies into and out of both rings, the waits in them, and up to one round of this thread, which
// is what it does between two looks at its receive ring.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/cases/use_case.h"

struct rte_mempool;

namespace coua::bench {

/// Where the ends of the wires meet: files of `folder`, and numbers that tell this switch from
/// others of the process.
struct memif_wires {
  std::string folder;
  unsigned serial = 0;
};
/// The devargs by which a switch opens its end of a port.
std::string switch_end(const memif_wires&, pipeline::port_no);

struct paced_result {
  double seconds = 0;
  std::uint64_t sent = 0, received = 0;
  std::uint64_t refused = 0;  // by a full ring
  std::uint64_t skipped = 0;  // that were due while this thread was not on its CPU
  std::uint64_t late = 0;     // received after this thread had been away from its CPU
  std::vector<float> us;      // of each packet that was received, ascending
};

class paced_source {
 public:
  /// The switch has opened its ends, each with `queues` to send by. The EAL is running. Errors: io,
  /// no_memory.
  static result<std::unique_ptr<paced_source>> create(const use_case&, const memif_wires&,
                                                      unsigned queues);
  ~paced_source();
  paced_source(const paced_source&) = delete;
  paced_source& operator=(const paced_source&) = delete;

  /// The switch has ended: returns when the driver has taken its ends down, and they may be closed.
  void switch_is_gone();

  /// As fast as it can, in bursts of 32, for so long; packets per second (in millions) that came
  /// back. `refused`: share of those sent that found the ring full: none, and this thread is the
  /// limit, not the switch.
  struct flood_result {
    double mops = 0, refused = 0;
  };
  flood_result flood(double seconds);
  /// One by one, at even intervals. What was due when it could not send is left out.
  paced_result pace(double mops, double seconds);

 private:
  struct frame {
    std::uint8_t bytes[64];
  };
  explicit paced_source(unsigned queues) : queues_(queues) {}
  result<void> open(const memif_wires&, pipeline::port_no number, bool is_source);
  void build_frames(const use_case&);
  class loop;

  const unsigned queues_;
  std::vector<frame> frames_;
  unsigned frame_bytes_ = 0, stamp_at_ = 0;
  rte_mempool* pool_ = nullptr;
  std::uint16_t source_ = 0;
  std::vector<std::uint16_t> ports_, sinks_;
};

}  // namespace coua::bench
