// SPDX-License-Identifier: Apache-2.0
#include "net/rewrite_mpls.h"

#include "net/rewrite_ip.h"

namespace coua::net {
namespace {

constexpr std::uint32_t entry_bytes = wire::mpls::entry_bytes;
constexpr std::size_t entry_ttl = 3;

std::uint8_t ip_ttl(const packet& p, const layers& l) noexcept {
  if (l.has(layer::ipv4)) return p.bytes[l.network + wire::ipv4::ttl];
  if (l.has(layer::ipv6)) return p.bytes[l.network + wire::ipv6::hop_limit];
  return 0;
}

enum class below : std::uint8_t { unknown, entry, ipv4, ipv6 };

/// What is below the outermost entry.
below look_below(const packet& p, const layers& l) noexcept {
  if (!l.has(layer::mpls)) return below::unknown;
  const std::uint8_t* const entry = p.bytes + l.network;
  const std::size_t there = p.contiguous - l.network - entry_bytes;
  if ((load_be32(entry) & wire::mpls::bottom_bit) == 0) {
    return there >= entry_bytes ? below::entry : below::unknown;
  }
  if (is_ipv4_header(entry + entry_bytes, there)) return below::ipv4;
  if (is_ipv6_header(entry + entry_bytes, there)) return below::ipv6;
  return below::unknown;
}

/// From the first byte of the outermost entry.
std::size_t ttl_offset(below what) noexcept {
  switch (what) {
    case below::ipv4: return entry_bytes + wire::ipv4::ttl;
    case below::ipv6: return entry_bytes + wire::ipv6::hop_limit;
    default: return entry_bytes + entry_ttl;
  }
}

}  // namespace

rewrite_result push_mpls(packet& p, layers& l, std::uint16_t ethertype) noexcept {
  COUA_ASSERT(is_mpls_type(ethertype));
  if (!l.has(layer::eth_type)) return rewrite_result::no_header;
  if (p.headroom < entry_bytes) return rewrite_result::no_headroom;
  const std::uint32_t entry = l.has(layer::mpls)
                                  ? load_be32(p.bytes + l.network) & ~wire::mpls::bottom_bit
                                  : wire::mpls::bottom_bit | ip_ttl(p, l);
  open_gap(p, l.network, entry_bytes);
  store_be16(p.bytes + l.network - 2, ethertype);
  store_be32(p.bytes + l.network, entry);

  layers now;
  now.present = (l.present & (layer::ethernet | layer::vlan | layer::second_vlan)) |
                layer::eth_type | layer::mpls;
  now.eth_type = ethertype;
  now.vlan_tci = l.vlan_tci;
  now.network = l.network;
  l = now;
  return rewrite_result::done;
}

rewrite_result pop_mpls(packet& p, layers& l, std::uint16_t ethertype) noexcept {
  if (!l.has(layer::mpls)) return rewrite_result::no_header;
  store_be16(p.bytes + l.network - 2, ethertype);
  close_gap(p, l.network, entry_bytes);
  if (!is_mpls_type(ethertype)) return rewrite_result::parse_again;
  l.eth_type = ethertype;
  if (p.contiguous - l.network < entry_bytes) l.present &= ~layer::mpls;
  return rewrite_result::done;
}

rewrite_result copy_ttl_out(packet& p, const layers& l) noexcept {
  const below what = look_below(p, l);
  if (what == below::unknown) return rewrite_result::no_header;
  std::uint8_t* const entry = p.bytes + l.network;
  entry[entry_ttl] = entry[ttl_offset(what)];
  return rewrite_result::done;
}

rewrite_result copy_ttl_in(packet& p, const layers& l) noexcept {
  const below what = look_below(p, l);
  if (what == below::unknown) return rewrite_result::no_header;
  std::uint8_t* const entry = p.bytes + l.network;
  if (what == below::ipv4) {
    detail::set_ipv4_ttl(entry + entry_bytes, entry[entry_ttl]);
  } else {
    entry[ttl_offset(what)] = entry[entry_ttl];
  }
  return rewrite_result::done;
}

}  // namespace coua::net
