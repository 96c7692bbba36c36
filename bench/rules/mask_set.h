// SPDX-License-Identifier: Apache-2.0
//
// The rule set of the Open vSwitch patches that put a cuckoo distributor before tuple space search
// (Wang, "dpif-netdev: Cuckoo-Distributor implementation", ovs-dev, October 2017): every rule
// matches a different number of bits of the source address, and TCP or UDP in turn, so that N rules
// have N masks; the flows of every rule differ in their destination and are as many as those of any
// other rule, so that each of the N subtables has an equal share of the packets.
//
// 32 prefix lengths make 32 masks. For more, up to 512, the rules also match 1 to 16 bits of the
// source port, and beyond that, up to 4,096, also 1 to 8 bits of the destination port. Mask i has
// 1 + i % 32 bits of the address, 1 + i / 32 % 16 of the source port and 1 + i / 512 of the
// destination port.
//
// No two rules match the same packet: any two differ in the length of at least one prefix, and the
// prefix of length n is the one that consists of n - 1 ones and a zero, which no two lengths share.
// All have the same priority.
#pragma once

#include "base/result.h"
#include "bench/rules/flows.h"
#include "bench/rules/rule_set.h"

namespace coua::bench {

inline constexpr std::uint64_t most_masks = 4096;

/// Bits that a mask takes, from the top; 0: it does not look at the field.
struct mask_lengths {
  unsigned address, source_port, destination_port;
};
/// Of mask `i` of `masks`.
constexpr mask_lengths lengths_of_mask(std::uint64_t i, std::uint64_t masks) {
  constexpr std::uint64_t addresses = 32, sources = 16, destinations = 8;
  static_assert(addresses * sources * destinations == most_masks);
  return {.address = static_cast<unsigned>(1 + i % addresses),
          .source_port = masks > addresses ? static_cast<unsigned>(1 + i / addresses % sources) : 0,
          .destination_port = masks > addresses * sources
                                  ? static_cast<unsigned>(1 + i / (addresses * sources))
                                  : 0};
}
/// The prefix of `bits` (1 to `width`) that no other length has: ones and a last zero, at the top
/// of `width` bits (at most 32).
constexpr std::uint32_t unary_prefix(unsigned width, unsigned bits) {
  const std::uint64_t ones = (std::uint64_t{1} << (bits - 1)) - 1;
  return static_cast<std::uint32_t>(ones << 1 << (width - bits));
}

/// Errors: invalid (1 to most_masks).
result<five_tuple_set> make_mask_set(std::uint64_t masks);

/// Flow i is of rule i % N, or has a protocol that no rule matches: about `miss_percent` of them.
/// Errors: invalid (1 to most_flows).
result<flow_list> make_mask_flows(const five_tuple_set&, std::uint64_t flows,
                                  std::uint64_t miss_percent = 0);

}  // namespace coua::bench
