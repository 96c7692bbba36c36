// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/packet_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "ctl/ofp/compose.h"
#include "ctl/ofp/flow_text.h"
#include "ctl/ofp/match_convert.h"
#include "ctl/ofp/value_check.h"
#include "net/ethernet.h"
#include "pipeline/oracle/parse.h"

namespace coua::ofp {
namespace {

using pipeline::field;
using pipeline::match_term;

constexpr std::size_t hex_bytes_max = 16'384;
constexpr std::string_view separators = ", \t\r\n";

/// The last word, if it is bytes in hexadecimal: no field has such a name. A single digit, as in
/// "dl_vlan 5", is a slip.
std::string_view hex_part(std::string_view text) {
  const std::size_t end = text.find_last_not_of(separators);
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const std::size_t before = text.find_last_of(separators);
  const std::string_view word = before == std::string_view::npos ? text : text.substr(before + 1);
  const bool hex =
      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  return hex && word.size() > 1 ? word : std::string_view{};
}

result<std::vector<std::uint8_t>> bytes_of(std::string_view hex) {
  if (hex.size() % 2 != 0) return fail(errc::invalid, "packet", "half a byte at the end");
  if (hex.size() / 2 < net::ethernet_header_bytes || hex.size() / 2 > hex_bytes_max) {
    return fail(errc::invalid, "packet",
                "a frame has " + std::to_string(net::ethernet_header_bytes) + " to " +
                    std::to_string(hex_bytes_max) + " bytes");
  }
  std::vector<std::uint8_t> made;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    made.push_back(static_cast<std::uint8_t>(digit(hex[i]) << 4 | digit(hex[i + 1])));
  }
  return made;
}

/// A match and nothing besides.
result<pipeline::match> read_match(std::string_view text, const port_names& names) {
  auto said = parse_filter(text, names);
  if (!said) return tl::unexpected(said.error());
  const rule_filter none;
  if (said->table != none.table || said->cookie_mask != 0 || said->out_port != none.out_port ||
      said->out_group != none.out_group) {
    return fail(errc::invalid, "packet", "a packet has no table, cookie, out_port or out_group");
  }
  return std::move(said->match);
}

/// What the text says of the way through the pipeline.
pipeline::packet outside_bytes(const pipeline::match& said) {
  pipeline::packet made;
  const auto value = [&said](field which) {
    const match_term* term = said.find(which);
    return term != nullptr ? term->value : 0;
  };
  made.in_port = said.find(field::in_port) != nullptr
                     ? static_cast<pipeline::port_no>(value(field::in_port))
                     : pipeline::port_any;
  made.metadata = static_cast<std::uint64_t>(value(field::metadata));
  made.tunnel_id = static_cast<std::uint64_t>(value(field::tunnel_id));
  for (unsigned i = 0; i < pipeline::n_registers; ++i) {
    made.reg[i] = static_cast<std::uint32_t>(value(pipeline::reg(i)));
  }
  return made;
}

std::vector<std::uint8_t> compose(flow with, const pipeline::match& said) {
  if (said.find(field::ip_ttl) == nullptr) with.nw_ttl = 64;
  // 0 would be a hop-by-hop header that is cut off.
  const bool is_ipv6 = with.dl_type == htons(net::ethertype_ipv6);
  if (is_ipv6 && said.find(field::ip_proto) == nullptr) with.nw_proto = IPPROTO_NONE;
  if ((with.vlans[0].tci & htons(pipeline::vlan_present)) != 0) {
    with.vlans[0].tpid = htons(net::ethertype_vlan);
  }
  if (said.find(field::mpls_bos) == nullptr) with.mpls_lse[0] |= htonl(1U << 8);
  std::array<std::uint8_t, 512> room;
  const std::size_t size = coua_compose(&with, room.data(), room.size());
  return {room.begin(), room.begin() + std::min(size, room.size())};
}

/// The composer passes over what the kind of packet does not have.
result<void> check(const pipeline::packet& made, const pipeline::match& said) {
  const pipeline::field_values values = parse(made).values;
  for (const match_term& term : said.terms()) {
    if (term.which == field::in_port) continue;
    if (!values.has(term.which) || (values.get(term.which) & term.mask) != term.value) {
      return fail(errc::invalid, pipeline::info(term.which).name,
                  "no packet could be made that has this and the other fields: give its bytes");
    }
  }
  return {};
}

}  // namespace

result<pipeline::packet> parse_packet(std::string_view text, const port_names& names) {
  const std::string_view hex = hex_part(text);
  const std::string_view fields = hex.empty() ? text : text.substr(0, hex.data() - text.data());
  const auto said = read_match(fields, names);
  if (!said) return tl::unexpected(said.error());
  pipeline::packet made = outside_bytes(*said);
  if (!hex.empty()) {
    auto bytes = bytes_of(hex);
    if (!bytes) return tl::unexpected(bytes.error());
    made.bytes = std::move(*bytes);
  } else {
    const auto match = to_ovs(*said);
    if (!match) return tl::unexpected(to_error(match.error()));
    made.bytes = compose(match->flow, *said);
  }
  if (auto good = check(made, *said); !good) return tl::unexpected(good.error());
  return made;
}

std::string print_packet(const pipeline::packet& one, const port_names& names) {
  silence_library();
  const pipeline::field_values values = parse(one).values;
  std::vector<match_term> terms;
  for (std::size_t i = 0; i < pipeline::n_fields; ++i) {
    const auto which = static_cast<field>(i);
    const bool unset =
        !values.has(which) || (which == field::in_port && one.in_port == pipeline::port_any);
    // Zeros of the pipeline say nothing.
    const bool empty = (pipeline::is_reg(which) || which == field::metadata ||
                        which == field::tunnel_id || which == field::conj_id) &&
                       values.get(which) == 0;
    if (unset || empty || which == field::in_phy_port) continue;
    terms.push_back(exact(which, values.get(which)));
  }
  auto all = pipeline::match::make(terms);
  if (!all) return "any";
  std::erase_if(terms, [](const match_term& term) { return term.which == field::ipv6_exthdr; });
  const auto sayable = pipeline::match::make(terms);
  const auto match = sayable ? to_ovs(*sayable) : to_ovs(*all);
  if (!match) return all->to_string();  // what the library cannot say, the model can
  const ovs_port_map map(names);
  ovs_text text;
  match_format(&*match, map.get(), text.get(), OFP_DEFAULT_PRIORITY);
  return std::string(text.view());
}

}  // namespace coua::ofp
