// SPDX-License-Identifier: Apache-2.0
#include "ctl/ofp/said_match.h"

#include <array>
#include <span>

#include "ctl/ofp/field_convert.h"
#include "ctl/ofp/subfield_text.h"
#include "ctl/ofp/value_check.h"

namespace coua::ofp {
namespace {

/// Whether a packet that `all` takes is one that `one` takes, too.
bool covers(const ::match& one, const ::match& all) {
  for (std::size_t i = 0; i < n_flow_words; ++i) {
    const std::uint64_t mask = flow_word(one.wc.masks, i);
    if (mask == 0) continue;  // most are
    const std::uint64_t differing = flow_word(one.flow, i) ^ flow_word(all.flow, i);
    if ((mask & (differing | ~flow_word(all.wc.masks, i))) != 0) return false;
  }
  return true;
}

/// Names that stand for the same thing in several protocols.
struct shared_name {
  std::string_view name;
  std::array<mf_field_id, 5> fields;
  std::size_t n_fields;
};
constexpr std::array shared_names = std::to_array<shared_name>({
    {"nw_src", {MFF_IPV4_SRC, MFF_ARP_SPA}, 2},
    {"nw_dst", {MFF_IPV4_DST, MFF_ARP_TPA}, 2},
    {"nw_proto", {MFF_IP_PROTO, MFF_ARP_OP}, 2},
    {"ip_src", {MFF_IPV4_SRC, MFF_ARP_SPA}, 2},
    {"ip_dst", {MFF_IPV4_DST, MFF_ARP_TPA}, 2},
    {"ip_proto", {MFF_IP_PROTO, MFF_ARP_OP}, 2},
    {"tp_src", {MFF_TCP_SRC, MFF_UDP_SRC, MFF_SCTP_SRC, MFF_ICMPV4_TYPE, MFF_ICMPV6_TYPE}, 5},
    {"tp_dst", {MFF_TCP_DST, MFF_UDP_DST, MFF_SCTP_DST, MFF_ICMPV4_CODE, MFF_ICMPV6_CODE}, 5},
    {"icmp_type", {MFF_ICMPV4_TYPE, MFF_ICMPV6_TYPE}, 2},
    {"icmp_code", {MFF_ICMPV4_CODE, MFF_ICMPV6_CODE}, 2},
});

std::span<const mf_field_id> fields_of(std::string_view name, const mf_field& of) {
  for (const shared_name& one : shared_names)
    if (one.name == name) return std::span(one.fields).first(one.n_fields);
  return {&of.id, 1};
}

bool has_one(const ::match& made, std::span<const mf_field_id> fields) {
  for (const mf_field_id id : fields)
    if (mf_are_match_prereqs_ok(mf_from_id(id), &made)) return true;
  return false;
}

result<void> check_prerequisite(std::string_view name, const mf_field& of, const ::match& made) {
  const std::span<const mf_field_id> fields = fields_of(name, of);
  if (!from_ovs_field(of.id) || has_one(made, fields)) return {};
  ::match whole = made;  // as if it were no fragment
  whole.flow.nw_frag = 0;
  if (has_one(whole, fields)) {
    return fail(errc::invalid, std::string(name), "a later fragment does not have it");
  }
  std::string needed;
  for (const mf_field_id id : fields) {
    const auto ours = from_ovs_field(id);
    if (ours) needed += (needed.empty() ? "" : " or ") + std::string(to_string(info(*ours).needs));
  }
  return fail(errc::invalid, std::string(name),
              "the match must also say that the packet is, or has, " + needed);
}

/// "reg0[4..7]=5"
void set_bits(const char* name, const char* value, ::match& alone) {
  mf_subfield bits;
  const auto number = read_number(value);
  if (!number || !coua_read_subfield(name, &bits)) return;
  mf_subvalue wanted = {};
  wanted.be128_int.be64.hi = htobe64(static_cast<std::uint64_t>(*number >> 64));
  wanted.be128_int.be64.lo = htobe64(static_cast<std::uint64_t>(*number));
  mf_write_subfield(&bits, &wanted, &alone);
}

/// The match of the word alone; of one that is no part of a match, that of any packet.
::match read_word(const char* name, const char* value, const mf_field* of,
                  const ovs_port_map& map) {
  ::match alone;
  match_init_catchall(&alone);
  const ofp_protocol* protocol;
  if (of != nullptr) {
    ofputil_protocol usable;
    const ovs_error_text wrong(ofp_parse_field(of, value, map.get(), &alone, &usable));
  } else if (ofp_parse_protocol(name, &protocol)) {
    match_set_dl_type(&alone, htons(protocol->dl_type));
    if (protocol->nw_proto != 0) match_set_nw_proto(&alone, protocol->nw_proto);
  } else if (std::string_view(name).find('[') != std::string_view::npos) {
    set_bits(name, value, alone);
  }
  return alone;
}

}  // namespace

result<void> check_said(std::string text, const ovs_port_map& map, const ::match& made) {
  char* rest = text.data();
  char *name, *value;
  while (ofputil_parse_key_value(&rest, &name, &value)) {
    const mf_field* of = mf_from_name(name);
    const ::match alone = read_word(name, value, of, map);
    if (!covers(alone, made)) {
      const std::string word = std::string(name) + (*value == '\0' ? "" : "=") + value;
      return fail(errc::invalid, word, "what comes later says something else");
    }
    // Of any value, which needs nothing.
    if (of == nullptr || mf_is_all_wild(of, &alone.wc)) continue;
    if (auto good = check_prerequisite(name, *of, made); !good) return good;
  }
  return {};
}

}  // namespace coua::ofp
