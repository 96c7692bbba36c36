// SPDX-License-Identifier: Apache-2.0
#include "pipeline/oracle/tags.h"

#include "net/ethernet.h"
#include "pipeline/oracle/checksums.h"
#include "pipeline/oracle/parse.h"

namespace coua::pipeline {
namespace {

constexpr std::size_t mpls_entry_bytes = 4;

void insert_zeros(packet& into, std::size_t at, std::size_t n) {
  into.bytes.insert(into.bytes.begin() + static_cast<std::ptrdiff_t>(at), n, 0);
}
void erase(packet& from, std::size_t at, std::size_t n) {
  const auto begin = from.bytes.begin() + static_cast<std::ptrdiff_t>(at);
  from.bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(n));
}

/// The TTL of what is below the outermost MPLS entry.
struct ttl_below {
  std::size_t at;
  std::optional<std::size_t> ipv4;  // the header that it belongs to
};
std::optional<ttl_below> find_below(const packet& one, const parsed& headers) {
  if (!headers.mpls) return std::nullopt;
  const std::size_t below = *headers.mpls + mpls_entry_bytes;
  if (headers.get(field::mpls_bos) == 0) {
    if (one.bytes.size() - below < mpls_entry_bytes) return std::nullopt;
    return ttl_below{below + 3, std::nullopt};
  }
  // Nothing says what follows the last label but the first four bits.
  if (is_ipv4_header(one, below)) return ttl_below{below + 8, below};
  if (is_ipv6_header(one, below)) return ttl_below{below + 7, std::nullopt};
  return std::nullopt;
}

}  // namespace

bool push_vlan(packet& one, std::uint16_t ethertype) {
  const parsed headers = parse(one);
  if (!headers.has(field::eth_dst)) return false;
  const auto vid = static_cast<std::uint16_t>(headers.get(field::vlan_vid) & 0xfff);
  const auto pcp = static_cast<unsigned>(headers.get(field::vlan_pcp));
  insert_zeros(one, net::ethertype_offset, net::vlan_tag_bytes);
  net::store_be16(&one.bytes[net::ethertype_offset], ethertype);
  net::store_be16(&one.bytes[net::ethertype_offset + 2], net::make_tci(vid, pcp));
  return true;
}

bool pop_vlan(packet& one) {
  if (!parse(one).tagged) return false;
  erase(one, net::ethertype_offset, net::vlan_tag_bytes);
  return true;
}

bool push_mpls(packet& one, std::uint16_t ethertype) {
  const parsed headers = parse(one);
  if (!headers.type_at) return false;
  const bool first = !headers.mpls.has_value();
  const value128 ttl = headers.get(first ? field::ip_ttl : field::mpls_ttl);
  const value128 entry = headers.get(field::mpls_label) << 12 | headers.get(field::mpls_tc) << 9 |
                         value128{first} << 8 | ttl;
  const std::size_t at = *headers.type_at + 2;
  insert_zeros(one, at, mpls_entry_bytes);
  write_bits(one, {at, mpls_entry_bytes, 32, 0}, entry);
  net::store_be16(&one.bytes[*headers.type_at], ethertype);
  return true;
}

bool pop_mpls(packet& one, std::uint16_t ethertype) {
  const parsed headers = parse(one);
  if (!headers.mpls) return false;
  erase(one, *headers.mpls, mpls_entry_bytes);
  net::store_be16(&one.bytes[*headers.type_at], ethertype);
  return true;
}

bool copy_ttl_out(packet& one) {
  const parsed headers = parse(one);
  const std::optional<ttl_below> below = find_below(one, headers);
  if (!below) return false;
  one.bytes[*headers.mpls + 3] = one.bytes[below->at];
  return true;
}

bool copy_ttl_in(packet& one) {
  const parsed headers = parse(one);
  const std::optional<ttl_below> below = find_below(one, headers);
  if (!below) return false;
  const packet before = one;
  one.bytes[below->at] = one.bytes[*headers.mpls + 3];
  if (below->ipv4) update_ipv4_checksum(one, before, *below->ipv4);
  return true;
}

}  // namespace coua::pipeline
