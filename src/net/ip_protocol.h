// SPDX-License-Identifier: Apache-2.0
//
// Numbers of protocols above Ethernet that are carried in IP (IANA).
#pragma once

#include <cstdint>

namespace coua::net {

inline constexpr std::uint8_t ip_proto_hop_by_hop = 0;
inline constexpr std::uint8_t ip_proto_icmp = 1;
inline constexpr std::uint8_t ip_proto_tcp = 6;
inline constexpr std::uint8_t ip_proto_udp = 17;
inline constexpr std::uint8_t ip_proto_routing = 43;
inline constexpr std::uint8_t ip_proto_fragment = 44;
inline constexpr std::uint8_t ip_proto_gre = 47;
inline constexpr std::uint8_t ip_proto_esp = 50;
inline constexpr std::uint8_t ip_proto_auth = 51;
inline constexpr std::uint8_t ip_proto_icmpv6 = 58;
inline constexpr std::uint8_t ip_proto_no_next = 59;
inline constexpr std::uint8_t ip_proto_dest_options = 60;
inline constexpr std::uint8_t ip_proto_sctp = 132;

inline constexpr std::uint8_t icmpv6_neighbour_solicitation = 135;
inline constexpr std::uint8_t icmpv6_neighbour_advertisement = 136;
inline constexpr std::uint8_t nd_option_source_link_layer = 1;
inline constexpr std::uint8_t nd_option_target_link_layer = 2;

}  // namespace coua::net
