// SPDX-License-Identifier: Apache-2.0
//
// Which domain of the FIB stands for a VLAN of a bridge. A key of the FIB has 12 bits for it, so
// all bridges share 4,095 domains; 0 is none.
//
//   (bridge, VLAN) --> domain --> | FIB key: domain, address | --> port of that bridge
//
// A pair gets its domain when a port first carries it or a static entry names it: of the first
// bridge the number of the VLAN, where that is free, so that a switch with one bridge has VLANs for
// domains; of others the highest that is free. The pair keeps it until somebody else needs it: a
// domain is free when no port carries it and no entry has it, whose ever it is. Used by one thread
// (`tables`); workers see it by the plan.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "dp/domains_max.h"
#include "dp/plan.h"

namespace coua::dp {

static_assert(domains_max == n_domains - 1);

class domain_map {
 public:
  /// 0: there is none.
  std::uint16_t find(unsigned bridge, std::uint16_t vlan) const { return domains_[bridge][vlan]; }
  /// Of a bridge, by VLAN.
  const vlan_domains& of(unsigned bridge) const { return domains_[bridge]; }
  /// Of the VLAN of a domain that somebody has.
  std::uint16_t vlan_of(std::uint16_t domain) const { return owners_[domain].vlan; }
  bool is_of(std::uint16_t domain, unsigned bridge) const {
    return owners_[domain].has_bridge && owners_[domain].bridge == bridge;
  }

  /// Gives each of the VLANs of a bridge a domain, or, when there are too few, none of them.
  /// `is_first`: the bridge's domains are its VLANs where they can be. `in_use(domain)`: it cannot
  /// be given to somebody else. Nothing: it is done, and `taken` has those that are new;
  /// else how many are missing.
  using is_used = std::function<bool(std::uint16_t domain)>;
  std::optional<unsigned> take(unsigned bridge, bool is_first, std::span<const std::uint16_t> vlans,
                               const is_used& in_use, std::vector<std::uint16_t>& taken);
  /// The bridge is gone. Its domains stay nobody's until their entries are gone, too.
  void forget(unsigned bridge);

 private:
  struct owner {
    bool has_bridge = false;
    std::uint8_t bridge = 0;
    std::uint16_t vlan = 0;
  };
  void give(std::uint16_t domain, unsigned bridge, std::uint16_t vlan);

  std::array<vlan_domains, bridges_max> domains_{};
  std::array<owner, n_domains> owners_{};
};

}  // namespace coua::dp
