// SPDX-License-Identifier: Apache-2.0
//
// A rule of an access list: prefixes of two addresses, ranges of two ports, a protocol or any.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace coua::bench {

struct five_tuple {
  std::uint32_t ip_src = 0, ip_dst = 0;
  std::uint16_t tp_src = 0, tp_dst = 0;
  std::uint8_t ip_proto = 0;
  bool operator==(const five_tuple&) const = default;
};

/// The first `bits` of an address, all others 0.
struct ip_prefix {
  std::uint32_t address = 0;
  unsigned bits = 0;  // 0 to 32

  constexpr std::uint32_t mask() const { return bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits); }
  constexpr bool matches(std::uint32_t other) const { return (other & mask()) == address; }
  constexpr bool contains(const ip_prefix& other) const {
    return bits <= other.bits && matches(other.address);
  }
  bool operator==(const ip_prefix&) const = default;
};

/// Both ends belong to it.
struct port_range {
  std::uint16_t low = 0, high = 0xffff;

  constexpr unsigned size() const { return high - low + 1U; }
  constexpr bool matches(std::uint16_t port) const { return low <= port && port <= high; }
  constexpr bool contains(const port_range& other) const {
    return low <= other.low && other.high <= high;
  }
  bool operator==(const port_range&) const = default;
};

struct five_tuple_rule {
  using key_type = five_tuple;
  // What a mask_index may hash of it: the addresses.
  static constexpr std::size_t hashed_words = 2;
  using words = std::array<std::uint64_t, hashed_words>;

  ip_prefix source, destination;
  port_range source_port, destination_port;
  std::optional<std::uint8_t> protocol;  // none: any
  std::uint32_t priority = 0;            // the higher wins
  std::uint32_t number = 0;              // its place in the set, from 0

  words hashed_mask() const { return {source.mask(), destination.mask()}; }
  words hashed_value() const { return {source.address, destination.address}; }
  static words words_of(const five_tuple& key) { return {key.ip_src, key.ip_dst}; }

  bool matches(const five_tuple& key) const {
    return source.matches(key.ip_src) && destination.matches(key.ip_dst) &&
           source_port.matches(key.tp_src) && destination_port.matches(key.tp_dst) &&
           (!protocol || *protocol == key.ip_proto);
  }
  /// Whether it matches whatever `other` matches.
  bool contains(const five_tuple_rule& other) const {
    return source.contains(other.source) && destination.contains(other.destination) &&
           source_port.contains(other.source_port) &&
           destination_port.contains(other.destination_port) &&
           (!protocol || protocol == other.protocol);
  }
  bool same_match(const five_tuple_rule& other) const {
    return source == other.source && destination == other.destination &&
           source_port == other.source_port && destination_port == other.destination_port &&
           protocol == other.protocol;
  }
  /// The logarithm of the number of keys that it matches.
  double breadth() const {
    return (32 - source.bits) + (32 - destination.bits) + std::log2(source_port.size()) +
           std::log2(destination_port.size()) + (protocol ? 0 : 8);
  }
};

}  // namespace coua::bench
