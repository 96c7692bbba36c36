// SPDX-License-Identifier: Apache-2.0
//
// Where the datapath finds the fields of the model: bits of a number in the packet, or in the state
// that goes with it. What the flow compiler makes keys from.
//
//   base     state      packet_state, with what the parser found; numbers are this machine's
//            frame      the first byte of the Ethernet header; from here on, numbers are big-endian
//            network    what follows Ethernet header and tags
//            transport  what follows the IP headers
//            nd_option  the link-layer address option of neighbour discovery
//   number   n_bytes at base + offset
//   field    its n_bits from bit `shift` on (0: the lowest)
//
// A packet has the field when it has all layers of `needs`, and one of `needs_one` if that is not
// empty. The fields that IPv4 and IPv6 both have stand in different places: a rule knows which, by
// its match on the Ethernet type.
#pragma once

#include <cstdint>
#include <optional>

#include "net/layers.h"
#include "pipeline/datapath/packet_state.h"
#include "pipeline/model/field.h"

namespace coua::pipeline {

enum class ip_version : std::uint8_t { v4, v6 };

struct field_place {
  enum class base : std::uint8_t { state, frame, network, transport, nd_option };

  base from = base::state;
  std::uint16_t offset = 0;
  std::uint8_t n_bytes = 0;
  std::uint8_t n_bits = 0;
  std::uint8_t shift = 0;
  net::layer::bits needs = 0;
  net::layer::bits needs_one = 0;

  bool is_in(const net::layers& there) const {
    return there.has(needs) && (needs_one == 0 || there.has_any(needs_one));
  }
  bool operator==(const field_place&) const = default;
};

/// Where offsets from a base start, in a packet that has its layers.
inline const std::uint8_t* base_of(const packet_state& from, field_place::base which) noexcept {
  switch (which) {
    case field_place::base::state: return reinterpret_cast<const std::uint8_t*>(&from);
    case field_place::base::frame: return from.buffer.bytes;
    case field_place::base::network: return from.buffer.bytes + from.layers.network;
    case field_place::base::transport: return from.buffer.bytes + from.layers.transport;
    case field_place::base::nd_option: return from.buffer.bytes + from.layers.nd_option;
  }
  return nullptr;
}

/// `version` counts for ip_dscp, ip_ecn and ip_ttl only.
field_place place_of(field which, ip_version version);

/// How deep packets must be parsed for the field to be seen.
net::parse_depth depth_of(field which);

/// The field of a parsed packet; none: the packet does not have it. One by one, for traces, tests
/// and what is seldom: the datapath takes whole keys at once.
std::optional<value128> read_field(const packet_state& from, field which);

}  // namespace coua::pipeline
