// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/test_packet.h"

#include <cctype>

#include "base/check.h"
#include "net/checksum.h"
#include "net/ethernet.h"

namespace coua::pipeline::test {
namespace {

unsigned digit(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : std::tolower(c) - 'a' + 10);
}
bytes be16(unsigned value) {
  return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)};
}

/// Where the checksum of L4 stands, and over what it is: for packets that these helpers make, with
/// no extension headers but a routing header.
struct l4_place {
  std::size_t ip = 0, l4 = 0, end = 0;
  unsigned proto = 0;
  std::size_t checksum = 0;  // 0: none
  bool fragment = false;
};

l4_place find_l4(const bytes& all) {
  l4_place at;
  std::size_t type = 12;
  while (type + 4 < all.size() && (net::load_be16(&all[type]) == net::ethertype_vlan ||
                                   net::load_be16(&all[type]) == net::ethertype_qinq)) {
    type += 4;
  }
  if (type + 2 + 20 > all.size()) return at;
  at.ip = type + 2;
  if (net::load_be16(&all[type]) == net::ethertype_ipv4) {
    at.proto = all[at.ip + 9];
    at.l4 = at.ip + (all[at.ip] & 15U) * 4;
    at.end = at.ip + net::load_be16(&all[at.ip + 2]);
    at.fragment = (net::load_be16(&all[at.ip + 6]) & 0x3fff) != 0;
  } else if (net::load_be16(&all[type]) == net::ethertype_ipv6) {
    at.proto = all[at.ip + 6];
    at.l4 = at.ip + 40;
    at.end = at.l4 + net::load_be16(&all[at.ip + 4]);
    if (at.proto == 43) {
      at.proto = all[at.l4];
      at.l4 += (all[at.l4 + 1] + std::size_t{1}) * 8;
    }
  } else {
    at.ip = 0;
    return at;
  }
  const std::size_t offset = at.proto == 6                     ? 16
                             : at.proto == 17                  ? 6
                             : at.proto == 1 || at.proto == 58 ? 2
                             : at.proto == 132                 ? 8
                                                               : 0;
  if (offset != 0 && !at.fragment && at.end <= all.size() && at.l4 + offset + 2 <= at.end) {
    at.checksum = at.l4 + offset;
  }
  return at;
}

/// What the checksum must be; SCTP's has four bytes.
std::uint32_t right_l4(bytes all, const l4_place& at) {
  const std::size_t width = at.proto == 132 ? 4 : 2;
  for (std::size_t i = 0; i < width; ++i) all[at.checksum + i] = 0;
  const std::span<const std::uint8_t> view(all);
  const auto message = view.subspan(at.l4, at.end - at.l4);
  if (at.proto == 132) return net::crc32c(message);
  std::uint64_t sum = net::internet_sum(message);
  const bool v4 = all[at.ip] >> 4 == 4;
  if (at.proto != 1) {
    sum += at.proto + message.size();
    sum += v4 ? net::internet_sum(view.subspan(at.ip + 12, 8))
              : net::internet_sum(view.subspan(at.ip + 8, 16));
    if (!v4) {
      // With hops left, the final destination is the last address of the routing header.
      const bool routed = all[at.ip + 6] == 43 && all[at.ip + 43] != 0;
      sum += net::internet_sum(view.subspan(routed ? at.l4 - 16 : at.ip + 24, 16));
    }
  }
  const auto checksum = static_cast<std::uint16_t>(~net::fold_sum(sum));
  return at.proto == 17 && checksum == 0 ? 0xffff : checksum;
}

}  // namespace

bytes hex(std::string_view text) {
  bytes made;
  unsigned n = 0, value = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    value = value << 4 | digit(c);
    if (++n % 2 == 0) made.push_back(static_cast<std::uint8_t>(value));
  }
  COUA_CHECK(n % 2 == 0);
  return made;
}

bytes operator+(bytes left, const bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
bytes zeros(std::size_t n) { return bytes(n); }

bytes ethernet(std::uint16_t type) { return hex("020000000002 020000000001") + be16(type); }
bytes tag(std::uint16_t tci, std::uint16_t type_after) { return be16(tci) + be16(type_after); }
bytes mpls_entry(std::uint32_t label, unsigned tc, bool bos, unsigned ttl) {
  const std::uint32_t entry = label << 12 | tc << 9 | unsigned{bos} << 8 | ttl;
  return be16(entry >> 16) + be16(entry & 0xffff);
}

bytes arp() { return hex("0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"); }

bytes ipv4(std::uint8_t proto, const bytes& payload, const bytes& options, std::uint16_t fragment,
           std::uint8_t tos) {
  const std::size_t header = 20 + options.size();
  bytes made{static_cast<std::uint8_t>(0x40 | header / 4), tos};
  made = made + be16(static_cast<unsigned>(header + payload.size())) + be16(7) + be16(fragment) +
         bytes{64, proto} + be16(0) + hex("0a000001 0a000002") + options;
  const auto checksum = static_cast<std::uint16_t>(~net::fold_sum(net::internet_sum(made)));
  net::store_be16(&made[10], checksum);
  return made + payload;
}

bytes ipv6(std::uint8_t next, const bytes& payload) {
  return hex("60000000") + be16(static_cast<unsigned>(payload.size())) + bytes{next, 64} +
         hex("20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00000002") + payload;
}

bytes tcp(std::uint16_t source, std::uint16_t destination, const bytes& payload) {
  return be16(source) + be16(destination) + hex("00000001 00000002 5012 2000 0000 0000") + payload;
}
bytes udp(std::uint16_t source, std::uint16_t destination, const bytes& payload) {
  return be16(source) + be16(destination) + be16(static_cast<unsigned>(8 + payload.size())) +
         be16(0) + payload;
}
bytes sctp(std::uint16_t source, std::uint16_t destination, const bytes& payload) {
  return be16(source) + be16(destination) + hex("01020304 00000000") + payload;
}
bytes icmp(std::uint8_t type, std::uint8_t code, const bytes& payload) {
  return bytes{type, code} + hex("0000 00010002") + payload;
}
bytes neighbour(std::uint8_t type, const bytes& options) {
  return bytes{type, 0} + hex("0000 00000000 20010db8 00000000 00000000 00000099") + options;
}

packet from_port_1(const bytes& frame) {
  packet made;
  made.bytes = frame;
  made.in_port = 1;
  return fix_checksums(made);
}

packet fix_checksums(packet one) {
  const l4_place at = find_l4(one.bytes);
  if (at.checksum == 0) return one;
  const std::uint32_t right = right_l4(one.bytes, at);
  if (at.proto == 132) {
    for (unsigned i = 0; i < 4; ++i) {
      one.bytes[at.checksum + i] = static_cast<std::uint8_t>(right >> 8 * i);
    }
  } else {
    net::store_be16(&one.bytes[at.checksum], static_cast<std::uint16_t>(right));
  }
  return one;
}

bool checksums_right(const packet& one) {
  const l4_place at = find_l4(one.bytes);
  if (at.ip == 0) return true;
  const std::span<const std::uint8_t> view(one.bytes);
  if (one.bytes[at.ip] >> 4 == 4) {
    const auto header = view.subspan(at.ip, (one.bytes[at.ip] & 15U) * 4);
    if (net::fold_sum(net::internet_sum(header)) != 0xffff) return false;
  }
  if (at.checksum == 0) return true;
  if (at.proto == 17 && net::load_be16(&one.bytes[at.checksum]) == 0) return true;
  return fix_checksums(one) == one;
}

}  // namespace coua::pipeline::test
