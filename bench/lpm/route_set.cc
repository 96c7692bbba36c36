// SPDX-License-Identifier: Apache-2.0
#include "bench/lpm/route_set.h"

#include <algorithm>

namespace coua::bench {
namespace {

/// How many prefixes of each length there are in a hundred thousand, as collectors of BGP tables
/// saw them in the early 2020s, rounded.
struct share {
  unsigned length, n;
};
constexpr share ipv4_shares[] = {{8, 2},       {9, 1},      {10, 4},     {11, 10},    {12, 30},
                                 {13, 60},     {14, 120},   {15, 200},   {16, 1'400}, {17, 850},
                                 {18, 1'450},  {19, 2'600}, {20, 4'600}, {21, 5'300}, {22, 11'500},
                                 {23, 10'500}, {24, 61'373}};
constexpr share ipv6_shares[] = {
    {20, 20},    {24, 30},    {28, 100},   {29, 2'800}, {30, 400},    {31, 250},   {32, 13'400},
    {33, 2'600}, {34, 1'700}, {35, 800},   {36, 5'600}, {38, 1'800},  {40, 9'500}, {42, 2'200},
    {44, 8'600}, {45, 800},   {46, 2'600}, {47, 1'400}, {48, 45'300}, {56, 50},    {64, 50}};
constexpr std::uint64_t all_shares = 100'000;

template <std::size_t N>
constexpr std::uint64_t sum(const share (&of)[N]) {
  std::uint64_t n = 0;
  for (const share& each : of) n += each.n;
  return n;
}
static_assert(sum(ipv4_shares) == all_shares && sum(ipv6_shares) == all_shares);

template <std::size_t N>
unsigned any_length(const share (&of)[N], random_words& random) {
  std::uint64_t left = random.below(all_shares);
  const share* at = of;
  for (; left >= at->n; ++at) left -= at->n;
  return at->length;
}

std::uint64_t first_bits(std::uint64_t word, unsigned n) {
  return n == 0 ? 0 : word & ~std::uint64_t{0} << (64 - n);
}

}  // namespace

const char* to_string(ip_family family) { return family == ip_family::ipv4 ? "ipv4" : "ipv6"; }

route_set::route_set(ip_family family, std::uint64_t n, std::uint64_t seed)
    : entries(n), family_(family), hosts_(seed + 1) {
  random_words random(seed);
  if (family == ip_family::ipv6) {
    blocks_.resize(std::max<std::uint64_t>(n / 5, 1));
    // Global unicast, 2000::/3.
    for (std::uint64_t& each : blocks_)
      each = first_bits(random() >> 3 | std::uint64_t{1} << 61, 32);
  }
  while (routes_.size() < n) {
    const route one = any_route(random);
    const auto value = static_cast<std::uint32_t>(routes_.size());
    if (by_length_[one.length].emplace(one.high, value).second) routes_.push_back(one);
  }
}

/// No length is beyond 64.
route route_set::any_route(random_words& random) const {
  if (family_ == ip_family::ipv6) {
    const unsigned length = any_length(ipv6_shares, random);
    const std::uint64_t block = blocks_[random.below(blocks_.size())];
    return {first_bits(block | random() >> 32, length), 0, length};
  }
  // 1.0.0.0 to 223.255.255.255.
  const std::uint64_t address = (std::uint64_t{1} << 24) + random.below(std::uint64_t{223} << 24);
  const unsigned length = any_length(ipv4_shares, random);
  return {first_bits(address << 32, length), 0, length};
}

std::uint64_t route_set::put(std::uint64_t index, std::uint64_t* words) const {
  const route& in = routes_[index];
  words[0] = in.high | (hosts_() & ~first_bits(~std::uint64_t{0}, in.length));
  words[1] = hosts_();
  if (family_ == ip_family::ipv4) words[0] = first_bits(words[0], 32);
  return longest(words[0]);
}

std::uint64_t route_set::longest(std::uint64_t high) const {
  for (auto at = by_length_.rbegin(); at != by_length_.rend(); ++at) {
    const auto found = at->second.find(first_bits(high, at->first));
    if (found != at->second.end()) return found->second;
  }
  return 0;
}

}  // namespace coua::bench
