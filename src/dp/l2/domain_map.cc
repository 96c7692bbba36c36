// SPDX-License-Identifier: Apache-2.0
#include "dp/l2/domain_map.h"

#include <algorithm>

namespace coua::dp {

std::optional<unsigned> domain_map::take(unsigned bridge, bool is_first,
                                         std::span<const std::uint16_t> vlans,
                                         const is_used& in_use, std::vector<std::uint16_t>& taken) {
  std::vector<std::uint16_t> wanted;
  std::bitset<n_domains> kept;  // of VLANs that have one already, used or not
  for (const std::uint16_t vlan : vlans) {
    const std::uint16_t has = find(bridge, vlan);
    if (has != 0)
      kept.set(has);
    else
      wanted.push_back(vlan);
  }
  if (wanted.empty()) return std::nullopt;
  std::ranges::sort(wanted);
  const auto again = std::ranges::unique(wanted);
  wanted.erase(again.begin(), again.end());
  // Those that nobody has come before those that somebody has, but does not use.
  std::vector<std::uint16_t> free, unused;
  for (std::uint16_t domain = domains_max; domain != 0; --domain) {
    if (kept[domain] || in_use(domain)) continue;
    (owners_[domain].has_bridge ? unused : free).push_back(domain);
  }
  free.insert(free.end(), unused.begin(), unused.end());
  if (free.size() < wanted.size()) return static_cast<unsigned>(wanted.size() - free.size());
  const auto give_next = [&](std::uint16_t domain, std::uint16_t vlan) {
    give(domain, bridge, vlan);
    taken.push_back(domain);
  };
  if (is_first) {
    std::bitset<n_domains> is_free;
    for (const std::uint16_t domain : free) is_free.set(domain);
    std::erase_if(wanted, [&](std::uint16_t vlan) {
      if (!is_free[vlan]) return false;
      give_next(vlan, vlan);
      kept.set(vlan);
      return true;
    });
    std::erase_if(free, [&](std::uint16_t domain) { return kept[domain]; });
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) give_next(free[i], wanted[i]);
  return std::nullopt;
}

void domain_map::give(std::uint16_t domain, unsigned bridge, std::uint16_t vlan) {
  owner& of = owners_[domain];
  if (of.has_bridge) domains_[of.bridge][of.vlan] = 0;
  of = {true, static_cast<std::uint8_t>(bridge), vlan};
  domains_[bridge][vlan] = domain;
}

void domain_map::forget(unsigned bridge) {
  domains_[bridge] = {};
  for (owner& each : owners_)
    if (each.has_bridge && each.bridge == bridge) each.has_bridge = false;
}

}  // namespace coua::dp
