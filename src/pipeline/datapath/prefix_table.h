// SPDX-License-Identifier: Apache-2.0
//
// A table of prefixes of one address field; what its rules ask besides is the same for all of them.
// A slot's handle is the head of the records of its rule (action_record.h).
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "net/wire.h"
#include "pipeline/datapath/field_place.h"
#include "pipeline/datapath/key_layout.h"
#include "pipeline/datapath/lpm_table.h"

namespace coua::pipeline {

struct prefix_table {
  field_place place;               // of the address, in the network header
  std::unique_ptr<ipv4_lpm> ipv4;  // one of them
  std::unique_ptr<ipv6_lpm> ipv6;
  // What else rules ask, but for the Ethernet type, which the IP header says: none, mostly.
  std::optional<key_layout> rest;
  key_words rest_asked;

  bool is_ipv4() const { return ipv4 != nullptr; }

  /// The packet has the address, and all that rules ask besides.
  bool may_match(const packet_state& from) const noexcept {
    if (!from.layers.has(place.needs)) return false;
    if (!rest) return true;
    if (!rest->may_match(from.layers)) return false;
    std::uint64_t words[key_words::max];
    rest->take(&from, nullptr, 1, words, key_words::max);
    for (unsigned w = 0; w < rest->n_words(); ++w) {
      if ((words[w] & rest_asked.mask[w]) != rest_asked.value[w]) return false;
    }
    return true;
  }
  template <class Address>
  const lpm_table<Address>* of() const noexcept {
    if constexpr (std::is_same_v<Address, ipv4_number>) {
      return ipv4.get();
    } else {
      return ipv6.get();
    }
  }
  /// Of a packet that may match.
  template <class Address>
  Address address(const packet_state& from) const noexcept {
    const std::uint8_t* const at = from.buffer.bytes + from.layers.network + place.offset;
    if constexpr (std::is_same_v<Address, ipv4_number>) {
      return {net::load_be32(at)};
    } else {
      return {net::load_be64(at), net::load_be64(at + 8)};
    }
  }
};

}  // namespace coua::pipeline
