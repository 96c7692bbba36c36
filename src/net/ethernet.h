// SPDX-License-Identifier: Apache-2.0
//
// Ethernet frames as bytes, without an I/O library.
//
//   offset 0      6      12         14        (16)
//          dst    src    ethertype  payload            untagged
//          dst    src    0x8100     tag       ethertype payload     tagged (IEEE 802.1Q)
//
//   tag: pcp (3 bits), dei (1 bit), vid (12 bits); vid 0 carries a priority only
//
// A MAC is a 48-bit word with its first byte on the wire in bits 40-47.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace coua::net {

inline constexpr std::size_t mac_bytes = 6;
inline constexpr std::size_t ethernet_header_bytes = 14;
inline constexpr std::size_t ethertype_offset = 12;
inline constexpr std::size_t vlan_tag_bytes = 4;    // with its ethertype 0x8100
inline constexpr std::size_t min_frame_bytes = 60;  // without the 4 bytes of the check sequence

inline constexpr std::uint16_t ethertype_ipv4 = 0x0800;
inline constexpr std::uint16_t ethertype_arp = 0x0806;
inline constexpr std::uint16_t ethertype_vlan = 0x8100;  // IEEE 802.1Q customer tag
inline constexpr std::uint16_t ethertype_qinq = 0x88a8;  // IEEE 802.1ad service tag
inline constexpr std::uint16_t ethertype_ipv6 = 0x86dd;
inline constexpr std::uint16_t ethertype_mpls = 0x8847;
inline constexpr std::uint16_t ethertype_mpls_multicast = 0x8848;  // RFC 5332
inline constexpr std::uint16_t ethertype_slow = 0x8809;            // LACP
inline constexpr std::uint16_t ethertype_lldp = 0x88cc;
inline constexpr std::uint16_t ethertype_test = 0x88b5;  // IEEE local experimental 1

inline constexpr std::uint16_t ethertype_min = 0x0600;  // less is the length of an 802.3 frame

inline constexpr std::uint16_t vid_max = 4094;  // 4095 is reserved
inline constexpr std::uint64_t mac_broadcast = 0xffff'ffff'ffff;
inline constexpr std::uint64_t mac_mask = 0xffff'ffff'ffff;

/// Big-endian 16 bits at any address.
constexpr std::uint16_t load_be16(const std::uint8_t* bytes) noexcept {
  return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}
constexpr void store_be16(std::uint8_t* bytes, std::uint16_t value) noexcept {
  if (std::is_constant_evaluated()) {
    bytes[0] = static_cast<std::uint8_t>(value >> 8);
    bytes[1] = static_cast<std::uint8_t>(value);
    return;
  }
  // gcc makes two stores of the above.
  value = __builtin_bswap16(value);
  __builtin_memcpy(bytes, &value, sizeof value);
}

/// The six bytes at `bytes` as a word: two loads and two swaps.
constexpr std::uint64_t load_mac(const std::uint8_t* bytes) noexcept {
  const std::uint32_t low = std::uint32_t{bytes[2]} << 24 | std::uint32_t{bytes[3]} << 16 |
                            std::uint32_t{bytes[4]} << 8 | bytes[5];
  return std::uint64_t{load_be16(bytes)} << 32 | low;
}
constexpr void store_mac(std::uint8_t* bytes, std::uint64_t mac) noexcept {
  if (std::is_constant_evaluated()) {
    for (std::size_t i = 0; i < mac_bytes; ++i) {
      bytes[i] = static_cast<std::uint8_t>(mac >> (40 - 8 * i));
    }
    return;
  }
  // gcc makes six stores of the loop.
  const std::uint32_t high = __builtin_bswap32(static_cast<std::uint32_t>(mac >> 16));
  std::memcpy(bytes, &high, sizeof high);
  store_be16(bytes + sizeof high, static_cast<std::uint16_t>(mac));
}

/// Group addresses; broadcast is one of them.
constexpr bool is_multicast(std::uint64_t mac) noexcept { return (mac >> 40 & 1) != 0; }
constexpr bool is_broadcast(std::uint64_t mac) noexcept { return mac == mac_broadcast; }
/// What a frame may name as its source and a table may learn: one station, not zero.
constexpr bool is_station(std::uint64_t mac) noexcept { return mac != 0 && !is_multicast(mac); }

/// The 16 bits after ethertype 0x8100.
constexpr std::uint16_t make_tci(std::uint16_t vid, unsigned pcp = 0, bool dei = false) noexcept {
  return static_cast<std::uint16_t>((pcp & 7) << 13 | unsigned{dei} << 12 | (vid & 0xfffU));
}

}  // namespace coua::net
