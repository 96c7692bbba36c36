// SPDX-License-Identifier: Apache-2.0
//
// What measurements of one use case have before they start: its files, its ports and its memory.
#pragma once

#include <memory>
#include <string>

#include "base/system_memory.h"
#include "bench/cases/use_case.h"
#include "bench/forward/bench_switch.h"
#include "bench/forward/forward_options.h"
#include "bench/harness/report.h"
#include "bench/harness/scratch_folder.h"

namespace coua::bench {

inline constexpr std::uint64_t eal_spare_mib = 64;  // beside packets
inline constexpr std::uint64_t page_mib = 2;        // of a huge page

/// The ports of a case whose packets lie in `folder`. `serial` tells it apart from others of the
/// process.
port_plan plan_case(const use_case&, const std::string& folder, unsigned serial,
                    const forward_options&);

/// Huge pages if there are enough for the packets of all processes, `others_mib` of them not of
/// this one.
packet_memory choose_memory(std::uint64_t mib, std::uint64_t others_mib);
/// The same for a pool of them.
packet_memory choose_memory(const huge_page_pool&, std::uint64_t mib, std::uint64_t others_mib);

struct case_setup {
  std::unique_ptr<scratch_folder> files;
  std::unique_ptr<use_case> of;
  std::string rules;  // a file, if there is an Open vSwitch that needs it
  port_plan ports;
  packet_memory memory;

  /// The first of each list of the options counts. Without packets. `more_mib`: memory for packets
  /// that do not come by the ports' files. Errors: invalid, io.
  static result<case_setup> create(const forward_options&, std::uint64_t more_mib = 0);

  /// Without rows yet; of what a measure says, by its name, of how it was measured.
  report start_report(const char* measure, const forward_options&) const;
  /// The parameters of a row.
  json params(const forward_options&) const;
};

}  // namespace coua::bench
