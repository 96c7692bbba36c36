// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/port_convert.h"

#include <algorithm>
#include <cstring>

namespace coua::ofp {
namespace {

/// ofp_port_features has bits for some speeds only.
netdev_features feature_of(std::uint32_t mbps) {
  switch (mbps) {
    case 10: return NETDEV_F_10MB_FD;
    case 100: return NETDEV_F_100MB_FD;
    case 1'000: return NETDEV_F_1GB_FD;
    case 10'000: return NETDEV_F_10GB_FD;
    case 40'000: return NETDEV_F_40GB_FD;
    case 100'000: return NETDEV_F_100GB_FD;
    case 1'000'000: return NETDEV_F_1TB_FD;
    default: return mbps == 0 ? netdev_features{} : NETDEV_F_OTHER;
  }
}

}  // namespace

ofputil_phy_port to_ovs(const port_facts& ours) {
  ofputil_phy_port made{};
  made.port_no = to_ovs_port(ours.number).value_or(OFPP_NONE);
  std::memcpy(made.hw_addr.ea, ours.mac.data(), ours.mac.size());
  // OpenFlow 1.3 has room for 15 characters.
  constexpr std::size_t name_max = 15;
  std::memcpy(made.name, ours.name.data(), std::min(ours.name.size(), name_max));
  made.config = static_cast<ofputil_port_config>(ours.config);
  made.state = static_cast<ofputil_port_state>((ours.link_up ? 0 : OFPUTIL_PS_LINK_DOWN) |
                                               (ours.live ? OFPUTIL_PS_LIVE : 0));
  made.curr = feature_of(ours.speed_mbps);
  made.curr_speed = made.max_speed = ours.speed_mbps * 1000;
  return made;
}

}  // namespace coua::ofp
