// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/wire_match.h"

#include <algorithm>

#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/ovs.h"
#include "ctl/ofp/wire_bytes.h"

namespace coua::ofp {
namespace {

using pipeline::field;
using pipeline::match_term;
using pipeline::prerequisite;

constexpr std::size_t header_size = 4;

constexpr bool is_plain(field which) {
  switch (which) {
    case field::in_port:
    case field::metadata:
    case field::tunnel_id:
    case field::eth_dst:
    case field::eth_src:
    case field::eth_type:
    case field::ip_proto:
    case field::ipv4_src:
    case field::ipv4_dst:
    case field::ipv6_src:
    case field::ipv6_dst:
    case field::tcp_src:
    case field::tcp_dst:
    case field::udp_src:
    case field::udp_dst:
    case field::sctp_src:
    case field::sctp_dst:
    case field::icmpv4_type:
    case field::icmpv4_code: return true;
    default: return pipeline::is_reg(which);
  }
}

/// The field at the beginning of the list, all of whose bytes are there.
std::optional<match_term> plain_term(message_view list, std::size_t size) {
  const std::uint32_t header = u32(list, 0);
  const auto found = plain_field_of(header);
  if (!found) return std::nullopt;
  const auto [which, n] = *found;
  const bool has_mask = (header & header_has_mask) != 0;
  if (size != header_size + (has_mask ? 2 * n : n)) return std::nullopt;
  const std::uint8_t* const value = list.data() + header_size;
  const match_term made{which, from_ovs_value(value, n),
                        has_mask ? from_ovs_value(value + n, n) : pipeline::full_mask(which)};
  // Of one without a mask bit the library forgets that it was there.
  if (made.mask == 0) return std::nullopt;
  if (which == field::in_port && !to_ovs_port(static_cast<pipeline::port_no>(made.value))) {
    return std::nullopt;
  }
  return made;
}

/// What fields ask for must stand before them. Which type and protocol it is, the model asks.
class order {
 public:
  bool take(field next) {
    const prerequisite needed = pipeline::info(next).needs;
    const bool of_type =
        needed == prerequisite::ip || needed == prerequisite::ipv4 || needed == prerequisite::ipv6;
    if (needed != prerequisite::none && !(of_type ? type_ : type_ && protocol_)) return false;
    type_ |= next == field::eth_type;
    protocol_ |= next == field::ip_proto;
    return true;
  }

 private:
  bool type_ = false, protocol_ = false;
};

}  // namespace

std::optional<plain_field> plain_field_of(std::uint32_t header) {
  const mf_field* theirs = field_of_header(header);
  const auto ours = theirs != nullptr ? from_ovs_field(theirs->id) : std::nullopt;
  if (!ours || !is_plain(*ours)) return std::nullopt;
  return plain_field{*ours, theirs->n_bytes};
}

std::optional<pipeline::match> plain_match(message_view fields) {
  std::vector<match_term> terms;
  terms.reserve(8);  // more are rare
  order in_order;
  while (!fields.empty()) {
    if (fields.size() < header_size) return std::nullopt;
    const std::size_t size = header_size + fields[3];
    if (size > fields.size()) return std::nullopt;
    const auto one = plain_term(fields, size);
    if (!one || !in_order.take(one->which)) return std::nullopt;
    const auto behind = std::find_if(terms.begin(), terms.end(), [&](const match_term& each) {
      return each.which > one->which;
    });
    terms.insert(behind, *one);
    fields = fields.subspan(size);
  }
  auto made = pipeline::match::make(std::move(terms));
  if (!made) return std::nullopt;
  return std::move(*made);
}

}  // namespace coua::ofp
