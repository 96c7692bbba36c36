// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "bench/cases/use_case.h"

namespace coua::bench {

/// Writes the rules of a case, one line each, as `ovs-ofctl add-flows` and `coua flow add` read
/// them. Returns how many there are. Errors: io, unsupported (this build cannot print rules).
result<std::uint64_t> write_rules(const use_case& of, const std::string& path);

/// Writes so many packets of a case in a random order, as FOLDER/traffic-PORT.pcap for each port
/// that any of them comes in by. Returns the packets of each port. Errors: io.
result<std::map<pipeline::port_no, std::uint64_t>> write_case_packets(const use_case& of,
                                                                      std::uint64_t packets,
                                                                      const std::string& folder);
std::string packets_path(const std::string& folder, pipeline::port_no port);

}  // namespace coua::bench
