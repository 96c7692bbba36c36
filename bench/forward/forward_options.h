// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/cases/use_case.h"
#include "bench/harness/options.h"
#include "bench/traffic/l2_traffic.h"

namespace coua::bench {

/// What Open vSwitch asks before its classifier: its cache of whole keys, that of signatures (16
/// bits of a key's hash, which name the mask to ask), or nothing.
enum class ovs_caches { exact_match, signature_match, none };

/// How many flows its datapath may have: 2 M from the start; or as it comes, 200,000 of which it
/// allows itself 10,000 at first and more by and by.
enum class ovs_limits { lifted, own };

/// The rate in the long run, or in the first seconds of flows that nobody knows; or how long a
/// packet takes.
enum class forward_measure { rate, cold_start, latency };

/// Where the port that packets come in by has them from: frames one after the other in memory
/// (frame_loop.h), or net_pcap, which keeps each in a packet of its own.
enum class packet_feed { memory, pcap };
constexpr const char* to_string(packet_feed feed) {
  return feed == packet_feed::memory ? "memory" : "pcap";
}

struct forward_options {
  run_options run;
  forward_measure measure = forward_measure::rate;
  std::vector<std::uint64_t> rules = {1000};  // addresses in the FIB, or R of a use case
  std::vector<std::uint64_t> flows = {};      // none: as many as rules, to 1 M
  std::vector<std::uint64_t> sizes = {64};    // of the frames, with the check sequence
  std::vector<std::uint64_t> updates = {0};   // of the FIB or of rules, per second
  std::vector<std::uint64_t> attacks = {};    // percent of the flows; none: no mask is popular
  /// The learning switch, which has no more than its name; or a use case, but for what is in the
  /// lists above.
  case_params which = {.name = l2_traffic::case_name};
  std::uint64_t sources = 1000;
  unsigned workers = 1;
  unsigned windows = 10;  // of a cold start
  unsigned pairs = 50;
  unsigned burst = 64;
  packet_feed feed = packet_feed::memory;
  unsigned mbuf_bytes = 0;  // data room; 0: fits the frames
  bool testpmd = true;
  std::vector<ovs_caches> ovs;  // beside Open vSwitch (of use cases), a process for each
  unsigned figure = 0;          // 8, 9, 10
  unsigned table = 0;           // 2, 3
};

}  // namespace coua::bench
