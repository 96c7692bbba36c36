// SPDX-License-Identifier: Apache-2.0
//
// What is done with a packet (OpenFlow 1.3.5, section 5.12). A list is executed in its order; an
// action set (action_set.h) in that of the specification.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "pipeline/model/field.h"
#include "pipeline/model/port.h"

namespace coua::pipeline {

using group_id = std::uint32_t;
inline constexpr group_id group_max = 0xffff'ff00;
inline constexpr group_id group_all = 0xffff'fffc;  // every group, in a deletion
inline constexpr group_id group_any = 0xffff'ffff;  // none: the absence of a filter or a watch

inline constexpr std::uint16_t controller_max_len_all =
    0xffff;  // OFPCML_NO_BUFFER: the whole packet

namespace act {

struct output {
  port_no port = 0;
  std::uint16_t max_len = controller_max_len_all;  // bytes for the controller
  bool operator==(const output&) const = default;
};
struct group {
  group_id id = 0;
  bool operator==(const group&) const = default;
};
/// Of the ports that the packet is sent to from now on.
struct set_queue {
  std::uint32_t queue = 0;
  bool operator==(const set_queue&) const = default;
};
struct push_vlan {
  std::uint16_t ethertype = 0x8100;  // or 0x88a8
  bool operator==(const push_vlan&) const = default;
};
struct pop_vlan {
  bool operator==(const pop_vlan&) const = default;
};
struct push_mpls {
  std::uint16_t ethertype = 0x8847;  // or 0x8848
  bool operator==(const push_mpls&) const = default;
};
struct pop_mpls {
  std::uint16_t ethertype = 0;  // of what is below
  bool operator==(const pop_mpls&) const = default;
};
struct set_field {
  field which = field::eth_dst;
  value128 value = 0;
  value128 mask = 0;
  bool operator==(const set_field&) const = default;
};
/// Of bits as many as `from` has. Without one of the fields the packet stays as it is.
struct move {
  field_bits from, to;
  bool operator==(const move&) const = default;
};
/// Through a table and those that it leads to; then the list goes on (model/resubmit.h).
struct resubmit {
  port_no in_port = port_in_port;  // that the look-up in the first table sees; port_in_port: as is
  std::optional<std::uint8_t> table;  // none: the table of the rule
  bool operator==(const resubmit&) const = default;
};
/// Says that packets of the rule meet one clause of a conjunction (model/conjunction.h).
struct conjunction {
  std::uint32_t id = 0;
  std::uint8_t clause = 0;  // from 0
  std::uint8_t n_clauses = 2;
  bool operator==(const conjunction&) const = default;
};
/// Leaves a rule behind, made of what the packet has (model/learn.h).
struct learn {
  /// What one part of the rule is made of: bits of the packet as it is then, or a constant.
  struct part {
    enum class role : std::uint8_t { match, load, output };
    role what = role::match;
    std::optional<field_bits> from;  // none: `value`
    value128 value = 0;              // below 2^n_bits of `to`
    field_bits to;                   // of match and load; as many bits as `from` has

    bool operator==(const part&) const = default;
  };

  std::uint8_t table = 1;
  std::uint16_t priority = 0x8000;
  std::uint16_t idle_timeout_s = 0;  // 0: none
  std::uint16_t hard_timeout_s = 0;
  std::uint64_t cookie = 0;
  std::uint32_t limit = 0;  // rules of the cookie in the table, beyond which none is added; 0: none
  bool send_removed = false;  // of its rules, when they go
  bool takes_along = false;   // its rules go with the last rule that learns with this cookie
  std::vector<part> parts;

  bool operator==(const learn&) const = default;
};
/// To the port whose number stands there (port_of_bits).
struct output_bits {
  field_bits from;
  std::uint16_t max_len = controller_max_len_all;
  bool operator==(const output_bits&) const = default;
};
struct set_ip_ttl {
  std::uint8_t ttl = 0;
  bool operator==(const set_ip_ttl&) const = default;
};
struct dec_ip_ttl {
  bool operator==(const dec_ip_ttl&) const = default;
};
struct set_mpls_ttl {
  std::uint8_t ttl = 0;
  bool operator==(const set_mpls_ttl&) const = default;
};
struct dec_mpls_ttl {
  bool operator==(const dec_mpls_ttl&) const = default;
};
/// From the header below into the outermost MPLS entry.
struct copy_ttl_out {
  bool operator==(const copy_ttl_out&) const = default;
};
/// From the outermost MPLS entry into the header below.
struct copy_ttl_in {
  bool operator==(const copy_ttl_in&) const = default;
};

/// The whole field.
inline set_field set(field which, value128 value) { return {which, value, full_mask(which)}; }

}  // namespace act

using action =
    std::variant<act::output, act::group, act::set_queue, act::push_vlan, act::pop_vlan,
                 act::push_mpls, act::pop_mpls, act::set_field, act::set_ip_ttl, act::dec_ip_ttl,
                 act::set_mpls_ttl, act::dec_mpls_ttl, act::copy_ttl_out, act::copy_ttl_in,
                 act::move, act::output_bits, act::resubmit, act::conjunction, act::learn>;
using action_list = std::vector<action>;

/// The port that a number in a field means. From 0xff00 to 0xffff it is that of 16 bits which
/// OpenFlow 1.0 has for a reserved one. None: no packet can be sent there.
std::optional<port_no> port_of_bits(value128 number);

/// As ovs-ofctl writes them: "push_vlan:0x8100,set_field:4097->vlan_vid,output:2"; "drop" for an
/// empty list.
std::string to_string(const action& one);
std::string to_string(const action_list& list);

/// An action of the list sends to exactly this port, or to exactly this group.
bool outputs_to(const action_list& list, port_no port);
bool sends_to_group(const action_list& list, group_id group);

/// `overloaded{[](const act::output&) {...}, [](const auto&) {...}}` for std::visit.
template <class... Calls>
struct overloaded : Calls... {
  using Calls::operator()...;
};
template <class... Calls>
overloaded(Calls...) -> overloaded<Calls...>;

}  // namespace coua::pipeline
