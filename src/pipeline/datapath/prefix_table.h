// SPDX-License-Identifier: Apache-2.0
//
// A table of prefixes of one address field; what its rules ask besides is the same for all of them.
// A slot's handle is the head of the records of its rule (action_record.h).
//
// A rule that asks nothing of the field, a prefix of length 0, is also for packets that have the
// Ethernet type and no such address: their header is cut off, or damaged.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "net/ethernet.h"
#include "net/wire.h"
#include "pipeline/datapath/field_place.h"
#include "pipeline/datapath/key_layout.h"
#include "pipeline/datapath/lpm_table.h"

namespace coua::pipeline {

/// Aligned as a rule set is: the low bits of its address tell it from one (decomposed_table.h).
struct alignas(64) prefix_table {
  field_place place;               // of the address, in the network header
  std::unique_ptr<ipv4_lpm> ipv4;  // one of them
  std::unique_ptr<ipv6_lpm> ipv6;
  // What else rules ask, but for the Ethernet type, which the IP header says: none, mostly.
  std::optional<key_layout> rest;
  key_words rest_asked;  // with the Ethernet type

  bool is_ipv4() const { return ipv4 != nullptr; }

  /// The packet has the address, and all that rules ask besides.
  bool may_match(const packet_state& from) const noexcept {
    return from.layers.has(place.needs) && (!rest || has_rest(from));
  }
  /// There is more that rules ask, and the packet has it.
  bool has_rest(const packet_state& from) const noexcept {
    if (!rest->may_match(from.layers)) return false;
    std::uint64_t words[key_words::max];
    rest->take(&from, nullptr, 1, words, key_words::max);
    for (unsigned w = 0; w < rest->n_words(); ++w) {
      if ((words[w] & rest_asked.mask[w]) != rest_asked.value[w]) return false;
    }
    return true;
  }
  /// Of a packet without an address: the rule for all of them is for it, too.
  bool may_match_without(const packet_state& from) const noexcept {
    if (rest) return has_rest(from);
    return read_field(from, field::eth_type) ==
           value128{is_ipv4() ? net::ethertype_ipv4 : net::ethertype_ipv6};
  }
  /// The head of that rule; 0: there is none.
  lpm_handle for_all() const noexcept { return is_ipv4() ? ipv4->for_all() : ipv6->for_all(); }
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
