// SPDX-License-Identifier: Apache-2.0
//
// Which member of a bond sends a frame. Knows no DPDK.
//
//   frame -> hash of the fields that make a flow -> bucket (of 256) -> member
//
//   bucket  0  1  2  3  4  5  6 ...       members a, b, c; all of them send
//   member  a  b  c  a  b  c  a ...
//           a  c  c  a  a  c  a ...       b is down: its buckets go to the others, theirs stay
//
// So a flow keeps its member for as long as that one sends, whatever becomes of the others, and
// comes back to it afterwards. 256 buckets share evenly among 2, 4 and 8 members, and among the
// other numbers to within 3 per cent of each other.
//
//   hash   flows differ in
//   l2     both MAC addresses, the type, the outer VLAN tag
//   l23    both MAC addresses; of IP packets both IP addresses, too
//   l34    of IP packets both IP addresses and the protocol, and the ports of TCP, UDP and SCTP;
//          other frames as by l2
//
// All fragments of a packet are one flow: none is hashed by its ports. The seed is drawn for each
// bond: two switches in a row that hashed alike would send by some of their members only, and who
// sends packets must not be able to choose the member.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace coua::dp {

inline constexpr unsigned bond_members_max = 8;
inline constexpr unsigned bond_buckets = 256;

using member_set = std::uint8_t;  // bit: place of the member in the configuration
constexpr member_set member_bit(unsigned member) { return static_cast<member_set>(1u << member); }

enum class bond_hash : std::uint8_t { l2, l23, l34 };

/// How often the partner is to speak: every 30 s, or every second. It is gone after three times
/// that.
enum class lacp_rate : std::uint8_t { slow, fast };

namespace spread {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15u;
  return hash ^ hash >> 32;
}

template <typename Word>
Word load(const std::uint8_t* bytes) noexcept {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

inline std::uint64_t mix_bytes(std::uint64_t hash, const std::uint8_t* bytes, unsigned n) noexcept {
  for (; n >= 8; n -= 8, bytes += 8) hash = mix(hash, load<std::uint64_t>(bytes));
  if (n >= 4) hash = mix(hash, load<std::uint32_t>(bytes));
  return hash;
}

/// What of an IP packet makes its flow; lengths are 0 where there is none.
struct ip_fields {
  unsigned addresses_at = 0, addresses_bytes = 0;
  unsigned ports_at = 0;  // 0: none
  std::uint8_t protocol = 0;
};

inline bool has_ports(std::uint8_t protocol) noexcept {
  return protocol == 6 || protocol == 17 || protocol == 132;
}

inline ip_fields find_ip(const std::uint8_t* frame, unsigned length, unsigned at,
                         unsigned type) noexcept {
  ip_fields found;
  if (type == 0x0800 && length >= at + 20) {
    const unsigned header = (frame[at] & 0xFu) * 4;
    const bool is_fragment = ((frame[at + 6] & 0x3Fu) | frame[at + 7]) != 0;
    found = {at + 12, 8, 0, frame[at + 9]};
    if (!is_fragment && header >= 20 && has_ports(found.protocol)) found.ports_at = at + header;
  } else if (type == 0x86DD && length >= at + 40) {
    found = {at + 8, 32, 0, frame[at + 6]};
    if (has_ports(found.protocol)) found.ports_at = at + 40;
  }
  if (found.ports_at != 0 && length < found.ports_at + 4) found.ports_at = 0;
  return found;
}

}  // namespace spread

/// The bucket of a frame. `length`: contiguous bytes at `frame`; none after them is read.
inline unsigned bucket_of(const std::uint8_t* frame, unsigned length, bond_hash by,
                          std::uint64_t seed) noexcept {
  using namespace spread;
  if (length < 14) return 0;
  unsigned at = 12;
  unsigned type = static_cast<unsigned>(frame[at] << 8 | frame[at + 1]);
  for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88A8) && length >= at + 6; ++tags) {
    at += 4;
    type = static_cast<unsigned>(frame[at] << 8 | frame[at + 1]);
  }
  at += 2;
  const ip_fields ip = by == bond_hash::l2 ? ip_fields{} : find_ip(frame, length, at, type);
  std::uint64_t hash = mix(seed, type);
  if (by != bond_hash::l34 || ip.addresses_bytes == 0) hash = mix_bytes(hash, frame, 12);
  if (by == bond_hash::l2 || ip.addresses_bytes == 0) {
    if (at > 14 && length >= 18) hash = mix(hash, load<std::uint16_t>(frame + 14) & 0xFF0Fu);
  } else {
    hash = mix_bytes(hash, frame + ip.addresses_at, ip.addresses_bytes);
    if (by == bond_hash::l34) hash = mix(hash, ip.protocol);
    if (by == bond_hash::l34 && ip.ports_at != 0)
      hash = mix(hash, load<std::uint32_t>(frame + ip.ports_at));
  }
  hash = mix(hash, hash >> 29);
  return static_cast<unsigned>(hash >> 24 & (bond_buckets - 1));
}

using bucket_table = std::array<std::uint8_t, bond_buckets>;

/// The member of each bucket. `n` members, of which `sending` send, at least one.
inline bucket_table fill_buckets(unsigned n, member_set sending) noexcept {
  bucket_table table{};
  std::array<std::uint8_t, bond_members_max> others{};
  unsigned n_others = 0;
  for (unsigned m = 0; m < n; ++m)
    if ((sending & member_bit(m)) != 0) others[n_others++] = static_cast<std::uint8_t>(m);
  if (n_others == 0) return table;
  for (unsigned b = 0; b < bond_buckets; ++b) {
    const unsigned home = b % n;
    table[b] = (sending & member_bit(home)) != 0 ? static_cast<std::uint8_t>(home)
                                                 : others[b / n % n_others];
  }
  return table;
}

}  // namespace coua::dp
