// SPDX-License-Identifier: Apache-2.0
//
// Makes OpenFlow rule sets from the figures of real ones: of1 and of2, which were published with
// ClassBench-ng (Matousek et al., "ClassBench-ng: recasting ClassBench after a decade of network
// evolution", ANCS 2017). They are from the virtual switches of a cloud. What is taken of them, as
// the mean of both: which fields the rules match together, protocols, the first halves of Ethernet
// addresses, prefix lengths, the trees of prefixes (seed_figures.h), and ports. One rule without
// any field, the default rule, stands for the many that they have in their many tables.
//
// What is not in the figures and so is ours:
// - Fields that OpenFlow demands are added: eth_type beside what belongs to IPv4, ip_proto beside
//   ports. (The published sets have them too, in words like `udp`, which were not counted.)
// - The destination ports of rules with a protocol, and no source port, are the prefixes that cover
//   the ranges 1-65535 and 1-65534, as the frequent values show (1, 2, 4, 8, ... 32768, 49152,
//   ...).
// - A host has one Ethernet address, a function of its IP address.
// - Of a rule with both ports, between two hosts, one port is of a service and the other ephemeral.
//   Where it has no source address both are DHCP's.
// No published rule matches vlan, dscp; none here does.
#pragma once

#include <span>

#include "base/result.h"
#include "bench/rules/rule_set.h"

namespace coua::bench {

/// Fields that rules match together, one bit for each wide_field; shares in ten-thousandths.
struct field_set_share {
  std::uint16_t fields, share;
};
std::span<const field_set_share> wide_field_sets();

constexpr std::uint16_t field_bit(wide_field field) {
  return static_cast<std::uint16_t>(1U << index_of(field));
}
/// Those that a rule matches.
std::uint16_t fields_of(const wide_rule&);

/// Errors: invalid (number of rules), no_room (there are not so many different rules).
result<wide_set> make_wide_set(const rule_set_params&);

}  // namespace coua::bench
