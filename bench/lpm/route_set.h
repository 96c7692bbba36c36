// SPDX-License-Identifier: Apache-2.0
//
// Routes as the tables of the Internet have them, by their lengths: most IPv4 prefixes are /24,
// most IPv6 prefixes /48 and /32. Addresses are random: IPv4 anywhere, IPv6 in as many /32 as there
// are prefixes to a registry's block, five.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "bench/harness/population.h"

namespace coua::bench {

enum class ip_family { ipv4, ipv6 };
const char* to_string(ip_family);

/// Bits of an address from the highest of `high` on, so of IPv4 the upper half of `high`.
struct route {
  std::uint64_t high = 0, low = 0;
  unsigned length = 0;
};

/// Distinct routes, and the questions of a sequence: addresses within them.
class route_set {
 public:
  route_set(ip_family family, std::uint64_t n, std::uint64_t seed);

  ip_family family() const { return family_; }
  /// The value of routes()[i] is i.
  const std::vector<route>& routes() const { return routes_; }

  // For sequence::fill_keys.
  std::uint64_t entries = 0;
  /// Writes two words, an address in a route; returns the value of the longest route that has it.
  std::uint64_t put(std::uint64_t index, std::uint64_t* words) const;
  /// The value of the longest route that has the address with this upper half; 0 if none has.
  std::uint64_t longest(std::uint64_t high) const;

 private:
  using table = std::unordered_map<std::uint64_t, std::uint32_t>;  // by the bits of the prefix

  route any_route(random_words& random) const;

  ip_family family_;
  std::vector<route> routes_;
  std::vector<std::uint64_t> blocks_;  // of IPv6
  std::map<unsigned, table> by_length_;
  mutable random_words hosts_;
};

}  // namespace coua::bench
