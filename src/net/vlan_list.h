// SPDX-License-Identifier: Apache-2.0
//
// Lists of VLANs as texts. They are sorted, and have each VLAN once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

namespace coua::net {

/// "10,20-30"
inline std::string format_vlans(std::span<const std::uint16_t> vlans) {
  std::string text;
  for (std::size_t i = 0; i < vlans.size();) {
    std::size_t last = i;
    while (last + 1 < vlans.size() && vlans[last + 1] == vlans[last] + 1) last++;
    if (!text.empty()) text += ',';
    text += std::to_string(vlans[i]);
    if (last > i) text += '-' + std::to_string(vlans[last]);
    i = last + 1;
  }
  return text;
}

/// Empty when a FIB entry of this VLAN may be at the port that carries these, else the reason: a
/// port drops what is sent to it in another one.
inline std::string check_carried(const std::string& port, std::span<const std::uint16_t> carried,
                                 unsigned vlan) {
  constexpr std::size_t shown = 80;  // characters of the list
  if (std::ranges::binary_search(carried, vlan)) return {};
  if (carried.empty()) return "port " + port + " is a mirror port, which carries no VLAN";
  std::string list = format_vlans(carried);
  if (list.size() > shown) list = list.substr(0, list.rfind(',', shown)) + "...";
  return "port " + port + " does not carry VLAN " + std::to_string(vlan) + "; it carries " + list;
}

}  // namespace coua::net
