// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.h"

namespace coua::cli {

std::vector<verb> capture_verbs() {
  return {
      {.path = "capture",
       .summary =
           "Shows frames as they pass: to a file, to Wireshark or tcpdump, or to the terminal",
       .details =
           "Writes pcapng: ports are interfaces, each frame has its direction and a time in "
           "nanoseconds, dropped ones have the counter of their drop as a comment, and the file "
           "ends with the statistics of each port. Without --write it goes to the standard output, "
           "as a line per frame where that is a terminal. A frame that comes in and goes out again "
           "is shown twice unless --direction says otherwise. With --drop only frames that are "
           "dropped are shown. What cannot be kept because the reader is too slow is counted, "
           "never waited for. With --json and no --write, frames are JSON, too. Ctrl-C ends it "
           "after all frames that were captured up to then; a second one at once.",
       .options = {{.name = "port",
                    .value = "NAMES",
                    .help = "these ports: p0,p1 (all)",
                    .type = kind::words,
                    .names = thing::port},
                   {.name = "direction",
                    .value = "in|out|both",
                    .help = "received by the ports, sent by them, or both (both)",
                    .choices = {"in", "out", "both"}},
                   {.name = "vlan",
                    .value = "VLANS",
                    .help = "frames of these VLANs, by their tag or the native VLAN of the port",
                    .type = kind::vlans},
                   {.name = "drop",
                    .value = "REASONS",
                    .help = "frames that are dropped: names of counters (hairpin,tx_full), or any",
                    .type = kind::words},
                   {.name = "filter",
                    .value = "EXPRESSION",
                    .help = "as in tcpdump: 'tcp port 80 and host 10.0.0.1'"},
                   {.name = "snap",
                    .value = "BYTES",
                    .help = "keep no more of a frame (65535)",
                    .type = kind::number,
                    .low = 1,
                    .high = 65535},
                   {.name = "count",
                    .value = "COUNT",
                    .help = "end after so many frames",
                    .type = kind::size,
                    .low = 1,
                    .letter = 'c'},
                   {.name = "seconds",
                    .value = "SECONDS",
                    .help = "end after that time",
                    .type = kind::real,
                    .high = 1'000'000'000},
                   {.name = "buffer",
                    .value = "BYTES",
                    .help = "of each worker, for what the reader has not taken yet (4Mi)",
                    .type = kind::size,
                    .low = 256 * 1024,
                    .high = 256 * 1024 * 1024},
                   {.name = "write",
                    .value = "FILE",
                    .help = "where to; -: the standard output",
                    .letter = 'w',
                    .names = thing::file}},
       .example = "coua capture --port p0 --drop any --json -w drops.pcapng",
       .json = R"({"file": "drops.pcapng", "captured": 12, "lost": 0,
 "ports": {"p0": {"seen": 20, "captured": 12, "lost": 0}}})",
       .id = capture_run},
  };
}

}  // namespace coua::cli
