// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/lpm/route_set.h"
#include "pipeline/model/operation.h"

namespace coua::bench {

/// Of a router: IPv4 prefixes, with lengths as in the Internet's tables (route_set.h), each by one
/// of 16 next hops. A longer prefix has a higher priority.
class routing_table {
 public:
  routing_table(std::uint64_t n, std::uint64_t seed) : routes_(ip_family::ipv4, n, seed) {}

  std::uint64_t size() const { return routes_.entries; }
  /// New MACs, a hop less, output.
  pipeline::rule_mod rule(std::uint64_t i, pipeline::table_id table, pipeline::port_no out) const;
  /// Of a further prefix, which has no such address.
  pipeline::rule_mod spare_rule(std::uint64_t i, pipeline::table_id table,
                                pipeline::port_no out) const;
  /// An address within a prefix; which one of them depends on `host`.
  std::uint32_t address(std::uint64_t i, std::uint32_t host) const;
  /// The route for an address that some prefix has.
  std::uint64_t longest(std::uint32_t address) const;
  /// The MAC of its next hop.
  std::uint64_t next_hop(std::uint32_t address) const;

  static constexpr std::uint64_t own_mac = 0x0200'0000'0001;

 private:
  route_set routes_;
};

}  // namespace coua::bench
